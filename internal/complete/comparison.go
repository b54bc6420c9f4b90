package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skink/dedup"
	"skink/internal/lastused"
	"skink/store"
)

// cacheBytes bounds the shingles held in memory: 64 MiB are some 8,000 pages of a thousand words.
const cacheBytes = 64 << 20

// A comparison finds the texts of a whole that resemble each other. A join of their shingles names
// candidates, and each pair of candidates is compared exactly. One goroutine uses it.
type comparison struct {
	w     *Whole
	join  *dedup.Join // of the likely part of each text
	mixed *dedup.Join // see joinMixed; nil: there is no such pair
	sets  *lastused.Cache[part, dedup.Set]
	canon dedup.Text
}

// A part of a text is all of it, or what is left of it.
type part struct {
	page dedup.Hash // with the text
	left bool       // without what hosts repeat
}

// newComparison makes a comparison of whole texts, for the pairs of a resemblance or above it.
func newComparison(ctx context.Context, w *Whole, least float64) (*comparison, error) {
	c := &comparison{w: w, sets: lastused.New[part](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })}
	return c, c.index(ctx, least)
}

// index makes the join. Each text is read twice: first to count how rare its shingles are, and then
// to post it under the rarest.
func (c *comparison) index(ctx context.Context, least float64) error {
	c.join = nil // make room for the new one
	order := c.count(c.short())
	if err := c.long(ctx, func(_ int, s dedup.Set) { order.Count(s) }); err != nil {
		return err
	}
	return c.post(ctx, order, least)
}

// count makes a table for the shingles of the texts that are not skipped.
func (c *comparison) count(skip []bool) *dedup.Occurrences {
	words := 0
	for i := range c.w.texts {
		if !skip[i] {
			words += c.w.texts[i].pages[0].words
		}
	}
	return dedup.NewOccurrences(words)
}

// post makes the join of texts whose shingles were counted.
func (c *comparison) post(ctx context.Context, order *dedup.Occurrences, least float64) error {
	c.join = dedup.NewJoin(least, len(c.w.texts), order)
	return c.long(ctx, c.join.Add)
}

// long takes the shingles by which each text is found that is long enough to compare, in any order.
func (c *comparison) long(ctx context.Context, take func(int, dedup.Set)) error {
	return c.take(ctx, c.short(), (*text).likely, c.w.counted(take))
}

// take takes the shingles of a part of each text that is not done, in any order: first those that
// are held. done says at the end that all are.
func (c *comparison) take(ctx context.Context, done []bool, partOf func(*text) part, take func(int, dedup.Set)) error {
	for i := range c.w.texts {
		if done[i] {
			continue
		}
		if s, ok := c.sets.Get(partOf(&c.w.texts[i])); ok {
			done[i] = true
			take(i, s)
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	shingles := func(canon *dedup.Text, t *text, words string) dedup.Set {
		return c.w.shinglesOf(canon, t, words, partOf(t).left)
	}
	return c.w.readAll(ctx, done, shingles, func(i int, s dedup.Set) {
		c.sets.Put(partOf(&c.w.texts[i]), s)
		take(i, s)
	})
}

// short says which texts are not compared.
func (c *comparison) short() []bool {
	short := make([]bool, len(c.w.texts))
	for i := range short {
		short[i] = c.w.texts[i].short
	}
	return short
}

// likely is the part by which a text finds others that are like it.
func (t *text) likely() part { return part{t.pages[0].id, t.shorter} }

// all is the whole text.
func (t *text) all() part { return part{t.pages[0].id, false} }

// shinglesOf are those of a text or of what is left of it.
func (w *Whole) shinglesOf(canon *dedup.Text, t *text, words string, left bool) dedup.Set {
	page := &t.pages[0]
	if left {
		words, _ = w.without(canon, words, page.lang)
	}
	w.rule.Read(canon, words, page.lang)
	return dedup.NewSet(w.rule.Shingles(canon))
}

// alike yields the texts after i that resemble it as much as both are looked for from. It answers
// the question of [dedup.Clusters].
func (c *comparison) alike(ctx context.Context, i int, from []float64, yield func(other int, resemblance float64)) (err error) {
	try := func(other int) bool {
		var got float64
		if got, err = c.resemblance(ctx, i, other); err == nil && got >= max(from[i], from[other]) {
			yield(other, got)
		}
		return err == nil
	}
	c.join.After(i, from, func(other int) bool { return c.isMixed(i, other) || try(other) })
	if err == nil && c.mixed != nil {
		c.mixed.After(i, from, func(other int) bool { return !c.isMixed(i, other) || try(other) })
	}
	if err != nil {
		return err
	}
	return ctx.Err()
}

// isMixed says whether one of two texts was shortened, and the other has too little of its own.
func (c *comparison) isMixed(a, b int) bool {
	x, y := &c.w.texts[a], &c.w.texts[b]
	return x.shorter && y.bare || x.bare && y.shorter
}

// resemblance is the exact resemblance of two texts without what hosts repeat, or of the whole texts
// if too little is left of one, see boilerplate.go.
func (c *comparison) resemblance(ctx context.Context, a, b int) (float64, error) {
	c.w.compared++
	return c.between(ctx, a, b, !c.isMixed(a, b))
}

// loses says whether words would be lost if a text were dropped for another.
func (c *comparison) loses(ctx context.Context, text, kept int) (bool, error) {
	if c.w.rule.Contained == 0 {
		return false, nil
	}
	a, err := c.w.textOf(ctx, &c.w.texts[text].pages[0])
	if err != nil {
		return false, err
	}
	b, err := c.w.textOf(ctx, &c.w.texts[kept].pages[0])
	return c.w.rule.Loses(a, b), err
}

// between is the resemblance of two whole texts, or of what is left of them.
func (c *comparison) between(ctx context.Context, a, b int, left bool) (float64, error) {
	x, err := c.set(ctx, &c.w.texts[a], left)
	if err != nil {
		return 0, err
	}
	y, err := c.set(ctx, &c.w.texts[b], left)
	if err != nil {
		return 0, err
	}
	return dedup.Resemblance(x, y), nil
}

// set is the shingles of a whole text, or of what is left of it.
func (c *comparison) set(ctx context.Context, t *text, left bool) (dedup.Set, error) {
	key := part{t.pages[0].id, left && t.shorter}
	if s, ok := c.sets.Get(key); ok {
		return s, nil
	}
	words, err := c.w.textOf(ctx, &t.pages[0])
	if err != nil {
		return nil, err
	}
	s := c.w.shinglesOf(&c.canon, t, words, key.left)
	c.sets.Put(key, s)
	return s, nil
}

// textOf is the text of a page that was there when the whole was read. One that was visited or judged
// again since, and has no text now, has no words.
func (w *Whole) textOf(ctx context.Context, page *ranked) (string, error) {
	pages, err := w.Reader.Pages(ctx, []dedup.Hash{page.id}, store.WantText)
	if err != nil {
		return "", err
	}
	switch now := pages[0]; {
	case now != nil && now.Kept:
		return now.Text, nil
	case now == nil || now.Record.Hash != page.hash || now.Record.NoText:
		return "", nil
	}
	return "", fmt.Errorf("the text of %s is gone: %w", page.URL, store.ErrCorrupt)
}

// without is a text without the blocks that hosts repeat, and whether it lost any.
func (w *Whole) without(canon *dedup.Text, text, lang string) (left string, shorter bool) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if number, ok := w.rule.Block(canon, line, lang); ok && w.repeated[number] {
			shorter = true
			continue
		}
		b.WriteString(line)
	}
	if !shorter {
		return text, false
	}
	return b.String(), true
}

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
	least float64 // resemblance of the pairs that it finds
	join  *dedup.Join
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
	order := c.count()
	if err := c.long(ctx, func(_ int, s dedup.Set) { order.Count(s) }); err != nil {
		return err
	}
	return c.post(ctx, order, least)
}

// count makes a table for the shingles of all texts. The join before goes.
func (c *comparison) count() *dedup.Occurrences {
	c.join = nil
	words := 0
	for i := range c.w.texts {
		words += c.w.texts[i].pages[0].words
	}
	return dedup.NewOccurrences(words)
}

// post makes the join of texts whose shingles were counted.
func (c *comparison) post(ctx context.Context, order *dedup.Occurrences, least float64) error {
	c.least = least
	c.join = dedup.NewJoin(least, len(c.w.texts), order)
	return c.long(ctx, c.join.Add)
}

// long takes the shingles by which each text is found that is long enough to compare, in any order:
// first those that are held.
func (c *comparison) long(ctx context.Context, take func(int, dedup.Set)) error {
	take, done := c.w.counted(take), c.short()
	for i := range c.w.texts {
		if done[i] {
			continue
		}
		if s, ok := c.sets.Get(c.w.texts[i].likely()); ok {
			done[i] = true
			take(i, s)
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	return c.w.readAll(ctx, done, c.w.shingles, func(i int, s dedup.Set) {
		c.sets.Put(c.w.texts[i].likely(), s)
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

// likely is the part by which a text finds others that are like it: what is left of it, or all if
// nothing is left. A pair that is similar enough by [comparison.resemblance] is so by these, too.
func (t *text) likely() part { return part{t.pages[0].id, t.shorter && t.words > 0} }

// shingles are those of the likely part of a text.
func (w *Whole) shingles(canon *dedup.Text, t *text, words string) dedup.Set {
	return w.shinglesOf(canon, t, words, t.likely().left)
}

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
	c.join.After(i, from, func(other int) bool {
		var got float64
		if got, err = c.resemblance(ctx, i, other); err == nil && got >= max(from[i], from[other]) {
			yield(other, got)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return ctx.Err()
}

// resemblance is the exact resemblance of two texts without what hosts repeat. boilerplate.go says
// how, and why.
func (c *comparison) resemblance(ctx context.Context, a, b int) (float64, error) {
	c.w.compared++
	x, y := &c.w.texts[a], &c.w.texts[b]
	if x.words == 0 && y.words == 0 || !x.shorter && !y.shorter {
		return c.between(ctx, a, b, false)
	}
	left, err := c.between(ctx, a, b, true)
	if err != nil || left < c.least || !c.w.rule.Short(x.words) && !c.w.rule.Short(y.words) {
		return left, err
	}
	whole, err := c.between(ctx, a, b, false)
	return min(left, whole), err
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
	return "", fmt.Errorf("the text of %s is gone: %w", page.url, store.ErrCorrupt)
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

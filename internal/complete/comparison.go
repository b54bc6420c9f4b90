package complete

import (
	"context"
	"fmt"
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
	join  *dedup.Join
	sets  *lastused.Cache[part, dedup.Set]
	canon dedup.Text
}

// A part of a text is all of it, or what is left of it.
type part struct {
	page dedup.Hash // with the text
	left bool       // without what hosts repeat
}

// newComparison makes a comparison of whole texts.
func newComparison(ctx context.Context, w *Whole) (*comparison, error) {
	c := &comparison{w: w, sets: lastused.New[part](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })}
	return c, c.index(ctx, c.whole)
}

// index makes the join. Each text is read twice: first, by read, to count how rare its shingles
// are, and then to post it under the rarest.
func (c *comparison) index(ctx context.Context, read func(context.Context, *text) (dedup.Set, error)) error {
	c.join = nil // before there is another
	words := 0
	for i := range c.w.texts {
		words += c.w.texts[i].pages[0].words
	}
	order := dedup.NewOccurrences(words)
	if err := c.long(ctx, read, order.Count, func() {}); err != nil {
		return err
	}
	c.join = dedup.NewJoin(c.w.rule.Similarity, order)
	return c.long(ctx, c.likely, c.join.Add, func() { c.join.Add(nil) })
}

// long takes the shingles of each text that is long enough to compare, and passes over the others.
func (c *comparison) long(ctx context.Context, read func(context.Context, *text) (dedup.Set, error), take func(dedup.Set), pass func()) error {
	for i := range c.w.texts {
		t := &c.w.texts[i]
		if t.short {
			pass()
			continue
		}
		s, err := read(ctx, t)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		take(s)
	}
	return nil
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
	if err != nil || left < c.w.rule.Similarity || !c.w.rule.Short(x.words) && !c.w.rule.Short(y.words) {
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

// whole is the shingles of all of a text.
func (c *comparison) whole(ctx context.Context, t *text) (dedup.Set, error) {
	return c.set(ctx, t, false)
}

// likely is the shingles by which a text finds others that are like it: of what is left of it, or
// of all if nothing is left. A pair that is similar enough by [comparison.resemblance] is so by
// these shingles, too.
func (c *comparison) likely(ctx context.Context, t *text) (dedup.Set, error) {
	return c.set(ctx, t, t.words > 0)
}

// set is the shingles of a whole text, or of what is left of it.
func (c *comparison) set(ctx context.Context, t *text, left bool) (dedup.Set, error) {
	key := part{t.pages[0].id, left && t.shorter}
	if s, ok := c.sets.Get(key); ok {
		return s, nil
	}
	page := &t.pages[0]
	text, err := c.w.textOf(ctx, page)
	if err != nil {
		return nil, err
	}
	if key.left {
		text, _ = c.w.without(&c.canon, text, page.lang)
	}
	c.w.rule.Read(&c.canon, text, page.lang)
	s := dedup.NewSet(c.w.rule.Shingles(&c.canon))
	c.sets.Put(key, s)
	return s, nil
}

// textOf is the text of a page that was there when the whole was read.
func (w *Whole) textOf(ctx context.Context, page *ranked) (string, error) {
	pages, err := w.Reader.Pages(ctx, []dedup.Hash{page.id}, store.WantText)
	if err == nil && (pages[0] == nil || !pages[0].Kept) {
		err = fmt.Errorf("the text of %s is gone: %w", page.url, store.ErrCorrupt)
	}
	if err != nil {
		return "", err
	}
	return pages[0].Text, nil
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

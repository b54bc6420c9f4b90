package complete

import (
	"context"
	"fmt"
	"strings"

	"skink/dedup"
	"skink/internal/lastused"
	"skink/store"
)

// cacheBytes bounds the shingles held in memory: 64 MiB are some 8,000 pages of a
// thousand words.
const cacheBytes = 64 << 20

// A comparison finds the texts of a whole that resemble each other. It is for one
// goroutine.
type comparison struct {
	w       *Whole
	bands   dedup.Scheme
	least   float64       // estimate from which two texts are worth an exact comparison
	indexes []sketchIndex // where candidates are looked for
	round   int           // counts the texts that were compared with others
	met     []int         // by place of a text: the last round in which it was compared
	sets    *lastused.Cache[part, dedup.Set]
	canon   dedup.Text
}

// A sketchIndex is some sketches of a whole's texts, by place.
type sketchIndex struct {
	sketches []dedup.Sketch
	in       []bool // whether a text is in the index
	bands    *dedup.BandIndex
}

// A part of a text is all of it, or what is left of it.
type part struct {
	num  uint64 // of a page with the text
	left bool   // without what hosts repeat
}

func newComparison(w *Whole) (*comparison, error) {
	bands, err := dedup.AllPairs(w.rule.Similarity)
	if err != nil {
		return nil, err
	}
	c := &comparison{
		w: w, bands: bands, least: w.rule.Similarity - 4*dedup.StandardError(w.rule.Similarity), met: make([]int, len(w.texts)),
		sets: lastused.New[part](cacheBytes, func(s dedup.Set) int { return 8 * len(s) }),
	}
	c.indexes = []sketchIndex{c.index(w.sketches, w.long())}
	return c, nil
}

// index indexes the sketches at some places.
func (c *comparison) index(sketches []dedup.Sketch, places []int32) sketchIndex {
	in := make([]bool, len(sketches))
	for _, i := range places {
		in[i] = true
	}
	return sketchIndex{sketches, in, dedup.NewBandIndex(c.bands, sketches, places)}
}

// alike yields the texts after i, but for those taken, that resemble it enough: it
// is the question of [dedup.Clusters].
func (c *comparison) alike(ctx context.Context, i int, taken []bool, yield func(other int, resemblance float64)) (err error) {
	c.round++
	for _, x := range c.indexes {
		if !x.in[i] {
			continue
		}
		x.bands.After(i, func(other int) bool {
			if taken[other] || c.met[other] == c.round || dedup.Estimate(&x.sketches[i], &x.sketches[other]) < c.least {
				return true
			}
			c.met[other] = c.round
			var got float64
			if got, err = c.resemblance(ctx, i, other); err == nil && got >= c.w.rule.Similarity {
				yield(other, got)
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// resemblance is that of two texts, exact, without what hosts repeat. boilerplate.go
// says how, and why.
func (c *comparison) resemblance(ctx context.Context, a, b int) (float64, error) {
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

// between is the resemblance of two texts, of all or of what is left of them.
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

// set is the shingles of a text.
func (c *comparison) set(ctx context.Context, t *text, left bool) (dedup.Set, error) {
	key := part{t.pages[0].num, left && t.shorter}
	if s, ok := c.sets.Get(key); ok {
		return s, nil
	}
	text, lang, err := c.w.textOf(ctx, &t.pages[0])
	if err != nil {
		return nil, err
	}
	if key.left {
		text, _ = c.w.without(&c.canon, text, lang)
	}
	c.w.rule.Read(&c.canon, text, lang)
	s := dedup.NewSet(c.w.rule.Shingles(&c.canon))
	c.sets.Put(key, s)
	return s, nil
}

// textOf is the text of a page that was there when the whole was read.
func (w *Whole) textOf(ctx context.Context, page *ranked) (text, lang string, err error) {
	r, err := w.Reader.RecordAt(ctx, page.num)
	if err != nil {
		return "", "", err
	}
	text, ok, err := w.Reader.Text(ctx, page.num)
	if err == nil && (!ok || r == nil) {
		err = fmt.Errorf("the text of %s is gone: %w", page.url, store.ErrCorrupt)
	}
	if err != nil {
		return "", "", err
	}
	return text, r.Lang, nil
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

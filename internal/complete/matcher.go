package complete

import (
	"context"
	"slices"
	"strings"

	"skink/base/lru"
	"skink/dedup"
)

// cacheBytes bounds the memory for cached shingles. 32 MiB is enough for about 4,000 pages of a
// thousand words.
const cacheBytes = 32 << 20

// A matcher finds the texts of a store that resemble each other. A join of their shingles finds
// candidate pairs, and each pair is compared exactly. Only one goroutine may use a matcher.
type matcher struct {
	w     *Whole
	join  *dedup.Join // join of the texts without repeated blocks
	mixed *dedup.Join // join of whole texts; see joinMixed; nil if no pair needs it
	sets  *lru.Cache[setKey, dedup.Set]
	canon dedup.Text
}

// A setKey is the key of cached shingles: a text, either whole or without the blocks that hosts
// repeat.
type setKey struct {
	text int32 // index in Whole.texts
	left bool  // whether the blocks that are repeated on many pages of a host are left out
}

// newMatcher returns a matcher that compares whole texts. The argument least is the minimum
// resemblance of the pairs to find.
func newMatcher(ctx context.Context, w *Whole, least float64) (*matcher, error) {
	c := &matcher{w: w, sets: lru.New[setKey](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })}
	return c, c.index(ctx, least)
}

// index builds the join. It reads each text twice, first to count how rare its shingles are, and
// then to index it under the rarest.
func (c *matcher) index(ctx context.Context, least float64) error {
	c.join = nil // free the old join first, to save memory
	order := dedup.NewOccurrences(c.w.words)
	if err := c.long(ctx, func(_ int, s dedup.Set) { order.Count(s) }); err != nil {
		return err
	}
	return c.post(ctx, order, least)
}

// post builds the join of all texts that are long enough to compare. The argument order contains
// the frequencies of their shingles.
func (c *matcher) post(ctx context.Context, order *dedup.Occurrences, least float64) error {
	c.join = dedup.NewJoin(least, len(c.w.texts), order)
	return c.long(ctx, c.join.Add)
}

// long calls take with the index and the shingles of each text that is long enough to compare. The
// shingles are those of the shortened text, or of the whole text if it was not shortened. The order
// of the texts is arbitrary.
func (c *matcher) long(ctx context.Context, take func(int, dedup.Set)) error {
	return c.take(ctx, c.w.short(), c.likely, c.w.counted(take))
}

// take calls yield with the index and the shingles of each text for which done is false, and then
// sets done to true for all texts. The function partOf chooses between the shingles of the whole
// text and those of the shortened text. Texts whose shingles are in memory come first, in no
// particular order.
func (c *matcher) take(ctx context.Context, done []bool, partOf func(int) setKey, yield func(int, dedup.Set)) error {
	for i := range c.w.texts {
		if done[i] {
			continue
		}
		if s, ok := c.sets.Get(partOf(i)); ok {
			done[i] = true
			yield(i, s)
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	shingles := func(canon *dedup.Text, i int, p wording) dedup.Set {
		return c.w.shinglesOf(canon, p, partOf(i).left)
	}
	return c.w.readAll(ctx, done, shingles, func(i int, s dedup.Set) {
		c.sets.Put(partOf(i), s)
		yield(i, s)
	})
}

// short returns which texts are too short to compare.
func (w *Whole) short() []bool {
	short := make([]bool, len(w.texts))
	for i := range short {
		short[i] = w.texts[i].short
	}
	return short
}

// likely returns the key of the shingles that find most of the texts similar to text i. They are
// those of the shortened text, or of the whole text if it was not shortened.
func (c *matcher) likely(i int) setKey { return setKey{int32(i), c.w.texts[i].shorter} }

func all(i int) setKey { return setKey{int32(i), false} }

// shinglesOf returns the shingles of a text. If left is true, it first removes the blocks that
// are repeated on many pages of a host.
func (w *Whole) shinglesOf(canon *dedup.Text, p wording, left bool) dedup.Set {
	if left {
		p.text = strings.Join(w.parts(canon, p), "")
	}
	w.rule.Read(canon, p.text, p.lang)
	return w.rule.Set(canon)
}

// alike yields the texts after text i that resemble it enough: at least from[i] and at least
// from[other]. [dedup.Clusters] calls it.
func (c *matcher) alike(ctx context.Context, i int, from []float64, yield func(other int, resemblance float64)) (err error) {
	try := func(other int) bool {
		got, ok, failed := c.resembles(ctx, i, other, max(from[i], from[other]))
		if err = failed; ok {
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

// isMixed reports whether one of two texts was shortened, and the other has too few words left
// without its repeated blocks.
func (c *matcher) isMixed(a, b int) bool {
	x, y := &c.w.texts[a], &c.w.texts[b]
	return x.shorter && y.bare || x.bare && y.shorter
}

// resembles returns the exact resemblance of the texts a and b without the blocks that hosts
// repeat. If only one of them can be shortened, it compares the whole texts; see boilerplate.go.
// The result ok is false if the resemblance is less than t.
func (c *matcher) resembles(ctx context.Context, a, b int, t float64) (resemblance float64, ok bool, err error) {
	c.w.compared++
	left := !c.isMixed(a, b)
	x, err := c.set(ctx, a, left)
	if err != nil {
		return 0, false, err
	}
	y, err := c.set(ctx, b, left)
	if err != nil {
		return 0, false, err
	}
	resemblance, ok = dedup.Resembles(x, y, t)
	return resemblance, ok, nil
}

// set returns the shingles of a text. If left is true and the text was shortened, they are those of
// the shortened text.
func (c *matcher) set(ctx context.Context, i int, left bool) (dedup.Set, error) {
	key := setKey{int32(i), left && c.w.texts[i].shorter}
	if s, ok := c.sets.Get(key); ok {
		return s, nil
	}
	p, err := c.w.read(ctx, c.w.pages.first[i])
	if err != nil {
		return nil, err
	}
	s := c.w.shinglesOf(&c.canon, p, key.left)
	c.sets.Put(key, s)
	return s, nil
}

// parts returns the parts of a text before, between and after the blocks that are repeated on many
// pages of a host.
func (w *Whole) parts(canon *dedup.Text, p wording) (parts []string) {
	begin, end := 0, 0
	for line := range strings.Lines(p.text) {
		if number, ok := w.rule.Block(canon, line, p.lang); ok && w.repeated[number] {
			if begin < end {
				parts = append(parts, p.text[begin:end])
			}
			begin = end + len(line)
		}
		end += len(line)
	}
	if begin < end {
		parts = append(parts, p.text[begin:])
	}
	return parts
}

package complete

import (
	"cmp"
	"context"
	"errors"
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
	w       *Whole
	least   float64 // minimum resemblance of the pairs to find
	entries *sorter // entries of the join: of the texts without repeated blocks, and those of joinMixed
	sets    *setCache
	canon   dedup.Text
}

// A setKey is the key of cached shingles: a text, either whole or without the blocks that hosts
// repeat.
type setKey struct {
	text int32 // index in Whole.texts
	left bool  // whether the blocks that are repeated on many pages of a host are left out
}

func newMatcher(w *Whole) *matcher {
	return &matcher{w: w, entries: &sorter{}, sets: newSetCache(cacheBytes)}
}

// whole finds the clusters of the whole texts. It reads each text twice, first to count how rare its
// shingles are, and then to index it under the rarest.
func (c *matcher) whole(ctx context.Context, similarities []float64) (*dedup.Taken, error) {
	return c.cluster(ctx, similarities, c.index)
}

func (c *matcher) shortened(ctx context.Context, similarities []float64) (*dedup.Taken, error) {
	return c.cluster(ctx, similarities, c.shorten)
}

// cluster finds the clusters at the given similarities. The function index makes the entries of the
// join for the lowest of them.
func (c *matcher) cluster(ctx context.Context, similarities []float64, index func(context.Context) error) (*dedup.Taken, error) {
	found, next, err := c.w.resume(ctx, similarities)
	if err != nil {
		return nil, err
	}
	c.least = similarities[0]
	if err := index(ctx); err != nil {
		return nil, err
	}
	take := func(a, b int32, resemblance float64) error {
		found.Take(a, b, resemblance)
		return nil
	}
	err = c.join(ctx, next, found.From, take, func(next int32) { c.w.remember(ctx, found, next) })
	found.Sort()
	return found, err
}

// index makes the entries of whole texts.
func (c *matcher) index(ctx context.Context) error {
	order := c.w.occurrences(c.w.words)
	if err := c.long(ctx, counting(order)); err != nil {
		return err
	}
	return c.post(ctx, order)
}

// counting returns a function that counts the shingles of a text.
func counting(order *dedup.Occurrences) func(int, dedup.Set) error {
	return func(_ int, s dedup.Set) error {
		order.Count(s)
		return nil
	}
}

// post makes the entries of all texts that are long enough to compare. The argument order contains
// the frequencies of their shingles.
func (c *matcher) post(ctx context.Context, order *dedup.Occurrences) error {
	if err := c.entries.close(); err != nil {
		return err
	}
	c.entries = &sorter{}
	return c.long(ctx, c.enter(order, false))
}

// enter returns a function that adds the entry of a text. The argument some is that of
// [dedup.Occurrences.Entry].
func (c *matcher) enter(order *dedup.Occurrences, some bool) func(int, dedup.Set) error {
	return func(i int, s dedup.Set) error {
		e, ok := order.Entry(c.least, int32(i), some, s)
		if !ok {
			return nil
		}
		return c.entries.add(e.AppendRow(nil))
	}
}

// long calls take with the index and the shingles of each text that is long enough to compare. The
// shingles are those of the shortened text, or of the whole text if it was not shortened. The order
// of the texts is arbitrary.
func (c *matcher) long(ctx context.Context, take func(int, dedup.Set) error) error {
	return c.take(ctx, c.w.short(), c.likely, c.w.counted(take))
}

// take calls yield with the index and the shingles of each text for which done is false, and then
// sets done to true for all texts. The function partOf chooses between the shingles of the whole
// text and those of the shortened text. Texts whose shingles are in memory come first, in no
// particular order.
func (c *matcher) take(ctx context.Context, done []bool, partOf func(int) setKey, yield func(int, dedup.Set) error) error {
	for i := range c.w.texts {
		if done[i] {
			continue
		}
		if s, ok := c.sets.Get(partOf(i)); ok {
			done[i] = true
			if err := yield(i, s); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	shingles := func(canon *dedup.Text, i int, p wording) dedup.Set {
		return c.w.shinglesOf(canon, p, partOf(i).left)
	}
	return c.w.readAll(ctx, done, shingles, func(i int, s dedup.Set) error {
		c.sets.Put(partOf(i), s)
		return yield(i, s)
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

// join calls take with each pair of texts whose resemblance is at least that which from returns for
// both of them, in the order of [dedup.Join]. It begins at the text next. After each round but the last
// it calls done with the text at which the next round begins.
func (c *matcher) join(ctx context.Context, next int32, from func(int32) float64, take func(a, b int32, resemblance float64) error, done func(next int32)) error {
	if err := c.sift(ctx, next); err != nil {
		return err
	}
	step, most := c.w.progress.next(len(c.w.texts)), 0
	j := dedup.Join{T: c.least, Memory: c.w.room(), From: from, Try: func(a, b int32, some bool) error {
		if c.isMixed(a, b) != some {
			return ctx.Err()
		}
		most = max(most, int(a))
		step(most)
		resemblance, ok, err := c.resembles(ctx, int(a), int(b), max(from(a), from(b)))
		if err != nil || !ok {
			return cmp.Or(err, ctx.Err())
		}
		return cmp.Or(take(a, b, resemblance), ctx.Err())
	}}
	for more := true; more; {
		var err error
		if next, more, err = j.Round(c.entries.from(ctx, next)); err != nil {
			return err
		}
		if more {
			done(next)
		}
	}
	step(len(c.w.texts))
	return nil
}

// sift leaves only those entries of the texts from next on that may be in a pair.
func (c *matcher) sift(ctx context.Context, next int32) error {
	all := c.entries
	c.entries = &sorter{}
	return errors.Join(dedup.Sift(all.size()/8, c.w.room(), all.from(ctx, next), c.entries.add), all.close())
}

// isMixed reports whether one of two texts was shortened, and the other has too few words left
// without its repeated blocks.
func (c *matcher) isMixed(a, b int32) bool {
	x, y := &c.w.texts[a], &c.w.texts[b]
	return x.shorter && y.bare || x.bare && y.shorter
}

// resembles returns the exact resemblance of the texts a and b without the blocks that hosts
// repeat. If only one of them can be shortened, it compares the whole texts; see boilerplate.go.
// The result ok is false if the resemblance is less than t.
func (c *matcher) resembles(ctx context.Context, a, b int, t float64) (resemblance float64, ok bool, err error) {
	c.w.compared++
	left := !c.isMixed(int32(a), int32(b))
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
	return c.w.cached(ctx, c.sets, key, func(p wording) dedup.Set { return c.w.shinglesOf(&c.canon, p, key.left) })
}

// A setCache keeps sets of shingles, runs or words.
type setCache = lru.Cache[setKey, dedup.Set]

func newSetCache(bytes int) *setCache {
	return lru.New[setKey](bytes, func(s dedup.Set) int { return 8 * len(s) })
}

// cached returns a set from a cache. If it is not there, cached makes it of the text, and keeps it.
func (w *Whole) cached(ctx context.Context, sets *setCache, key setKey, of func(wording) dedup.Set) (dedup.Set, error) {
	if s, ok := sets.Get(key); ok {
		return s, nil
	}
	p, err := w.read(ctx, w.pages.first[key.text])
	if err != nil {
		return nil, err
	}
	s := of(p)
	sets.Put(key, s)
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

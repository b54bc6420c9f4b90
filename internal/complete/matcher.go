package complete

import (
	"cmp"
	"context"
	"errors"
	"slices"

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
	entries *sorter // entries of the join
	sets    *setCache
	canon   dedup.Text
}

func newMatcher(w *Whole) *matcher {
	return &matcher{w: w, entries: &sorter{}, sets: newSetCache(cacheBytes)}
}

// find finds the clusters at the given similarities. It reads each text twice, first to count how rare its
// shingles are, and then to index it under the rarest.
func (c *matcher) find(ctx context.Context, similarities []float64) (*dedup.Taken, error) {
	found, next, err := c.w.resume(ctx, similarities)
	if err != nil {
		return nil, err
	}
	c.least = similarities[0]
	if err := c.index(ctx); err != nil {
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

// index makes the entries of the join for c.least.
func (c *matcher) index(ctx context.Context) error {
	order := dedup.NewOccurrences(c.w.words, c.w.room())
	if err := c.long(ctx, counting(order)); err != nil {
		return err
	}
	return c.long(ctx, func(i int, s dedup.Set) error {
		e, ok := order.Entry(c.least, int32(i), s)
		if !ok {
			return nil
		}
		return c.entries.add(e.AppendRow(nil))
	})
}

// counting returns a function that counts the shingles of a text.
func counting(order *dedup.Occurrences) func(int, dedup.Set) error {
	return func(_ int, s dedup.Set) error {
		order.Count(s)
		return nil
	}
}

// long calls take with the index and the shingles of each text that is long enough to compare. Texts whose
// shingles are in memory come first, in no particular order.
func (c *matcher) long(ctx context.Context, take func(int, dedup.Set) error) error {
	done, yield := slices.Clone(c.w.short), c.w.counted(take)
	for i := range done {
		if done[i] {
			continue
		}
		if s, ok := c.sets.Get(int32(i)); ok {
			done[i] = true
			if err := yield(i, s); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	return c.w.readAll(ctx, done, c.w.shinglesOf, func(i int, s dedup.Set) error {
		c.sets.Put(int32(i), s)
		return yield(i, s)
	})
}

func (w *Whole) shinglesOf(canon *dedup.Text, p wording) dedup.Set {
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
	step, most := c.w.progress.next(len(c.w.short)), 0
	j := dedup.Join{T: c.least, Memory: c.w.room(), From: from, Try: func(a, b int32) error {
		most = max(most, int(a))
		step(most)
		resemblance, ok, err := c.resembles(ctx, a, b, max(from(a), from(b)))
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
	step(len(c.w.short))
	return nil
}

// sift leaves only those entries of the texts from next on that may be in a pair.
func (c *matcher) sift(ctx context.Context, next int32) error {
	all := c.entries
	c.entries = &sorter{}
	return errors.Join(dedup.Sift(all.size()/8, c.w.room(), all.from(ctx, next), c.entries.add), all.close())
}

// resembles returns the exact resemblance of the texts a and b. The result ok is false if the
// resemblance is less than t.
func (c *matcher) resembles(ctx context.Context, a, b int32, t float64) (resemblance float64, ok bool, err error) {
	c.w.compared++
	x, err := c.set(ctx, a)
	if err != nil {
		return 0, false, err
	}
	y, err := c.set(ctx, b)
	if err != nil {
		return 0, false, err
	}
	resemblance, ok = dedup.Resembles(x, y, t)
	return resemblance, ok, nil
}

// set returns the shingles of a text.
func (c *matcher) set(ctx context.Context, i int32) (dedup.Set, error) {
	return c.w.cached(ctx, c.sets, i, func(p wording) dedup.Set { return c.w.shinglesOf(&c.canon, p) })
}

// A setCache keeps the shingles or runs of texts.
type setCache = lru.Cache[int32, dedup.Set]

func newSetCache(bytes int) *setCache {
	return lru.New[int32](bytes, func(s dedup.Set) int { return 8 * len(s) })
}

// cached returns a set from a cache. If it is not there, cached makes it of the text, and keeps it.
func (w *Whole) cached(ctx context.Context, sets *setCache, text int32, of func(wording) dedup.Set) (dedup.Set, error) {
	if s, ok := sets.Get(text); ok {
		return s, nil
	}
	p, err := w.read(ctx, w.pages.first[text])
	if err != nil {
		return nil, err
	}
	s := of(p)
	sets.Put(text, s)
	return s, nil
}

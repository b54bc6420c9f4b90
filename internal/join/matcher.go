// Package join finds the sets of shingles that resemble each other, among more sets than fit in memory.
// A [Matcher] runs a [Join] over sets that its caller can read: those of the texts of a store, or of the
// parts of texts in a temporary file. [Excerpts] finds what a text contains of others, and [Taken] are the
// clusters of both. A [Sorter] sorts what does not fit in memory.
package join

import (
	"cmp"
	"context"
	"errors"

	"skink/base/lru"
	"skink/dedup"
)

// A Source has the sets that a [Matcher] compares, numbered from 0.
type Source interface {
	// Each calls take with the number and the shingles of each set, in any order, one after the other.
	Each(ctx context.Context, take func(int32, dedup.Set) error) error
	// Set returns a set.
	Set(ctx context.Context, i int32) (dedup.Set, error)
}

// A Matcher finds the sets of a source that resemble each other. A join finds candidate pairs, and each
// pair is compared exactly. Only one goroutine may use a Matcher.
type Matcher struct {
	Source   Source
	Shingles int     // about the sum of the sizes of all sets
	Least    float64 // minimum resemblance of the pairs to find
	Room     int     // bytes that the tables of the join may take

	// From returns the lowest resemblance that matters for a set; see [Join].
	From func(int32) float64
	// Take is called with each pair of sets whose resemblance is at least that of From for both of them,
	// in the order of [Join].
	Take func(a, b int32, resemblance float64) error
	// Try is called before each pair of sets is compared. It may be nil.
	Try func(a int32)
	// Done is called after each round but the last, with the set at which the next round begins. It may
	// be nil.
	Done func(next int32)

	Bytes int // size of the entries that Run compared, on disk

	entries *Sorter
}

// Run finds all pairs whose first set is next or a later one. It reads each set twice, first to count how
// rare its shingles are, and then to index it under the rarest.
func (m *Matcher) Run(ctx context.Context, next int32) (err error) {
	m.entries = &Sorter{}
	defer func() { err = errors.Join(err, m.entries.Close()) }()
	if err := m.index(ctx); err != nil {
		return err
	}
	if err := m.sift(ctx, next); err != nil {
		return err
	}
	return m.join(ctx, next)
}

// index makes the entries of the join.
func (m *Matcher) index(ctx context.Context) error {
	order := NewOccurrences(m.Shingles, m.Room)
	err := m.Source.Each(ctx, func(_ int32, s dedup.Set) error {
		order.Count(s)
		return nil
	})
	if err != nil {
		return err
	}
	return m.Source.Each(ctx, func(i int32, s dedup.Set) error {
		e, ok := order.Entry(m.Least, i, s)
		if !ok {
			return nil
		}
		return m.entries.Add(e.AppendRow(nil))
	})
}

// sift leaves only those entries of the sets from next on that may be in a pair.
func (m *Matcher) sift(ctx context.Context, next int32) error {
	all := m.entries
	m.entries = &Sorter{}
	err := Sift(all.Size()/8, m.Room, all.From(ctx, next), m.entries.Add)
	m.Bytes = m.entries.Size()
	return errors.Join(err, all.Close())
}

func (m *Matcher) join(ctx context.Context, next int32) error {
	j := Join{T: m.Least, Memory: m.Room, From: m.From, Try: func(a, b int32) error {
		if m.Try != nil {
			m.Try(a)
		}
		x, err := m.Source.Set(ctx, a)
		if err != nil {
			return err
		}
		y, err := m.Source.Set(ctx, b)
		if err != nil {
			return err
		}
		if resemblance, ok := dedup.Resembles(x, y, max(m.From(a), m.From(b))); ok {
			err = m.Take(a, b, resemblance)
		}
		return cmp.Or(err, ctx.Err())
	}}
	for more := true; more; {
		var err error
		if next, more, err = j.Round(m.entries.From(ctx, next)); err != nil {
			return err
		}
		if more && m.Done != nil {
			m.Done(next)
		}
	}
	return nil
}

// A Cache keeps sets that were read. A set is read again if it was dropped from the cache.
type Cache = lru.Cache[int32, dedup.Set]

// cacheBytes bounds the memory for cached sets. 32 MiB is enough for about 4,000 pages of a thousand
// words.
const cacheBytes = 32 << 20

// NewCache returns an empty cache.
func NewCache() *Cache {
	return lru.New[int32](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })
}

// Room returns how many bytes the tables of a comparison may take, of the memory of a process. kept is
// for what the caller has of the sets. Some is for caches, and for garbage.
func Room(memory int64, kept int) int {
	all := int(memory)
	return max(all/5*4-kept-otherBytes, all/16, 1)
}

const otherBytes = 128 << 20

package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"skink/dedup"
	"skink/extract"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/internal/join"
)

// A Corpus has the shingles of the different texts of a corpus in memory: 8 bytes for each word.
type Corpus struct {
	Texts  int `json:"texts"`  // different texts that are compared
	Copies int `json:"copies"` // texts that are equal to earlier ones
	Thin   int `json:"thin"`   // texts with too few words to compare
	NoText int `json:"no_text"`

	sets     []dedup.Set
	shingles int // of all sets
	room     int // bytes for the tables of a join
}

// Read reads the texts of a corpus. bytes is the memory of the process, and Read fails if the texts need more than half of it.
// Bad and Passed of opt must not be nil, and its other fields are not used.
func Read(ctx context.Context, in *corpus.Inputs, rule dedup.Rule, bytes int64, opt ingest.FileOptions) (*Corpus, error) {
	c := &Corpus{room: join.Room(bytes/2, 0)}
	known := map[dedup.Hash]bool{}
	ask := extract.Options{SkipLang: true}
	err := ingest.EachRecord(ctx, in.Records(ctx), nil, bytes, func(ctx context.Context, r *corpus.Record) (func() error, error) {
		t, err := ingest.TextOf(ctx, r, ask)
		r.Drop()
		if passed, is := errors.AsType[*corpus.PassedError](err); is { // such an error is also a BadError
			return func() error { opt.Passed(passed.Kind); return nil }, nil
		}
		if bad, is := errors.AsType[*corpus.BadError](err); is {
			return func() error { return opt.Bad(bad) }, nil
		}
		if err != nil {
			return nil, err
		}
		if t.Doc == nil {
			return func() error { c.NoText++; return nil }, nil
		}
		var text dedup.Text
		text.ReadString(t.Doc.Text)
		if rule.Short(text.Len()) {
			return func() error { c.Thin++; return nil }, nil
		}
		hash, set := text.Hash(), rule.Set(&text)
		return func() error {
			if known[hash] {
				c.Copies++
				return nil
			}
			known[hash] = true
			return c.add(set, bytes)
		}, nil
	})
	return c, err
}

// add adds a set, unless all sets take more than half of the memory.
func (c *Corpus) add(s dedup.Set, bytes int64) error {
	c.Texts++
	c.shingles += len(s)
	if c.sets = append(c.sets, s); int64(8*c.shingles) > bytes/2 {
		return fmt.Errorf("the first %d texts already need half of the memory: use a sample of the corpus", c.Texts)
	}
	return nil
}

// Each implements [join.Source].
func (c *Corpus) Each(ctx context.Context, take func(int32, dedup.Set) error) error {
	for i, s := range c.sets {
		if err := cmp.Or(take(int32(i), s), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// Set implements [join.Source].
func (c *Corpus) Set(_ context.Context, i int32) (dedup.Set, error) { return c.sets[i], nil }

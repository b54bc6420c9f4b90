// Package decontaminate finds the records of a corpus that contain a part of a benchmark, such as a
// question of a test set. A model that was trained on such records may know the answers.
//
//	b, err := decontaminate.Read(ctx, inputs, decontaminate.DefaultRun)
//	s := &decontaminate.Screen{Benchmark: b, Action: decontaminate.Remove}
//	text, leaves, err := s.Record(ctx, record, extract.Options{})
package decontaminate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"skink/dedup"
	"skink/extract"
	"skink/internal/corpus"
)

// # Runs of a benchmark
//
// A record is contaminated if it has n consecutive words that an item of the benchmark also has in
// this order. The usual n is 13 (Brown et al., "Language Models are Few-Shot Learners", 2020,
// appendix C). Words are the tokens of package dedup, so case, punctuation and layout do not matter.
// An item with fewer than n words has no such run. If it has at least [shortest] words, which is the
// minimum in that paper, a record is contaminated if it has all words of the item in a row. Shorter
// items are not compared, because unrelated texts have them, too.
//
// The search is exact. An index has the hash of each run of the benchmark, sorted, with a table of
// where the hashes with the same upper bits begin. A record's runs are looked up by their rolling
// hashes. Then the words are compared, so two runs with the same hash are never confused. A short
// item stands under the hash of its first [shortest] words in an index of its own. So each text is
// hashed at most twice, whatever the lengths of the items are.
//
// Memory: 16 bytes for each run of the benchmark, 8 to 16 for the table, and the words themselves.
//
// Known weakness: a run that very many items have, such as an instruction, is compared with each of
// them in each record that has it.

const (
	// DefaultRun is the default number of words of a run.
	DefaultRun = 13
	shortest   = 8 // words of the shortest item that is compared if it is shorter than a run
)

// A Benchmark is an index of the runs of all items.
type Benchmark struct {
	run         int // number of words of a run
	items       []*Item
	long, short index
}

// An Item is a record of a benchmark.
type Item struct {
	ID      string
	Words   int
	Records atomic.Int64 // number of contaminated records

	canon string // see [dedup.Text.Bytes]; "" if the item is too short to be compared
}

// Outcome returns "found", "not found" or "too short".
func (i *Item) Outcome() string {
	switch {
	case i.canon == "":
		return "too short"
	case i.Records.Load() > 0:
		return "found"
	}
	return "not found"
}

// An index finds the places where runs begin.
type index struct {
	words  int // number of words that are hashed: those of a run, or [shortest] of them for a short item
	starts []start
	table  []uint32 // table[hash>>shift] is the index of the first start with these upper bits
	shift  int
}

type start struct {
	hash     uint64
	item, at uint32 // at is the position in the canonical text, in bytes
}

// Read reads the items of a benchmark, which are the records of the inputs. run is the number of
// words of a run. Read returns an error if a file or a record cannot be read, or if there is no item
// to compare.
func Read(ctx context.Context, in *corpus.Inputs, run int) (b *Benchmark, err error) {
	b = &Benchmark{run: run, long: index{words: run}, short: index{words: min(run, shortest)}}
	in.Unreadable = func(unread error) { err = cmp.Or(err, unread) }
	names := map[string]bool{}
	for r, unread := range in.Records(ctx) {
		if unread == nil {
			unread = b.add(ctx, r, names)
		}
		if err = cmp.Or(err, unread); err != nil {
			return nil, err
		}
	}
	if len(b.long.starts)+len(b.short.starts) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("the benchmark has no item with at least %d words", b.short.words))
	}
	b.long.sort()
	b.short.sort()
	return b, err
}

// add adds an item. names has the names of all items so far, because each file of a benchmark may
// number its items from 0. The name of a private item is left out, because public records get the names.
func (b *Benchmark) add(ctx context.Context, r *corpus.Record, names map[string]bool) error {
	t, err := r.Text(ctx, extract.Options{SkipLang: true})
	if _, passed := errors.AsType[*corpus.PassedError](err); passed || err == nil && t.Doc == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if t.Private {
		t.URL = fmt.Sprintf("private record %d", r.Num+1)
	}
	if names[t.URL] {
		t.URL = fmt.Sprintf("%s (%s)", t.URL, cmp.Or(r.Source(), r.Place()))
	}
	names[t.URL] = true
	var words dedup.Text
	words.Read([]byte(t.Doc.Text))
	i, number := &Item{ID: t.URL, Words: words.Len()}, uint32(len(b.items))
	b.items = append(b.items, i)
	to := &b.long
	if i.Words < b.run {
		to = &b.short
	}
	if i.Words < to.words {
		return nil
	}
	i.canon = string(words.Bytes())
	hashes, at := words.Shingles(nil, to.words), 0
	if i.Words < b.run {
		hashes = hashes[:1]
	}
	for k, hash := range hashes {
		to.starts = append(to.starts, start{hash, number, uint32(at)})
		at += len(words.Run(k, 1)) + 1
	}
	return nil
}

func (x *index) sort() {
	slices.SortFunc(x.starts, func(a, b start) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.item, b.item)) })
	width := bits.Len(uint(len(x.starts))) + 1 // at least half of the table is empty, so few lookups read starts
	x.shift, x.table = 64-width, make([]uint32, 1<<width+1)
	for _, s := range x.starts {
		x.table[s.hash>>x.shift+1]++
	}
	for i := 1; i < len(x.table); i++ {
		x.table[i] += x.table[i-1]
	}
}

// A finder searches one text at a time.
type finder struct {
	*Benchmark
	words  dedup.Text
	hashes []uint64
	seen   []uint32 // by item: the last search that found it
	search uint32

	items []uint32     // items that the text has a run of, in ascending order
	spans []dedup.Span // ranges of the text in bytes that have these runs, in order; they may overlap
}

// find sets items and spans to those of a text.
func (f *finder) find(text string) {
	f.items, f.spans = f.items[:0], f.spans[:0]
	f.search++
	f.words.ReadString(text)
	for _, x := range []*index{&f.long, &f.short} {
		if f.words.Len() < x.words || len(x.starts) == 0 {
			continue
		}
		f.hashes = f.words.Shingles(f.hashes[:0], x.words)
		for i, hash := range f.hashes {
			if from, to := x.table[hash>>x.shift], x.table[hash>>x.shift+1]; from < to {
				f.compare(i, hash, x.starts[from:to])
			}
		}
	}
	slices.Sort(f.items)
	slices.SortFunc(f.spans, func(a, b dedup.Span) int { return a.Start - b.Start })
}

// compare compares the words of the text from the i-th one on with those at the starts that have the
// same hash.
func (f *finder) compare(i int, hash uint64, starts []start) {
	longest := 0
	for _, s := range starts {
		if s.hash != hash {
			continue
		}
		item, seen := f.Benchmark.items[s.item], f.seen[s.item] == f.search
		n := min(f.run, item.Words)
		if seen && n <= longest || f.words.Len() < i+n {
			continue
		}
		rest, same := strings.CutPrefix(item.canon[s.at:], string(f.words.Run(i, n)))
		if !same || rest != "" && rest[0] != ' ' {
			continue
		}
		longest = max(longest, n)
		if !seen {
			f.seen[s.item] = f.search
			f.items = append(f.items, s.item)
		}
	}
	if longest > 0 {
		f.spans = append(f.spans, dedup.Span{Start: f.words.Span(i).Start, End: f.words.Span(i + longest - 1).End})
	}
}

// without returns a text without the spans.
func (f *finder) without(text string) string {
	var rest strings.Builder
	at := 0
	for _, s := range f.spans {
		rest.WriteString(text[at:max(at, s.Start)])
		at = max(at, s.End)
	}
	return rest.String() + text[at:]
}

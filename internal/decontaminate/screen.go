package decontaminate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"skink/base/harmless"
	"skink/dedup"
	"skink/extract"
	"skink/internal/corpus"
	"skink/report"
)

// An Action is what happens with a contaminated record.
type Action string

const (
	Remove Action = "remove" // the record leaves
	Cut    Action = "cut"    // the runs are cut out of the text; the record leaves if no word is left, or if its text cannot be cut
	Mark   Action = "mark"   // the record stays as it is
)

// Verdict is the verdict on a record that leaves.
const Verdict dedup.VerdictKind = "contaminated"

// A Screen looks for runs of a benchmark in the texts of records.
type Screen struct {
	*Benchmark
	Action Action
	Again  bool // whether the records were counted before

	finders         sync.Pool
	read, hit, left atomic.Int64 // numbers of records: read, contaminated, and removed
}

// Record gives a record the ids of the items that its text has runs of, and may cut them out of r and t. It
// returns [Verdict] if the record leaves. Record may be called concurrently. ask are the options for t.
func (s *Screen) Record(ctx context.Context, r *corpus.Record, ask extract.Options, t *corpus.Text) (leaves dedup.VerdictKind, err error) {
	f, ok := s.finders.Get().(*finder)
	if !ok {
		f = &finder{Benchmark: s.Benchmark, seen: make([]uint32, len(s.items))}
		f.words.Locate()
	}
	defer s.finders.Put(f)
	items, left, err := f.screen(ctx, s.Action, r, ask, t)
	slices.Sort(items)
	items = slices.Compact(items)
	for _, i := range items {
		r.Contaminated = append(r.Contaminated, s.items[i].ID)
	}
	if left {
		leaves = Verdict
	}
	if err == nil && t.Doc != nil && !s.Again {
		s.count(items, left)
	}
	return leaves, err
}

// screen returns the items that the text of a record has runs of, and whether the record leaves.
func (f *finder) screen(ctx context.Context, action Action, r *corpus.Record, ask extract.Options, t *corpus.Text) (items []uint32, leaves bool, err error) {
	for t.Doc != nil {
		f.find(t.Doc.Text)
		if len(f.items) == 0 {
			return items, items != nil && f.words.Len() == 0, nil
		}
		items = append(items, f.items...)
		if action != Cut || !r.Cuttable(t) {
			return items, action != Mark, nil
		}
		if err := f.cut(ctx, r, ask, t); err != nil {
			return items, false, err
		}
	} // the words around a cut may be another run
	return items, items != nil, nil
}

// cut removes the runs from the text of a record. If they are not in the text as it stands in the record,
// because invisible characters split its words, the cleaned text takes its place.
func (f *finder) cut(ctx context.Context, r *corpus.Record, ask extract.Options, t *corpus.Text) error {
	verbatim := ask
	verbatim.Verbatim = true
	whole, err := r.Text(ctx, verbatim)
	if err != nil {
		return err
	}
	if f.find(whole.Doc.Text); len(f.spans) == 0 {
		whole = *t
		f.find(t.Doc.Text)
	}
	rest, err := r.WithText(&whole, f.without(whole.Doc.Text))
	if err == nil {
		*r = *rest
		*t, err = r.Text(ctx, ask)
	}
	return err
}

func (s *Screen) count(items []uint32, leaves bool) {
	s.read.Add(1)
	if len(items) > 0 {
		s.hit.Add(1)
	}
	if leaves {
		s.left.Add(1)
	}
	for _, i := range items {
		s.items[i].Records.Add(1)
	}
}

// Left returns the number of records that left. It is 0 if s is nil.
func (s *Screen) Left() int64 {
	if s == nil {
		return 0
	}
	return s.left.Load()
}

// Items returns the items of the benchmark, those that were found in most records first. There are none if s is nil.
func (s *Screen) Items() []*Item {
	if s == nil {
		return nil
	}
	return slices.SortedStableFunc(slices.Values(s.items), func(a, b *Item) int { return cmp.Compare(b.Records.Load(), a.Records.Load()) })
}

// Statistics adds the items of the benchmark, with the numbers of contaminated records. It adds nothing if s is nil.
func (s *Screen) Statistics(to report.Statistics) {
	for _, i := range s.Items() {
		to.Benchmark(i.ID, i.Outcome(), i.Records.Load(), i.Words)
	}
}

const topItems = 5 // items in the summary

// Summary returns lines about what was found, with the items that were found in most records.
func (s *Screen) Summary() string {
	items := map[string]int{} // by outcome
	var top strings.Builder
	for k, i := range s.Items() {
		items[i.Outcome()]++
		if n := i.Records.Load(); n > 0 && k < topItems {
			fmt.Fprintf(&top, "\n  %s: %s", report.Counted(n, "record"), harmless.Line(i.ID))
		}
	}
	return fmt.Sprintf("contaminated: %s of %s, removed: %s; benchmark items found: %s of %s, too short to compare (fewer than %d words): %s%s",
		report.Grouped(s.hit.Load()), report.Counted(s.read.Load(), "record"), report.Grouped(s.Left()),
		report.Grouped(items["found"]), report.Grouped(len(s.items)), s.short.words, report.Grouped(items["too short"]), &top)
}

package ingest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/store"
)

// # Names that repeat
//
// The records of a corpus are called files here. A store finds a page by its URL, and the URL of a
// file is its name. So two files of a run must not have the same name. The input may contain files
// with the same name: if each shard numbers its lines from 0, different texts have the same name,
// and a record may also occur twice. The first file keeps the name. The name of a later one is
// extended by its position, as in "NAME (FILE:LINE)".
//
// Reading the same files again must not add records to the store. So a file is known if the store
// has its text under its name, or under the name with its position. If the store has a different
// text there, the file counts as a new visit: the record gets the new text, and keeps a reference
// to the old one.
//
// Known weaknesses: A line that moved in its file counts as a copy of itself if another line had
// its name first. Shards that each number their lines from 0 must be read in one run. If each is
// read in its own run, every shard counts as a new visit to the files of the previous shard.
//
// The run looks up its names in the store, because a list of all names in memory would grow with
// the corpus. Only names whose files are not stored yet are kept in memory.

// Names counts the names that were not new.
type Names struct {
	Repeated int // files that were renamed because an earlier file of the run had the same name
	Known    int // files that were in the store with the same text, and were skipped
	Changed  int // files that were in the store with a different text, and count as new visits
}

type naming struct {
	store  PipelineStore
	again  func(*reading, *store.Record) (*visit, error) // compares a file with its stored record
	fresh  bool                                          // the store was empty before the run
	began  time.Time                                     // start of the run; the time of all its records
	counts Names

	underway sync.Map // hashes of the names whose files are not stored yet
}

func newNaming(ctx context.Context, s PipelineStore, again func(*reading, *store.Record) (*visit, error)) (*naming, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the record counts: %w", err)
	}
	return &naming{store: s, again: again, fresh: tally.Records() == 0, began: time.Now().UTC().Round(0)}, nil
}

func (n *naming) stored(files []*file) {
	for _, f := range files {
		n.underway.Delete(f.reading.seen.ID)
	}
}

func (n *naming) isUnderway(id dedup.Hash) bool {
	_, is := n.underway.Load(id)
	return is
}

// A holder describes the file that has a name. The zero value means that the name is free.
type holder struct {
	taken bool          // a file of this run has the name
	known *store.Record // the record that had the name before this run
}

// holders returns the holder of each name. It checks the names in memory first, and then the store.
// In this order, it does not miss names that are stored in the meantime.
func (n *naming) holders(ctx context.Context, names []string) (map[string]holder, error) {
	all, ids := map[string]holder{}, make([]dedup.Hash, len(names))
	for i, name := range names {
		ids[i] = dedup.HashOf([]byte(name))
		all[name] = holder{taken: n.isUnderway(ids[i])}
	}
	if len(names) == 0 {
		return all, nil
	}
	pages, err := n.store.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return nil, fmt.Errorf("look up the names of records: %w", err)
	}
	for i, page := range pages {
		switch {
		case page == nil:
		case page.Record.FetchedAt.Equal(n.began):
			all[names[i]] = holder{taken: true}
		default:
			all[names[i]] = holder{all[names[i]].taken, &page.Record}
		}
	}
	return all, nil
}

// give names the files of a batch. If the store was empty before the run, names that are positions need
// no lookup, because no other record can have them.
func (n *naming) give(ctx context.Context, files []*file) error {
	var names []string
	for _, f := range files {
		if !n.fresh || !f.placed {
			names = append(names, f.qualified(1))
		}
		if !n.fresh {
			names = append(names, f.qualified(2))
		}
	}
	all, err := n.holders(ctx, names)
	if err != nil {
		return err
	}
	of := func(f *file, nth int) (holder, error) {
		name := f.qualified(nth)
		if n.isUnderway(dedup.HashOf([]byte(name))) { // an earlier file of this batch may have the name
			return holder{taken: true}, nil
		}
		if h, found := all[name]; found || n.fresh && f.placed {
			return h, nil
		}
		one, err := n.holders(ctx, []string{name})
		return one[name], err
	}
	for _, f := range files {
		nth := 1
		if !n.fresh && f.from.Source() != "" {
			if h, err := of(f, 2); err != nil {
				return err
			} else if h.known != nil && !h.taken {
				nth = 2
			}
		}
		h, err := of(f, nth)
		for err == nil && h.taken {
			nth++
			h, err = of(f, nth)
		}
		if err == nil {
			err = n.call(f, nth, h.known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// call gives a file its nth name, which the record known has, or no record if known is nil. If the
// record has the same text, the file is known; otherwise it is a new visit.
func (n *naming) call(f *file, nth int, known *store.Record) (err error) {
	r, name := &f.reading.seen, f.qualified(nth)
	r.URL, r.ID, r.FetchedAt = name, dedup.HashOf([]byte(name)), n.began
	n.underway.Store(r.ID, true)
	switch {
	case known == nil:
		f.visit = firstVisit(f.reading)
		if nth > 1 {
			n.counts.Repeated++
		}
	case f.isKnown(known):
		n.counts.Known++
		f.known = known
	default:
		n.counts.Changed++
		f.visit, err = n.again(f.reading, known)
	}
	return err
}

// n counts from 1.
func (f *file) qualified(n int) string {
	if n == 1 {
		return f.name
	}
	source := f.from.Source()
	switch {
	case source == "" || f.placed:
		return fmt.Sprintf("%s (%d)", f.name, n)
	case n == 2:
		return fmt.Sprintf("%s (%s)", f.name, source)
	}
	return fmt.Sprintf("%s (%s, %d)", f.name, source, n-1)
}

// isKnown reports whether the stored record with a file's name has the file's text. A file without
// text counts as known.
func (f *file) isKnown(r *store.Record) bool {
	got := &f.reading.seen
	if got.Kind != store.Page || r.Problem == string(crawler.ProblemInternal) { // the file could not be read in the earlier run, and cannot be read now
		return true
	}
	return r.Kind == store.Page && r.Hash == got.Hash
}

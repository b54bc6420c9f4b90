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

	mu       sync.Mutex
	underway map[dedup.Hash]bool // guarded by mu: hashes of the names whose files are not stored yet
}

func newNaming(ctx context.Context, s PipelineStore, again func(*reading, *store.Record) (*visit, error)) (*naming, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the record counts: %w", err)
	}
	return &naming{store: s, again: again, fresh: tally.Records() == 0, began: time.Now().UTC().Round(0), underway: map[dedup.Hash]bool{}}, nil
}

func (n *naming) stored(files []*file) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range files {
		delete(n.underway, f.reading.seen.ID)
	}
}

func (n *naming) isUnderway(id dedup.Hash) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.underway[id]
}

// A holder describes the file that has a name. The zero value means that the name is free.
type holder struct {
	taken bool          // a file of this run has the name
	known *store.Record // the record that had the name before this run
}

// holders returns the holder of each name. It checks the names in memory first, and then the store.
// In this order, it does not miss names that are stored in the meantime.
func (n *naming) holders(ctx context.Context, names []string) ([]holder, error) {
	if len(names) == 0 {
		return nil, nil
	}
	all, ids := make([]holder, len(names)), make([]dedup.Hash, len(names))
	for i, name := range names {
		ids[i] = dedup.HashOf([]byte(name))
		all[i].taken = n.isUnderway(ids[i])
	}
	pages, err := n.store.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return nil, fmt.Errorf("look up the names of records: %w", err)
	}
	for i, page := range pages {
		switch {
		case page == nil:
		case page.Record.FetchedAt.Equal(n.began):
			all[i].taken = true
		default:
			all[i].known = &page.Record
		}
	}
	return all, nil
}

func (n *naming) give(ctx context.Context, files []*file) error {
	first, err := n.holdersOf(ctx, files, 1)
	if err != nil {
		return err
	}
	var second []holder
	if !n.fresh {
		if second, err = n.holdersOf(ctx, files, 2); err != nil {
			return err
		}
	}
	for i, f := range files {
		if second != nil && f.from.Source() != "" && second[i].known != nil && !second[i].taken && !n.isUnderway(dedup.HashOf([]byte(f.qualified(2)))) {
			if err := n.meet(f, 2, second[i]); err != nil {
				return err
			}
			continue
		}
		for nth, h := 1, first[i]; ; nth++ {
			if nth > 1 {
				one, err := n.holdersOf(ctx, files[i:i+1], nth)
				if err != nil {
					return err
				}
				h = one[0]
			}
			if n.isUnderway(dedup.HashOf([]byte(f.qualified(nth)))) { // an earlier file of this batch may have the name
				h = holder{taken: true}
			}
			if h.taken {
				continue
			}
			if h.known != nil {
				if err := n.meet(f, nth, h); err != nil {
					return err
				}
				break
			}
			n.call(f, nth)
			if nth > 1 {
				n.counts.Repeated++
			}
			break
		}
	}
	return nil
}

// holdersOf returns the holders of the nth names of files. If the store was empty before the run,
// names that are positions need no lookup, because no other record can have them.
func (n *naming) holdersOf(ctx context.Context, files []*file, nth int) ([]holder, error) {
	all := make([]holder, len(files))
	var names []string
	var asked []int
	for i, f := range files {
		if !(n.fresh && f.placed) {
			names, asked = append(names, f.qualified(nth)), append(asked, i)
		}
	}
	found, err := n.holders(ctx, names)
	for k, h := range found {
		all[asked[k]] = h
	}
	return all, err
}

// meet gives a file a name that a record in the store already has. If the record has the same text,
// the file is known; otherwise it is a new visit.
func (n *naming) meet(f *file, nth int, h holder) (err error) {
	n.call(f, nth)
	if f.isKnown(h) {
		n.counts.Known++
		f.known = h.known
		return nil
	}
	n.counts.Changed++
	f.visit, err = n.again(f.reading, h.known)
	return err
}

func (n *naming) call(f *file, nth int) {
	f.reading.name(f.qualified(nth), n.began)
	f.visit = firstVisit(f.reading)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.underway[f.reading.seen.ID] = true
}

// name sets the name of a file as the URL of its reading, and the time of the visit. It is called
// once, before the reading is compared with other readings.
func (got *reading) name(url string, at time.Time) {
	r := &got.seen
	r.URL, r.ID, r.FetchedAt = url, dedup.HashOf([]byte(url)), at
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
// text counts as known if there is a record.
func (f *file) isKnown(h holder) bool {
	switch r, got := h.known, &f.reading.seen; {
	case r == nil || h.taken:
		return false
	case got.Kind != store.Page || r.Problem == string(crawler.ProblemInternal): // the file could not be read in the earlier run, and cannot be read now
		return true
	default:
		return r.Kind == store.Page && r.Hash == got.Hash
	}
}

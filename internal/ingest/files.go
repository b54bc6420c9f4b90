package ingest

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"skink/crawler"
	"skink/dedup"
	"skink/internal/corpus"
	"skink/internal/memory"
	"skink/store"
)

// Names counts names that were not new.
type Names struct {
	Repeated int // files whose name another had; they are judged under one of their own
	Known    int // files that the store holds already; they are passed over
}

// Files judges files in their order, so that the same files always give the same
// verdicts: they are read and looked up in parallel, and committed one after the
// other.
func (p *Pipeline) Files(ctx context.Context, files iter.Seq2[corpus.File, error]) (names Names, err error) {
	group, ctx := errgroup.WithContext(ctx)
	places := make(chan chan *subject, 2*runtime.GOMAXPROCS(0)) // in order; each gives one subject
	begin := func(f corpus.File) error {
		place := make(chan *subject, 1)
		select {
		case places <- place:
		case <-ctx.Done():
			return ctx.Err()
		}
		share, err := p.shareOf(ctx, f)
		if err != nil {
			return err
		}
		group.Go(func() error {
			s, err := p.file(ctx, f)
			if s != nil {
				s.share = share
				share.Keep(s.weighs())
			}
			place <- s // nil with an error
			return err
		})
		return nil
	}
	ordered := make(chan *subject, filesAtOnce)
	group.Go(func() (err error) {
		defer close(places)
		names, err = p.unknown(ctx, files, begin)
		return err
	})
	group.Go(func() error {
		defer close(ordered)
		return inOrder(ctx, places, ordered)
	})
	group.Go(func() error { return p.commitAll(ctx, ordered) })
	err = group.Wait()
	return names, err
}

// filesAtOnce is how many files one commit takes at most.
const filesAtOnce = 64

// inOrder passes subjects on in the order of their places.
func inOrder(ctx context.Context, places <-chan chan *subject, ordered chan<- *subject) error {
	for place := range places {
		var s *subject
		select {
		case s = <-place:
		case <-ctx.Done(): // nobody may be at work on it
			return ctx.Err()
		}
		if s == nil {
			return nil // its worker says why
		}
		select {
		case ordered <- s:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// commitAll commits subjects in their order, as many at once as are waiting.
func (p *Pipeline) commitAll(ctx context.Context, ordered <-chan *subject) error {
	for s := range ordered {
		if err := p.upkeep.failed(); err != nil {
			return err
		}
		if err := p.commitInOrder(ctx, gather(s, ordered)); err != nil {
			return err
		}
	}
	return nil
}

// gather takes what is waiting behind a subject.
func gather(first *subject, ordered <-chan *subject) []*subject {
	all := []*subject{first}
	for len(all) < filesAtOnce {
		select {
		case s, ok := <-ordered:
			if !ok {
				return all
			}
			all = append(all, s)
		default:
			return all
		}
	}
	return all
}

// commitInOrder commits subjects that were judged. Where a verdict is stale, that
// subject is judged again before any after it is committed.
func (p *Pipeline) commitInOrder(ctx context.Context, all []*subject) error {
	for len(all) > 0 {
		entries := make([]*store.Entry, len(all))
		for i, s := range all {
			entries[i] = p.entry(s)
		}
		outcomes, err := p.store.Commit(ctx, entries)
		if err != nil {
			return fmt.Errorf("write to the store: %w", err)
		}
		n := slices.Index(outcomes, store.Stale)
		if n < 0 {
			n = len(all)
		}
		for i, s := range all[:n] {
			p.counts.add(s, outcomes[i])
			s.release()
		}
		if all = all[n:]; len(all) == 0 {
			return nil
		}
		if err := p.judge(ctx, all[0]); err != nil {
			return fmt.Errorf("judge %s: %w", all[0].record.URL, err)
		}
	}
	return nil
}

// shareOf takes the share of memory that a file's text needs. Those before it in the order
// have theirs, so it is always somebody's turn.
func (p *Pipeline) shareOf(ctx context.Context, f corpus.File) (*memory.Share, error) {
	if f.Doc == nil {
		return nil, nil
	}
	return p.reading.Take(ctx, costOf(len(f.Doc.Text), 0))
}

// # Names that repeat
//
// A record is found by its URL, so no two files of a run may share one: shards
// whose lines are numbered from 0 each hold different texts under one name, and a
// copy in another file is a copy. The first keeps the name; each after it is named
// for where it is from as well, as "NAME (FILE:LINE)".
//
// A store that is given the same files again must not grow. So a file is known if
// the store has its text under the name it would get, or got when it was not the
// first of its name. With another text, it is a new file, and named like one that
// repeats. What this gets wrong: a line that moved is taken for a copy of itself
// if its name was not its own.

// unknown does something with each file that the store does not hold yet, under a
// name of its own, and counts the others.
func (p *Pipeline) unknown(ctx context.Context, files iter.Seq2[corpus.File, error], do func(corpus.File) error) (names Names, err error) {
	taken := map[dedup.Hash]bool{} // in this run
	for f, err := range files {
		if err != nil {
			return names, err
		}
		name, known, err := p.nameOf(ctx, f, taken)
		switch {
		case err != nil:
			return names, err
		case known:
			names.Known++
		case name != f.URL:
			names.Repeated++
		}
		taken[dedup.HashOf([]byte(name))] = true
		if known {
			continue
		}
		f.URL = name
		if err := do(f); err != nil {
			return names, err
		}
	}
	return names, nil
}

// nameOf is the name under which a file is judged, or that under which it is known.
func (p *Pipeline) nameOf(ctx context.Context, f corpus.File, taken map[dedup.Hash]bool) (name string, known bool, err error) {
	look := func(name string) (known, free bool, err error) {
		id := dedup.HashOf([]byte(name))
		if taken[id] {
			return false, false, nil
		}
		r, err := p.recordOf(ctx, id)
		if err != nil || r == nil {
			return false, true, err
		}
		known = p.holds(r, f)
		return known, known, nil
	}
	if f.Source != "" {
		name := qualified(f, 2)
		if known, _, err := look(name); err != nil || known {
			return name, known, err
		}
	}
	for n := 1; ; n++ {
		name := qualified(f, n)
		if known, free, err := look(name); err != nil || free {
			return name, known, err
		}
	}
}

// qualified is the nth name that a file may have, counted from 1.
func qualified(f corpus.File, n int) string {
	switch {
	case n == 1:
		return f.URL
	case f.Source == "":
		return fmt.Sprintf("%s (%d)", f.URL, n)
	case n == 2:
		return fmt.Sprintf("%s (%s)", f.URL, f.Source)
	}
	return fmt.Sprintf("%s (%s, %d)", f.URL, f.Source, n-1)
}

// holds says whether a record is that of a file's text. A file without one adds
// nothing to whatever is there.
func (p *Pipeline) holds(r *store.Record, f corpus.File) bool {
	if f.Doc == nil || r.Problem == string(crawler.ProblemInternal) { // it broke then, and would now
		return true
	}
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)
	var s subject
	s.describe(f.Doc)
	if err := guard(func() error { p.opt.Rule.Read(canon, f.Doc.Text, s.record.Lang); return nil }); err != nil {
		return false
	}
	return r.Kind == store.Page && r.Hash == canon.Hash()
}

// file makes a subject of a file, and judges it by what the store holds now.
func (p *Pipeline) file(ctx context.Context, f corpus.File) (*subject, error) {
	s := &subject{}
	r := &s.record
	r.URL, r.ID, r.ContentType, r.Kind = f.URL, dedup.HashOf([]byte(f.URL)), f.Type, store.Page
	if f.Doc == nil {
		r.Kind = store.Skipped
		return s, nil
	}
	s.describe(f.Doc)
	r.CanonicalURL = f.Doc.Canonical
	unread := *r
	if err := guard(func() error { p.sketch(s, f.Doc.Text); return nil }); err != nil {
		s.broken(unread, err)
	}
	if err := p.judge(ctx, s); err != nil {
		return nil, fmt.Errorf("judge %s: %w", f.URL, err)
	}
	return s, nil
}

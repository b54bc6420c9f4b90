package ingest

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/extract"
	"skink/store"
)

// A File is a text from disk, or from a line of a JSON Lines file.
type File struct {
	URL  string            // its name: a path, or what the line says
	Doc  *extract.Document // nil: the file holds no text
	Type string            // its media type
}

// Files judges files in their order, so that the same files always give the same
// verdicts. A file whose URL has a record is passed over and counted.
func (p *Pipeline) Files(ctx context.Context, files iter.Seq2[File, error]) (repeated int, err error) {
	group, ctx := errgroup.WithContext(ctx)
	places := make(chan chan *subject, 2*runtime.GOMAXPROCS(0)) // in order; each gives one subject
	begin := func(f File) error {
		place := make(chan *subject, 1)
		select {
		case places <- place:
		case <-ctx.Done():
			return ctx.Err()
		}
		group.Go(func() error {
			s, err := p.file(ctx, f)
			place <- s // nil with an error
			return err
		})
		return nil
	}
	group.Go(func() (err error) {
		defer close(places)
		repeated, err = p.unknown(ctx, files, begin)
		return err
	})
	group.Go(func() error { return p.submitAll(ctx, places) })
	err = group.Wait()
	return repeated, err
}

// unknown does something with each file whose URL has no record yet, and counts
// the others.
func (p *Pipeline) unknown(ctx context.Context, files iter.Seq2[File, error], do func(File) error) (repeated int, err error) {
	seen := map[dedup.Hash]bool{}
	for f, err := range files {
		if err != nil {
			return repeated, err
		}
		id := dedup.HashOf([]byte(f.URL))
		known, err := p.store.Record(ctx, id)
		if err != nil {
			return repeated, err
		}
		if seen[id] || known != nil {
			repeated++
			continue
		}
		seen[id] = true
		if err := do(f); err != nil {
			return repeated, err
		}
	}
	return repeated, nil
}

// submitAll hands subjects to the judge in the order of their places.
func (p *Pipeline) submitAll(ctx context.Context, places <-chan chan *subject) error {
	for place := range places {
		s := <-place
		if s == nil {
			return nil // its worker says why
		}
		if err := p.judge.submit(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// file makes a subject of a file.
func (p *Pipeline) file(ctx context.Context, f File) (*subject, error) {
	s := &subject{}
	r := &s.entry.Record
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
		return s, nil
	}
	if err := p.lookUp(ctx, s); err != nil {
		return nil, fmt.Errorf("judge %s: %w", f.URL, err)
	}
	return s, nil
}

package ingest

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"

	"skink/crawler"
	"skink/frontier"
	"skink/store"
)

// # Pages of an archive
//
// The pages of an archive are judged in order, so that the same archive always gives the same
// verdicts. Reading a page takes most of the time and does not depend on other pages, so several
// pages are read at once. Each page then waits for the pages before it. It is looked up, compared
// and committed alone, so a verdict is never stale.

// A Replayed page is a page from an archive.
type Replayed struct {
	Page  *crawler.Page
	Leads *crawler.Leads
	// Before is called once all pages before this one have been stored.
	Before func(context.Context) error
	// At is the position of the response in the archive, for the record of the page.
	At store.Archived
	// Skip is called with the reason if the page is not stored, for example that the store already has a
	// record of a visit to the page at the same time or later.
	Skip func(why string)

	reading *reading
}

// maxReaders also limits how many pages wait in memory. More readers would not help, because a
// single goroutine commits.
const maxReaders = 8

// Replay judges the pages of an archive in order.
func (p *Pipeline) Replay(ctx context.Context, pages iter.Seq2[*Replayed, error]) error {
	group, ctx := errgroup.WithContext(ctx)
	read := inOrder(ctx, group, min(runtime.GOMAXPROCS(0), maxReaders), pages, func(ctx context.Context, r *Replayed) error {
		// The share of memory was for the tree, which is no longer needed. A page waiting for
		// earlier pages must not keep a share that one of them may need.
		page := *r.Page
		page.MayRender = false // there is no browser
		got, share, err := p.reader.read(ctx, &page, r.Leads)
		r.reading = got
		share.Release()
		return err
	})
	group.Go(func() error {
		return store.Forward(read, func(r *Replayed) error {
			if err := p.replay(ctx, r); err != nil {
				return fmt.Errorf("judge %s: %w", r.Page.Item.URL, err)
			}
			return nil
		})
	})
	return group.Wait()
}

func (p *Pipeline) replay(ctx context.Context, r *Replayed) error {
	if err := p.upkeep.failed(); err != nil {
		return err
	}
	known, err := p.store.record(ctx, r.reading.seen.ID)
	if err != nil {
		return err
	}
	if known == nil && r.Page.Confirmed() {
		r.Skip("revisit")
		return nil
	}
	if err := r.Before(ctx); err != nil {
		return err
	}
	if known.Answers(&r.Page.Item) {
		r.Skip("visit that is not later than the stored visit")
	} else if known != nil { // put the URL back into the frontier, so that this visit can finish it
		if _, err := p.store.Requeue(ctx, []frontier.Item{r.Page.Item}); err != nil {
			return err
		}
	}
	v, err := p.visit(ctx, r.Page, r.reading, known)
	if err != nil {
		return err
	}
	return p.commit(ctx, v, func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		if e.Touch {
			e.Record.Answered = r.At
		} else {
			e.Record.Archive = r.At
		}
		return p.store.commit(ctx, e)
	})
}

package ingest

import (
	"context"
	"fmt"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

type pageStore struct{ PipelineStore }

// record returns nil if there is no such page.
func (s pageStore) record(ctx context.Context, id dedup.Hash) (*store.Record, error) {
	c, err := s.page(ctx, id, store.WantRecord)
	if c == nil {
		return nil, err
	}
	return &c.Record, nil
}

// content returns nil if there is no such page.
func (s pageStore) content(ctx context.Context, id dedup.Hash) (*store.Content, error) {
	return s.page(ctx, id, store.WantText|store.WantSketch|store.WantLinks)
}

func (s pageStore) page(ctx context.Context, id dedup.Hash, want store.Want) (*store.Content, error) {
	pages, err := s.Pages(ctx, []dedup.Hash{id}, want)
	if err != nil {
		return nil, err
	}
	return pages[0], nil
}

// fetchAgain queues a page for another fetch. It omits the validators (ETag and date), so that the
// server sends the page even if it was not modified.
func (s pageStore) fetchAgain(ctx context.Context, r *store.Record) error {
	_, err := s.requeue(ctx, r)
	return err
}

// requeue is fetchAgain, and reports whether the page was not in the frontier before.
func (s pageStore) requeue(ctx context.Context, r *store.Record) (queued bool, err error) {
	n, err := s.Requeue(ctx, []frontier.Item{store.Revisit(r, time.Now().UTC(), false)})
	return n > 0, err
}

// end writes an entry whose record is already in the store, and so only the final state of its URL
// in the frontier.
func (s pageStore) end(ctx context.Context, e *store.Entry) error {
	switch outcome, err := s.commit(ctx, e); {
	case err != nil:
		return fmt.Errorf("write to the store: %w", err)
	case outcome == store.Lost:
		return frontier.ErrLost
	}
	return nil
}

// commit is an [EntryWriter].
func (s pageStore) commit(ctx context.Context, e *store.Entry) (store.Outcome, error) {
	outcomes, err := s.Commit(ctx, []*store.Entry{e})
	if err != nil {
		return store.Stale, err
	}
	return outcomes[0], nil
}

package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/frontier"
	"skink/store"
)

// # Postponed URLs at the end of a crawl
//
// A postponed URL has a record of kind Later. When the frontier is empty, [Pipeline.Sweep] checks
// all postponed URLs, and queues some; see [learn.Sweep]. The crawl calls Sweep again when these
// have been fetched, until nothing is queued. The evidence is written before Sweep returns, so a
// killed crawl resumes at this point. If several workers share a store, each of them does this; a
// URL that is queued twice is fetched once.

func sweepLater(ctx context.Context, s PipelineStore, book *learn.Book) (queued int, err error) {
	tally, err := s.Tally(ctx)
	if err != nil || tally.Later == 0 {
		return 0, err
	}
	now := time.Now().UTC()
	sw := &sweep{store: s, book: book, now: now, hosts: map[string]*learn.Sweep{}, chunks: map[chunkOf][]frontier.Item{}}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err == nil && page.Record.Kind == store.Later {
			err = sw.look(ctx, &page.Record)
		}
		if err != nil {
			return 0, fmt.Errorf("check postponed URLs: %w", err)
		}
	}
	if err := sw.queue(ctx); err != nil || sw.queued > 0 {
		return sw.queued, err
	}
	for of, items := range sw.chunks {
		sw.items = lucky(items, sw.hosts[of.host].Size(of.advice))
		n := len(sw.items)
		if err := sw.queue(ctx); err != nil {
			return 0, err
		}
		if err := book.Queued(ctx, of.host, of.advice, n); err != nil {
			return 0, err
		}
	}
	return sw.queued, nil
}

type sweep struct {
	store  PipelineStore
	book   *learn.Book
	now    time.Time
	hosts  map[string]*learn.Sweep
	chunks map[chunkOf][]frontier.Item
	items  []frontier.Item // to queue
	queued int
}

type chunkOf struct {
	host   string
	advice learn.Advice
}

func (sw *sweep) look(ctx context.Context, r *store.Record) error {
	host := frontier.HostOf(r.URL)
	s := sw.hosts[host]
	if s == nil {
		var err error
		if s, err = sw.book.Sweep(ctx, host); err != nil {
			return err
		}
		sw.hosts[host] = s
	}
	item := store.Revisit(r, sw.now, false)
	item.Priority = crawler.AskedPriority
	a, size := s.Look(r.URL, sw.now)
	switch {
	case a.Rule == "":
		if sw.items = append(sw.items, item); len(sw.items) == queuedAtOnce {
			return sw.queue(ctx)
		}
	case size > 0:
		of := chunkOf{host, a}
		item.Priority = crawler.PutBackPriority
		if sw.chunks[of] = append(sw.chunks[of], item); len(sw.chunks[of]) >= 2*size {
			sw.chunks[of] = lucky(sw.chunks[of], size)
		}
	}
	return nil
}

const queuedAtOnce = 1000

func (sw *sweep) queue(ctx context.Context) error {
	n, err := sw.store.Requeue(ctx, sw.items)
	sw.queued, sw.items = sw.queued+n, sw.items[:0]
	return err
}

// lucky selects up to n items: those whose URLs have the lowest hashes.
func lucky(all []frontier.Item, n int) []frontier.Item {
	slices.SortFunc(all, func(a, b frontier.Item) int { return cmp.Compare(learn.Luck(a.URL), learn.Luck(b.URL)) })
	return all[:min(n, len(all))]
}

package ingest

import (
	"context"
	"slices"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Erase replaces the record of a page by one that only says that the page was deleted, and judges the
// pages again that followed it. If a killed process has replaced the record, Erase does the rest.
func (p *Pipeline) Erase(ctx context.Context, known *store.Record) error {
	v := &visit{reading: &reading{}, kind: recorded, draft: *known, before: known, state: frontier.Outside}
	if !Erased(known) {
		v.kind, v.draft = changed, remainder(known)
		v.followed = known.Follows()
	}
	return p.commit(ctx, v, p.writer(v, new(crawler.Page)))
}

const erasedDetail = "deleted: by skink delete"

// Erased reports whether a record is one that [Pipeline.Erase] has written.
func Erased(r *store.Record) bool { return r.Kind == store.Outside && r.Detail == erasedDetail }

// remainder returns what is kept of a deleted page, so that feeds and indexes delete it, too, and do
// not tell more of it than before.
func remainder(known *store.Record) store.Record {
	r := store.Record{
		ID: known.ID, URL: known.URL, Kind: store.Outside, Private: known.Private, Signals: known.Signals,
		Checked: known.Checked, Requisite: known.Requisite, Sitemap: known.Sitemap,
		Fetch:   store.Fetch{Detail: erasedDetail, FetchedAt: after(known.Began()), Depth: known.Depth, Archive: known.Archive},
		History: store.History{Answered: known.Answered}, // places in archives are needed until the store is written again
	}
	if r.Earlier = slices.Clone(known.Earlier); known.Kind == store.Page {
		r.Succeeds(known, nil, 0)
	}
	r.Visit = store.Vanished
	for i := range r.Earlier {
		r.Earlier[i].Hash, r.Earlier[i].Sketch = dedup.Hash{}, nil
	}
	return r
}

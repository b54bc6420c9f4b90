package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"skink/crawler"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/harmless"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
)

// A replay judges pages from web archives instead of fetching them, in the order of the archives. A
// crawl archives pages in the order in which it stores them, so the verdicts are the same as in
// that crawl.
type replay struct {
	options  crawler.Options
	out      Output
	store    *NamedStore
	pipeline *ingest.Pipeline
	ways     map[string]way // redirects read so far, by target
	lost     int            // records that could not be read
	passed   report.Passed  // skipped records by reason
}

type way struct {
	via  string
	hops int
}

// Replay judges the pages of web archives and writes them to a store. It does not fetch anything.
func Replay(ctx context.Context, s *NamedStore, opt Options, out Output, files []corpus.Archive) error {
	rule, set, err := Agree(ctx, s, s.Name, opt.Wanted)
	if err != nil {
		return err
	}
	order, err := orderHosts(ctx, s, opt.Prefer, nil)
	if err != nil {
		return err
	}
	r := &replay{options: opt.Crawl, out: out, store: s, ways: map[string]way{}}
	r.options.Scope = nil // links are not followed
	r.pipeline, err = ingest.New(ctx, s, ingest.Options{
		Rule: rule, Markdown: set.Markdown, NoLinks: set.NoLinks, Order: order, Shared: s.Shared, GoneAfter: opt.GoneAfter, SkipDuplicates: set.SkipTexts, Agent: opt.Crawl.AgentFor, Memory: opt.Memory, Documents: DocumentsOf(set, opt.Memory),
	})
	if err != nil {
		return err
	}
	started := time.Now()
	err = r.pipeline.Replay(ctx, r.pages(ctx, files))
	if err := first(err, r.pipeline.Close()); err != nil {
		return err
	}
	sum := Summary{Added: r.pipeline.Added(), All: r.pipeline.Tally(), Rule: rule, Took: time.Since(started), Store: s.Name}
	sum.Bytes, _ = s.disk()
	if sum.URLs, err = s.Counts(ctx); err != nil {
		return err
	}
	if sum.Later, err = CountPostponed(ctx, s, sum.URLs, sum.All); err != nil {
		return err
	}
	out.finish(sum)
	if passed := r.passed.String(); passed != "" {
		out.Say("skipped: %s", passed)
	}
	if r.lost > 0 {
		return fmt.Errorf("%s could not be read", report.Counted(r.lost, "record"))
	}
	if fetchedNothing(sum.All) {
		return errors.New("the archive contains no page")
	}
	return nil
}

// errStop stops reading a file when the caller wants no more pages.
var errStop = errors.New("stop")

func (r *replay) pages(ctx context.Context, files []corpus.Archive) iter.Seq2[*ingest.Replayed, error] {
	return func(yield func(*ingest.Replayed, error) bool) {
		for _, f := range files {
			r.out.Say("Judging the pages of %s and storing them in %s", f.Name, r.store.Name)
			switch err := r.pagesOf(ctx, f, yield); {
			case errors.Is(err, errStop):
				return
			case err != nil:
				yield(nil, fmt.Errorf("%s: %w", f.Name, err))
				return
			}
		}
	}
}

// pagesOf returns errStop if yield returned false.
func (r *replay) pagesOf(ctx context.Context, file corpus.Archive, yield func(*ingest.Replayed, error) bool) error {
	f, err := file.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	notes := corpus.Notes{
		Passed: r.passed.Add,
		Odd:    func(err error) { r.out.Say("%s: %s", file.Name, harmless.Error(err)) },
		Damaged: func(err error) {
			r.lost++
			r.out.Say("%s: %s", file.Name, harmless.Error(err))
		},
	}
	return corpus.ReadArchive(ctx, f, filepath.Base(file.Name), r.options, notes, func(p *crawler.Page, at store.Archived) error {
		r.lead(p)
		p.Item.Due = p.FetchedAt // so that a second response for the same URL counts as another visit
		leads, err := crawler.LeadsOf(p, &r.options)
		if err != nil {
			return err
		}
		discover := func(ctx context.Context) error {
			_, err := r.store.Discover(ctx, []frontier.Item{p.Item}) // the frontier counts only URLs that have been added to it
			return err
		}
		if !yield(&ingest.Replayed{Page: p, Leads: leads, Before: discover, Write: r.placed(at), Known: func() { r.passed.Add("visit that is not later than the stored visit") }}, nil) {
			return errStop
		}
		return nil
	})
}

// lead adds to a page the redirects that led to it. If the page itself is a redirect, lead records
// it under the URL of its target.
func (r *replay) lead(p *crawler.Page) {
	if came, ok := r.ways[p.Item.URL]; ok {
		p.Item.Via, p.Item.Hops = came.via, came.hops
	}
	if p.Location == "" {
		return
	}
	from := way{p.Item.Via, p.Item.Hops + 1}
	if from.via == "" {
		from.via = p.Item.URL
	}
	r.ways[p.Location] = from
}

// placed returns a writer that adds the location of a page's response in the archive to the page's
// record, and then commits the page.
func (r *replay) placed(at store.Archived) ingest.EntryWriter {
	return func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		e.Record.Archive = at
		outcomes, err := r.store.Commit(ctx, []*store.Entry{e})
		if err != nil {
			return store.Stale, err
		}
		return outcomes[0], nil
	}
}

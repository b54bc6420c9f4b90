package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"skink/base/harmless"
	"skink/crawler"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
	"skink/store/precedence"
	"skink/warc"
)

// A replay judges pages from web archives instead of fetching them, in the order of the archives. A
// crawl archives pages in the order in which it stores them, so the verdicts are the same as in
// that crawl. Private pages are in archives of their own, so the pages of these archives and of the
// others are merged by their order.
type replay struct {
	options  crawler.Options
	out      Output
	store    *NamedStore
	pipeline *ingest.Pipeline
	ways     map[string]way  // redirects read so far, by target
	seeds    map[string]bool // orders of hosts that are in the store
	lost     int             // records that could not be read
	from     *warc.Originals
	passed   *report.Passed // skipped files and records by reason
}

type way struct {
	via  string
	hops int
}

// Replay judges the pages of web archives and writes them to a store. It does not fetch anything. passed
// has the files that were skipped, and gets the skipped records.
func Replay(ctx context.Context, s *NamedStore, opt Options, out Output, files []corpus.Archive, passed *report.Passed) error {
	rule, settings, err := Agree(ctx, s, s.Name, opt.Wanted)
	if err != nil {
		return err
	}
	order, err := orderHosts(ctx, s, opt.Prefer, nil)
	if err != nil {
		return err
	}
	r := &replay{options: opt.Crawl, out: out, store: s, passed: passed, from: corpus.Originals(files), ways: map[string]way{}, seeds: map[string]bool{"": true}}
	r.options.Scope = nil // links are not followed
	as := &run{opt: &opt, store: s, out: out, rule: rule, settings: settings, began: time.Now()}
	if r.pipeline, err = ingest.New(ctx, s, as.judging(&opt.Crawl, order)); err != nil {
		return err
	}
	err = r.pipeline.Replay(ctx, r.pages(ctx, files))
	if err := cmp.Or(err, r.pipeline.Close()); err != nil {
		return err
	}
	sum := Summary{Added: r.pipeline.Added(), Rule: rule, Took: time.Since(as.began), Store: s.Name, Missed: r.pipeline.Missed()}
	if err := sum.count(ctx, s); err != nil {
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

// An archivedPage is a page from an archive, with its position and its order.
type archivedPage struct {
	*crawler.Page
	at     store.Archived
	crawl  int // number of the crawl among those of all archives
	number int64
	seeds  string
}

func (r *replay) pages(ctx context.Context, files []corpus.Archive) iter.Seq2[*ingest.Replayed, error] {
	crawls := map[string]int{}
	var public, private []corpus.Archive
	for _, f := range files {
		order, isPrivate := f.First()
		if _, ok := crawls[order.Crawl]; !ok {
			crawls[order.Crawl] = len(crawls)
		}
		if isPrivate {
			private = append(private, f)
		} else {
			public = append(public, f)
		}
	}
	return func(yield func(*ingest.Replayed, error) bool) {
		for p, err := range merged(r.read(ctx, public, crawls), r.read(ctx, private, crawls)) {
			var page *ingest.Replayed
			if err == nil {
				page, err = r.replayed(p)
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// merged yields the pages of two sequences, which must be in order, in the order of both.
func merged(a, b iter.Seq2[*archivedPage, error]) iter.Seq2[*archivedPage, error] {
	return func(yield func(*archivedPage, error) bool) {
		next, stop := iter.Pull2(b)
		defer stop()
		other, otherErr, more := next()
		for p, err := range a {
			for more && (otherErr != nil || err == nil && cmp.Or(cmp.Compare(other.crawl, p.crawl), cmp.Compare(other.number, p.number)) < 0) {
				if !yield(other, otherErr) {
					return
				}
				other, otherErr, more = next()
			}
			if !yield(p, err) {
				return
			}
		}
		for ; more && yield(other, otherErr); other, otherErr, more = next() {
		}
	}
}

// read yields the pages of files. crawls has the number of each crawl.
func (r *replay) read(ctx context.Context, files []corpus.Archive, crawls map[string]int) iter.Seq2[*archivedPage, error] {
	return func(yield func(*archivedPage, error) bool) {
		for _, f := range files {
			r.out.Say("Judging the pages of %s and storing them in %s", f.Name, r.store.Name)
			switch err := r.pagesOf(ctx, f, crawls, yield); {
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
func (r *replay) pagesOf(ctx context.Context, file corpus.Archive, crawls map[string]int, yield func(*archivedPage, error) bool) error {
	f, err := file.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	notes := corpus.Notes{
		Originals: r.from,
		Passed:    r.passed.Add,
		Odd:       func(err error) { r.out.Say("%s: %s", file.Name, harmless.Error(err)) },
		Damaged: func(err error) {
			r.lost++
			r.out.Say("%s: %s", file.Name, harmless.Error(err))
		},
	}
	return corpus.ReadArchive(ctx, f, filepath.Base(file.Name), r.options, notes, func(p *crawler.Page, at store.Archived, order corpus.Order) error {
		if !yield(&archivedPage{p, at, crawls[order.Crawl], order.Number, order.Seeds}, nil) {
			return errStop
		}
		return nil
	})
}

func (r *replay) replayed(p *archivedPage) (*ingest.Replayed, error) {
	r.lead(p.Page)
	p.Item.Due = p.FetchedAt // so that a second response for the same URL counts as another visit
	leads, err := crawler.LeadsOf(p.Page, &r.options)
	before := func(ctx context.Context) error {
		if err := r.orderBy(ctx, p.seeds); err != nil {
			return err
		}
		_, err := r.store.Discover(ctx, []frontier.Item{p.Item}) // the frontier counts only URLs that have been added to it
		return err
	}
	return &ingest.Replayed{Page: p.Page, Leads: leads, Before: before, At: p.at, Skip: r.passed.Add}, err
}

// orderBy adds an order of hosts to that of the store.
func (r *replay) orderBy(ctx context.Context, seeds string) error {
	if r.seeds[seeds] {
		return nil
	}
	order, err := precedence.Merge(ctx, r.store, []byte(seeds))
	if err != nil {
		return err
	}
	r.seeds[seeds] = true
	r.pipeline.SetOrder(order)
	return nil
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
	r.ways[p.Location] = way{cmp.Or(p.Item.Via, p.Item.URL), p.Item.Hops + 1}
}

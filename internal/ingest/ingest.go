// Package ingest is the pipeline: a page becomes a text, a sketch, a verdict and
// a record.
//
// Many workers, one judge. Workers extract, sketch, look up and verify in
// parallel, on what the store held when they began. The judge takes their
// subjects one after another, compares each with the few leaders committed since
// that one's look-up, and commits. So of two copies fetched at once exactly one
// is unique, and the store has one writer.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"skink/crawler"
	"skink/dedup"
	"skink/extract"
	"skink/frontier"
	"skink/internal/memory"
	"skink/store"
)

// Options is how pages are judged and what is kept of them.
type Options struct {
	Rule           dedup.Rule
	SkipDuplicates bool   // keep no text of a duplicate, and follow none of its links
	KeepRaw        bool   // keep each exchange as it was received
	Agent          string // product token that pages may name in what they ask of crawlers; "": that of the default agent
	Memory         int64  // bytes that the whole process is to get along with, see [memory.Divide]; 0: [memory.Default]
	Sink           Sink   // gets every record after its commit; nil: nobody does
}

// A Sink is told of records in the order of their numbers, after their commit.
type Sink interface {
	// Add takes a record with its text, "" if it has none.
	Add(r *store.Record, text string) error
	// Checkpoint makes what was added survive a kill.
	Checkpoint(ctx context.Context) error
}

// A Pipeline judges pages into a store. Its methods may be called from several
// goroutines.
type Pipeline struct {
	store   store.Store
	opt     Options
	leaders *leaderCache
	texts   sync.Pool // of *dedup.Text
	judge   *judge
	posting int // leaders read under one key

	reading *memory.Pool // what the pages that are being read may take
	costs   costs
	flight  *flight
}

// New starts a pipeline into s. Close it.
func New(ctx context.Context, s store.Store, opt Options) (*Pipeline, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	flight, err := newFlight(ctx, s)
	if err != nil {
		return nil, err
	}
	if opt.Agent == "" {
		opt.Agent = crawler.ProductToken(crawler.Defaults().UserAgent)
	}
	parts := memory.Divide(opt.Memory)
	p := &Pipeline{store: s, opt: opt, posting: dedup.MaxPosting, reading: memory.NewPool(parts.Reading), flight: flight}
	p.texts.New = func() any { return new(dedup.Text) }
	p.leaders = newLeaderCache(s, opt.Rule, parts.Leaders)
	p.judge = newJudge(p, tally, parts.Recent)
	go p.judge.run(context.WithoutCancel(ctx))
	return p, nil
}

// Close waits for what was submitted, and returns the judge's error if it had one.
func (p *Pipeline) Close() error { return p.judge.close() }

// Pages is how many pages the store holds.
func (p *Pipeline) Pages() int64 { return p.judge.pages.Load() }

// Tally counts what the store holds.
func (p *Pipeline) Tally() store.Tally { return p.judge.snapshot(&p.judge.all) }

// Added counts what this pipeline added to it.
func (p *Pipeline) Added() store.Tally { return p.judge.snapshot(&p.judge.news) }

// Handle judges and stores what became of a URL, and returns when it is stored.
// It implements [crawler.Handler]. No two calls at once may be about the same
// URL; the frontier's leases see to that.
func (p *Pipeline) Handle(ctx context.Context, page *crawler.Page, leads *crawler.Leads) error {
	s, err := p.crawled(ctx, page, leads)
	if err != nil {
		return fmt.Errorf("judge %s: %w", page.Item.URL, err)
	}
	s.done = make(chan struct{})
	if err := p.judge.submit(ctx, s); err != nil {
		return err
	}
	select {
	case <-s.done:
		return nil
	case <-p.judge.failed:
		return p.judge.err
	}
}

// crawled makes a subject of a page.
func (p *Pipeline) crawled(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (s *subject, err error) {
	s = &subject{}
	r := &s.entry.Record
	*r = recordOf(page)
	known, err := p.store.Record(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if known != nil { // its links were written before it
		s.known = true
		s.entry.State = known.End()
		return s, nil
	}
	if p.opt.KeepRaw && page.Status != 0 {
		s.entry.Raw = rawOf(page)
	}
	switch r.Kind {
	case store.Redirect:
		s.leadTo(leads)
	case store.Page:
		err = p.judged(ctx, s, page, leads)
	}
	s.entry.State = r.End()
	return s, err
}

// judged reads a page, and judges it by what the store holds now.
func (p *Pipeline) judged(ctx context.Context, s *subject, page *crawler.Page, leads *crawler.Leads) error {
	if n := p.flight.suspect(page.Item.URL); n >= maxDeaths {
		p.flight.end(page.Item.URL)
		s.deadly(n)
		return nil
	}
	err := p.readWithin(ctx, s, page, leads)
	defer func() { s.share.Keep(s.weighs()) }()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, extract.ErrNotText): // a feed has links all the same
		s.entry.Record.Kind = store.Other
		s.entry.Record.Hash = dedup.HashOf(page.Body)
	case err != nil:
		s.broken(recordOf(page), err)
	default:
		return p.lookUp(ctx, s)
	}
	return nil
}

// guard turns a panic into an error: people write anything into pages, and one
// that the code around this is not up to must not end the crawl.
func guard(read func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return read()
}

// broken makes a subject the record of something that could not be read.
func (s *subject) broken(r store.Record, err error) {
	r.Kind, r.Problem, r.Detail = store.Error, string(crawler.ProblemInternal), err.Error()
	*s = subject{entry: store.Entry{Record: r, Raw: s.entry.Raw}, share: s.share}
}

// read takes from a page all that is judged or followed, with a tree of up to so many
// bytes. It is pure.
func (p *Pipeline) read(s *subject, page *crawler.Page, leads *crawler.Leads, tree int64) error {
	doc, notText := extract.Options{Tree: tree}.Parse(page.Body, page.Header.Get("Content-Type"))
	switch {
	case doc == nil:
		return notText
	case doc.Bound == extract.BoundTree && tree < most(len(page.Body)):
		return errOutgrown
	}
	p.obey(doc, page)
	if err := leads.Follow(crawler.Links{Base: doc.Base, Hrefs: doc.Hrefs()}); err != nil {
		return err
	}
	s.leadTo(leads)
	if notText != nil {
		return notText
	}
	s.describe(doc)
	if doc.Canonical != "" {
		base, err := frontier.NewBase(s.entry.Record.URL, doc.Base)
		if err != nil {
			return err
		}
		s.entry.Record.CanonicalURL, _ = base.Resolve(doc.Canonical) // one that cannot be resolved names nothing
	}
	p.sketch(s, doc.Text)
	return nil
}

// obey adds to what a document asks of everyone what it, or its answer, asks of us.
func (p *Pipeline) obey(doc *extract.Document, page *crawler.Page) {
	ask, tag := doc.Asks[p.opt.Agent], robotsTag(page.Header, p.opt.Agent)
	doc.NoIndex = doc.NoIndex || ask.NoIndex || tag.noindex
	doc.NoFollow = doc.NoFollow || ask.NoFollow || tag.nofollow
}

// leadTo writes down what a page leads to.
func (s *subject) leadTo(leads *crawler.Leads) {
	s.entry.Links, s.entry.Beyond = leads.Items, leads.Beyond
	if leads.Cut {
		s.bound(store.BoundLinks)
	}
}

// describe copies what a document says of itself.
func (s *subject) describe(doc *extract.Document) {
	r := &s.entry.Record
	r.Title, r.Description, r.Lang, r.Root = cut(doc.Title, maxTitle), cut(doc.Description, maxDescription), cut(doc.Lang, maxLang), doc.Root
	r.NoIndex = doc.NoIndex
	if doc.Bound != "" {
		s.bound(doc.Bound)
	}
}

// bound says in the record of a page what it had too much of.
func (s *subject) bound(what string) {
	r := &s.entry.Record
	if r.Bounds != "" {
		what = r.Bounds + "," + what
	}
	r.Bounds = what
}

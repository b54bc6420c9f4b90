// Package ingest is the pipeline: a page becomes a text, a sketch, a verdict and a record.
//
// Each page is processed independently, in the goroutine that calls Handle: it is read and
// sketched, looked up, compared exactly with the leaders found, and committed under the mark of its
// look-up. If the store refuses it as stale, because a page that could have changed the verdict was
// committed meanwhile, it is looked up again. So of two copies fetched at once exactly one is
// unique, without a global lock.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/crawler/robots"
	"skink/crawler/sitemap"
	"skink/dedup"
	"skink/extract"
	"skink/frontier"
	"skink/internal/lru"
	"skink/internal/memory"
	"skink/internal/precedence"
	"skink/store"
)

// Options configures how pages are judged and what the store keeps of them.
type Options struct {
	Rule           dedup.Rule
	Markdown       store.Markdown      // which Markdown is kept with each text
	GoneAfter      int                 // failed visits in a row after which a page is gone; 0: [DefaultGoneAfter]
	Order          *precedence.Order   // of hosts, which decides the leader of a cluster; nil: the page that arrived first leads
	SkipDuplicates bool                // keep no text of a duplicate, and follow none of its links
	Learn          *learn.Book         // called with each verdict; may be nil
	Agent          string              // product token that pages may use in directives for crawlers; "": that of the default agent
	OnTouch        func(*store.Record) // called for each page whose visit found no change; may be nil
	Limit          int64               // pages at which the crawl ends; near it, the pages of other workers are counted more often; 0: no limit
	Shared         bool                // other workers write to the store too, so its pages are counted there every countEvery
	NoLinks        bool                // do not keep the links of pages in the store; they are still followed
	Memory         int64               // bytes of memory for the whole process, see [memory.Divide]; 0: [memory.Default]

	Archive func(*crawler.Page) Commit // returns a Commit that also writes the page's answer to an archive; nil: the answer is not kept
}

// DefaultGoneAfter is the number of failed visits in a row after which a page is gone.
const DefaultGoneAfter = 3

// A Commit commits one entry, like [store.Index].
type Commit func(context.Context, *store.Entry) (store.Outcome, error)

// A Store is the part of a store that a pipeline needs.
type Store interface {
	store.Index
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
	Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error]
	End(ctx context.Context) (store.Cursor, error)
	Tally(ctx context.Context) (store.Tally, error)
	Meta(ctx context.Context, name string) ([]byte, error)
	SetMeta(ctx context.Context, name string, value []byte) error
	SwapMeta(ctx context.Context, name string, old, value []byte) error
	Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error]
	Requeue(ctx context.Context, items []frontier.Item) (int, error)
	Sync() error
}

// A Pipeline judges pages and stores them. Its methods are safe for concurrent use.
type Pipeline struct {
	store       pageStore
	opt         Options
	leaders     *leaderCache
	texts       sync.Pool // of *dedup.Text
	posting     int       // leaders read under one key
	counts      counts
	upkeep      upkeep
	softAnswers softAnswers
	hours       hours
	lessons     lessons
	listing     listing

	order    atomic.Pointer[precedence.Order] // nil: leaders never change
	electing electing                         // held while leaders change, see elect.go

	reading *memory.Pool // memory for the pages that are being read
	costs   costs
	flight  *flight
}

// New starts a pipeline into s. Close it.
func New(ctx context.Context, s Store, opt Options) (*Pipeline, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	flight, err := newFlight(ctx, s)
	if err != nil {
		return nil, err
	}
	if opt.Agent == "" {
		opt.Agent = robots.ProductToken(crawler.Defaults().UserAgent)
	}
	opt.GoneAfter = cmp.Or(opt.GoneAfter, DefaultGoneAfter)
	parts := memory.Divide(opt.Memory)
	p := &Pipeline{store: pageStore{s}, opt: opt, posting: dedup.MaxPosting, counts: counts{all: tally, began: time.Now(), shared: opt.Shared}, reading: memory.NewPool(parts.Reading), flight: flight}
	p.order.Store(opt.Order)
	p.texts.New = func() any { return new(dedup.Text) }
	p.leaders = newLeaderCache(s, opt.Rule, parts.Leaders)
	p.softAnswers.last = lru.New[answerOf](softAnswersKept, (*softAnswer).weigh)
	p.counts.pages.Store(tally.Pages())
	if _, err := p.listing.read(ctx, s); err != nil {
		return nil, err
	}
	if err := p.recall(ctx); err != nil {
		return nil, err
	}
	if p.hours.alone, err = store.LeftAlone(ctx, s); err != nil {
		return nil, err
	}
	p.upkeep.start(p)
	return p, nil
}

// Close ends the pipeline. All handled pages are in the store already. It returns the error of the
// last sync to disk.
func (p *Pipeline) Close() error { return p.upkeep.stop() }

// Sweep implements [crawler.Sweeper].
func (p *Pipeline) Sweep(ctx context.Context) (queued int, err error) {
	if p.opt.Learn == nil || !p.opt.Learn.Budget {
		return 0, nil
	}
	if queued, err = sweepLater(ctx, p.store, p.opt.Learn); err != nil {
		return 0, err
	}
	return queued, p.keepLearned(ctx)
}

// Handle judges and stores the result of a URL, and returns when it is stored. It implements
// [crawler.Handler]. Concurrent calls must not be for the same URL; the frontier ensures that.
func (p *Pipeline) Handle(ctx context.Context, page *crawler.Page, leads *crawler.Leads) error {
	if err := p.upkeep.failed(); err != nil {
		return err
	}
	s, err := p.crawled(ctx, page, leads)
	defer s.release()
	if err == nil {
		err = p.commit(ctx, s, p.committer(s, page))
	}
	if err != nil {
		return fmt.Errorf("judge %s: %w", page.Item.URL, err)
	}
	return nil
}

// crawled turns a page into a subject.
func (p *Pipeline) crawled(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (*subject, error) {
	s := subjectOf(page)
	known, err := p.store.record(ctx, s.record.ID)
	if err == nil && !answers(known, page) {
		err = p.take(ctx, s, page, leads)
	}
	if err == nil {
		err = p.meet(ctx, s, page, known)
	}
	return s, err
}

func subjectOf(page *crawler.Page) *subject {
	return &subject{record: recordOf(page), claim: page.Claim, item: page.Item, notModified: page.NotModified}
}

// answers reports whether the known record is from this visit already, written before a crash.
func answers(known *store.Record, page *crawler.Page) bool {
	return known != nil && known.Answers(&page.Item)
}

// take reads a page into a subject.
func (p *Pipeline) take(ctx context.Context, s *subject, page *crawler.Page, leads *crawler.Leads) error {
	if page.NotModified {
		return nil
	}
	s.leadTo(leads) // the leads that are known without reading the page
	if s.record.Kind != store.Page {
		return nil
	}
	if err := p.readInto(ctx, s, page, leads); err != nil {
		return err
	}
	return p.soften(ctx, s, page)
}

// meet compares a subject with the known record of its page.
func (p *Pipeline) meet(ctx context.Context, s *subject, page *crawler.Page, known *store.Record) error {
	switch {
	case answers(known, page): // the links were written before the record
		share := s.share
		*s = *subjectOf(page)
		s.known, s.before, s.state, s.share = true, known, known.End(), share
		return nil
	case page.NotModified && known == nil: // the record was deleted after the request
		s.record.Kind, s.record.Problem = store.Error, fmt.Sprintf("%s %d", crawler.ProblemStatus, page.Status)
	}
	s.state = s.record.End()
	s.record.Listed = s.record.Kind == store.Page && p.listing.has(s.record.ID)
	if known == nil {
		return nil
	}
	if err := p.weigh(ctx, s, known); err != nil {
		return err
	}
	s.read = s.record
	return p.comeBack(ctx, s, known)
}

// readInto reads a page into a subject. If the page cannot be read, the subject's record says so.
// The error is that of ctx.
func (p *Pipeline) readInto(ctx context.Context, s *subject, page *crawler.Page, leads *crawler.Leads) error {
	if n := p.flight.suspect(page.Item.URL); n >= maxDeaths {
		p.flight.end(page.Item.URL)
		s.deadly(n)
		return nil
	}
	err := p.readWithin(ctx, s, page, leads)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, extract.ErrNotText): // a feed still has links
		s.record.Kind = store.Other
		if sitemap.Begins(page.Body) { // found as a link, or in an archive
			s.record.Kind = store.Sitemap
		}
		s.record.Hash = dedup.HashOf(page.Body)
	case err != nil:
		s.broken(recordOf(page), err)
	}
	s.share.Keep(s.weighs())
	return nil
}

// guard turns a panic into an error. Pages can contain anything, and one that makes the code panic
// must not end the crawl.
func guard(read func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return read()
}

// broken turns the subject's record into that of a page that could not be read.
func (s *subject) broken(r store.Record, err error) {
	r.Kind, r.Problem, r.Detail = store.Error, string(crawler.ProblemInternal), err.Error()
	*s = subject{record: r, claim: s.claim, item: s.item, share: s.share}
}

// read extracts from a page all that is judged or followed, with a tree of at most tree bytes. It
// is pure.
func (p *Pipeline) read(s *subject, page *crawler.Page, leads *crawler.Leads, tree int64) error {
	doc, notText := p.extracting(tree).Parse(page.Body, page.Header.Get("Content-Type"))
	switch {
	case doc == nil:
		return notText
	case doc.Bound == extract.BoundTree && tree < most(len(page.Body)):
		return errOutgrown
	}
	p.obey(doc, page.Header)
	obeyLinks(doc, page.Header, page.Item.URL)
	out := p.outgoing(doc)
	if err := leads.Follow(out.links()); err != nil {
		return err
	}
	s.leadTo(leads)
	s.out = out.packed(page.Item.URL, leads.Targets)
	switch {
	case leads.Asked:
		s.record.DeadEnd = store.DeadEndNoFollow
	case len(doc.Links) == 0 && hasScript(page.Body):
		s.record.DeadEnd = store.DeadEndScripts
	}
	if notText != nil {
		return notText
	}
	s.describe(doc)
	base, err := frontier.NewBase(s.record.URL, doc.Base)
	if err != nil {
		return err
	}
	s.relate(doc, base)
	p.sketch(s, doc.Text)
	p.leftOut(s, doc.Left)
	s.pack(doc.Text, p.markdown(doc, base))
	return nil
}

var scriptTag = regexp.MustCompile(`(?i)<script[\s>]`)

// hasScript reports whether a document may have a script.
func hasScript(body []byte) bool { return scriptTag.Match(body) }

// obey adds the directives for this crawler, in a document and in the header of its answer, to
// those for all crawlers.
func (p *Pipeline) obey(doc *extract.Document, header http.Header) {
	ask, tag := doc.Asks[p.opt.Agent], robotsTag(header, p.opt.Agent)
	doc.NoIndex = doc.NoIndex || ask.NoIndex || tag.noindex
	doc.NoFollow = doc.NoFollow || ask.NoFollow || tag.nofollow
}

// commit judges a subject and writes it, and repeats that until the verdict still holds when it is
// written. Each repetition means that another page was committed, so the pipeline as a whole makes
// progress.
func (p *Pipeline) commit(ctx context.Context, s *subject, commit Commit) error {
	defer p.among(s)
	if s.known {
		p.alone(s)
		if err := p.goOnElecting(ctx, s.before); err != nil {
			return err
		}
	}
	if !s.known || !s.unsettles() {
		if err := p.writeDown(ctx, s, commit); err != nil {
			return err
		}
		if err := p.resoften(ctx, s); err != nil {
			return err
		}
		if err := p.afterwards(ctx, s); err != nil {
			return err
		}
	}
	if r := &s.record; r.Kind == store.Page && !r.Listed && p.listing.has(r.ID) { // the sitemap was read meanwhile
		p.alone(s)
		if err := p.markListed(ctx, []dedup.Hash{r.ID}); err != nil {
			return err
		}
	}
	if s.unsettles() {
		p.alone(s)
		if err := p.settle(ctx, s.record.ID); err != nil {
			return err
		}
	}
	if !s.endsLater() {
		return nil
	}
	return p.end(ctx, s)
}

// writeDown writes a subject, updates the counts and the book, and calls OnTouch.
func (p *Pipeline) writeDown(ctx context.Context, s *subject, commit Commit) error {
	defer p.lessons.begin()()
	outcome, err := p.write(ctx, s, commit)
	if err != nil {
		return err
	}
	p.counts.add(s, outcome)
	if s.touch && outcome == store.Written && p.opt.OnTouch != nil {
		p.opt.OnTouch(&s.record)
	}
	return p.learn(ctx, s, outcome)
}

// endsLater reports whether a subject's URL ends only after other pages were judged again.
func (s *subject) endsLater() bool {
	return s.unsettles() || s.changesLeaders()
}

// write judges a subject, and writes it together with the end of its URL. The URL of a page that
// led others ends later, when the pages that it led are settled.
func (p *Pipeline) write(ctx context.Context, s *subject, commit Commit) (store.Outcome, error) {
	for {
		s.asks = !s.alone
		if err := p.judge(ctx, s); err != nil {
			return store.Stale, err
		}
		if !s.alone && (s.wants || s.changesLeaders()) { // another subject may have changed the leaders since it was judged
			p.alone(s)
			continue
		}
		if !s.changesLeaders() && !s.known { // its verdict holds, or the store will refuse it
			p.among(s)
		}
		e := p.entry(s)
		if s.endsLater() {
			e.State = frontier.Unknown
		}
		switch outcome, err := commit(ctx, e); {
		case err != nil:
			return store.Stale, fmt.Errorf("write to the store: %w", err)
		case outcome == store.Lost:
			return store.Lost, frontier.ErrLost
		case outcome != store.Stale:
			return outcome, nil
		}
		if err := p.lookBack(ctx, s); err != nil {
			return store.Stale, err
		}
	}
}

// end ends the URL of a subject whose record is written.
func (p *Pipeline) end(ctx context.Context, s *subject) error {
	end := &store.Entry{Record: s.record, Claim: s.claim, State: s.state}
	outcomes, err := p.store.Commit(ctx, []*store.Entry{end})
	switch {
	case err != nil:
		return fmt.Errorf("write to the store: %w", err)
	case outcomes[0] == store.Lost:
		return frontier.ErrLost
	}
	return nil
}

// committer returns the function that commits a subject. If the subject has a record, its answer is
// in the archive already.
func (p *Pipeline) committer(s *subject, page *crawler.Page) Commit {
	if p.opt.Archive != nil && !s.known {
		return p.opt.Archive(page)
	}
	return func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		outcomes, err := p.store.Commit(ctx, []*store.Entry{e})
		if err != nil {
			return store.Stale, err
		}
		return outcomes[0], nil
	}
}

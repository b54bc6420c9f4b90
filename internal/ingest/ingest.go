// Package ingest is the pipeline: a page becomes a text, a sketch, a verdict and a record.
//
// Each page goes its way alone, from whatever goroutine brings it: it is read and
// sketched, looked up, compared exactly with the leaders it met, and committed
// under the mark of its look-up. If the store refuses it as stale, because a page
// that could have changed the verdict came meanwhile, it is looked up again. So of
// two copies fetched at once exactly one is unique, and nobody waits for a judge.
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
	"skink/internal/lastused"
	"skink/internal/memory"
	"skink/internal/precedence"
	"skink/store"
)

// Options is how pages are judged and what is kept of them.
type Options struct {
	Rule           dedup.Rule
	Markdown       store.Markdown      // what is kept beside each text
	GoneAfter      int                 // failed visits in a row after which a page is gone; 0: [DefaultGoneAfter]
	Order          *precedence.Order   // of hosts, by which a page takes the lead from another; nil: the page that came first leads
	SkipDuplicates bool                // keep no text of a duplicate, and follow none of its links
	Learn          *learn.Book         // told of each verdict; nil: nobody is
	Agent          string              // product token that pages may name in what they ask of crawlers; "": that of the default agent
	OnTouch        func(*store.Record) // told of each page whose visit found no change; nil: nobody is
	Limit          int64               // pages at which the crawl is to end: near it those of others are counted more often; 0: none
	Shared         bool                // others write to the store too, so what it holds is counted there every countEvery
	NoLinks        bool                // keep no links of a page in the store; they are followed all the same
	Memory         int64               // bytes that the whole process is to get along with, see [memory.Divide]; 0: [memory.Default]

	Archive func(*crawler.Page) Commit // how a page is committed together with its answer; nil: the answer is not kept
}

// DefaultGoneAfter is how many visits in a row may fail before a page is taken for gone.
const DefaultGoneAfter = 3

// A Commit commits what is known of a page, as [store.Index] does it for one entry.
type Commit func(context.Context, *store.Entry) (store.Outcome, error)

// A Store is what a pipeline needs of one.
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

// A Pipeline judges pages into a store. Its methods may be called from several goroutines.
type Pipeline struct {
	store       Store
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

	order    atomic.Pointer[precedence.Order] // nil: nobody takes the lead
	electing electing                         // held while leaders change, see elect.go

	reading *memory.Pool // what the pages that are being read may take
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
	p := &Pipeline{store: s, opt: opt, posting: dedup.MaxPosting, counts: counts{all: tally, began: time.Now(), shared: opt.Shared}, reading: memory.NewPool(parts.Reading), flight: flight}
	p.order.Store(opt.Order)
	p.texts.New = func() any { return new(dedup.Text) }
	p.leaders = newLeaderCache(s, opt.Rule, parts.Leaders)
	p.softAnswers.last = lastused.New[answerOf](softAnswersKept, (*softAnswer).weigh)
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

// Close ends the pipeline. All that it handled is in the store already. The error is that of the
// last attempt to make this survive a power cut.
func (p *Pipeline) Close() error { return p.upkeep.stop() }

// Handle judges and stores what became of a URL, and returns when it is stored. It implements
// [crawler.Handler]. No two calls at once may be about the same URL; the frontier sees to that.
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

// crawled makes a subject of a page.
func (p *Pipeline) crawled(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (*subject, error) {
	s := subjectOf(page)
	known, err := p.recordOf(ctx, s.record.ID)
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

// answers says whether what is known of a page is of this visit already, from before a crash.
func answers(known *store.Record, page *crawler.Page) bool {
	return known != nil && known.Answers(&page.Item)
}

// take reads a page into a subject, whatever is known of the page.
func (p *Pipeline) take(ctx context.Context, s *subject, page *crawler.Page, leads *crawler.Leads) error {
	if page.NotModified {
		return nil
	}
	s.leadTo(leads) // what is known before anyone has read the page
	if s.record.Kind != store.Page {
		return nil
	}
	if err := p.readInto(ctx, s, page, leads); err != nil {
		return err
	}
	return p.soften(ctx, s, page)
}

// meet holds a subject against what is known of its page.
func (p *Pipeline) meet(ctx context.Context, s *subject, page *crawler.Page, known *store.Record) error {
	switch {
	case answers(known, page): // the links were written before the record
		share := s.share
		*s = *subjectOf(page)
		s.known, s.before, s.state, s.share = true, known, known.End(), share
		return nil
	case page.NotModified && known == nil: // the record was lost since the page was asked for
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

// recordOf returns what the store knows of a page, nil if that is nothing.
func (p *Pipeline) recordOf(ctx context.Context, id dedup.Hash) (*store.Record, error) {
	pages, err := p.store.Pages(ctx, []dedup.Hash{id}, store.WantRecord)
	if err != nil || pages[0] == nil {
		return nil, err
	}
	return &pages[0].Record, nil
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
	case errors.Is(err, extract.ErrNotText): // a feed has links all the same
		s.record.Kind = store.Other
		if sitemap.Begins(page.Body) { // met as a link, or in an archive
			s.record.Kind = store.Sitemap
		}
		s.record.Hash = dedup.HashOf(page.Body)
	case err != nil:
		s.broken(recordOf(page), err)
	}
	s.share.Keep(s.weighs())
	return nil
}

// guard turns a panic into an error. People write anything into pages, and a page that makes the
// code panic must not end the crawl.
func guard(read func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return read()
}

// broken makes the subject's record that of a page that could not be read.
func (s *subject) broken(r store.Record, err error) {
	r.Kind, r.Problem, r.Detail = store.Error, string(crawler.ProblemInternal), err.Error()
	*s = subject{record: r, claim: s.claim, item: s.item, share: s.share}
}

// read takes from a page all that is judged or followed, with a tree of at most tree bytes. It is
// pure.
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

// hasScript says whether a document may have a script.
func hasScript(body []byte) bool { return scriptTag.Match(body) }

// obey adds what a document and the header of its answer ask of this crawler to what the document
// asks of every crawler.
func (p *Pipeline) obey(doc *extract.Document, header http.Header) {
	ask, tag := doc.Asks[p.opt.Agent], robotsTag(header, p.opt.Agent)
	doc.NoIndex = doc.NoIndex || ask.NoIndex || tag.noindex
	doc.NoFollow = doc.NoFollow || ask.NoFollow || tag.nofollow
}

// commit judges a subject and writes it, until its verdict holds at the moment it is written. Each
// time it does not, another page was committed, so the pipeline as a whole goes on.
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
	if r := &s.record; r.Kind == store.Page && !r.Listed && p.listing.has(r.ID) { // its sitemap was read meanwhile
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

// writeDown writes a subject, and tells those who want to know what became of it.
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

// endsLater says whether a subject's URL ends only when other pages were judged again.
func (s *subject) endsLater() bool {
	return s.unsettles() || s.changesLeaders()
}

// write judges a subject, and writes it together with how its URL ended. The URL of a page that has
// led others ends later, when the pages that it led are settled.
func (p *Pipeline) write(ctx context.Context, s *subject, commit Commit) (store.Outcome, error) {
	for {
		s.asks = !s.alone
		if err := p.judge(ctx, s); err != nil {
			return store.Stale, err
		}
		if !s.alone && (s.wants || s.changesLeaders()) { // another subject may have changed them since it was judged
			p.alone(s)
			continue
		}
		if !s.changesLeaders() && !s.known { // its verdict holds, or the store refuses it
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

// committer is how a subject is committed. If the subject has a record, its answer is in the
// archive already.
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

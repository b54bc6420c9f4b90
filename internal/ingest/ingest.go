// Package ingest implements the pipeline that turns a fetched page into a text, a sketch, a verdict
// and a record.
//
// # The path of one page
//
// [Pipeline.Handle] takes a page through four steps, in the goroutine that calls it. Each step
// returns a value that does not change afterwards.
//
//	crawler.Page ─ read.go ─▶ reading ─ visit.go ─▶ visit ─ judge.go ─▶ judgement ─ commit.go ─▶ store
//
// The steps are:
//
//   - Read: [Options.read] extracts the text, its sketch and keys, the links, and the metadata. It
//     is pure, except for PDF and other documents. Its caller, a reader, bounds memory (cost.go),
//     and gives up on pages that crash the process (flight.go).
//   - Visit: the reading is compared with the stored record. The page can be a soft 404 (soft.go),
//     or its host can have an outage (hour.go). In both cases the visit counts as failed. Then
//     [classify], which is pure, decides about the stored record: whether the page is unchanged,
//     has different words, could not be fetched, or is gone.
//   - Judge: the judge looks the sketch up in the store, compares the page exactly with the leaders
//     that it finds (leaders.go), and gives the verdict. It also decides whether the page should
//     replace its leader.
//   - Commit: the entry is written with the mark that its lookup returned. The store refuses it as
//     stale if a page that could have changed the verdict was committed in the meantime. The
//     reading is then compared and judged again. So if two copies are fetched at the same time,
//     exactly one is judged unique, without a global lock. If a leader has changed, the members of
//     its cluster are judged again (elect.go, members.go). The frontier records the URL as finished
//     only after that.
//
// Pages of an archive (replay.go) and files (files.go) take the same steps. Many of them are read at
// once, but they are committed in order.
//
// A Pipeline holds the state of a run. Separate types hold parts of it: the book of evidence
// (lessons.go), URLs listed in sitemaps (listed.go), counts (counts.go) and periodic work
// (upkeep.go).
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"time"

	"skink/base/batcher"
	"skink/base/lru"
	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/extract/selector"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/memory"
	"skink/store"
	"skink/store/precedence"
)

// Options configures how a Pipeline judges pages, and which page data it stores.
type Options struct {
	Rule           dedup.Rule
	Markdown       store.Markdown      // Markdown to keep with each text
	GoneAfter      int                 // number of failed visits in a row after which a page counts as gone; 0 means [DefaultGoneAfter]
	Order          *precedence.Order   // order of hosts, which decides the leader of a cluster; nil means that the first page to arrive leads
	SkipDuplicates bool                // do not keep the text of a duplicate, and do not follow its links
	Learn          *learn.Book         // learns from each verdict which URL patterns lead to duplicates; may be nil
	Agent          func(string) string // returns the user agent for a host; directives for a single crawler apply if they name its product token; nil means the default agent
	OnStored       func(*store.Record) // called with the result of each visit once it is in the store; may be nil
	Limit          int64               // page limit of the crawl, near which the pages of other workers are counted more often; 0 means no limit
	Shared         bool                // other workers also write to the store, so its pages are counted every countEvery
	NoLinks        bool                // do not store the links of pages, but follow them
	Requisites     bool                // find the files that pages need to look right, so that the crawler fetches them for the archive
	Anchors        bool                // keep the fragments of links, and the anchors that they lead to
	Temporary      bool                // the store is deleted when the command ends, so compress texts fast rather than well, and skip language detection if only the record would use the result
	Memory         int64               // bytes of memory for the whole process, see [memory.Divide]; 0 means [memory.Default]

	Select func(host string) selector.Rules // returns the selectors for the pages of a host; nil means that there are none

	Documents *document.Reader // reads PDF and other documents, and is closed with the pipeline; if nil, such files have no text
	// Screen, if not nil, is called by several goroutines for each record of Files with its text, and may
	// change both. If it returns a verdict, the record leaves: it is neither named nor judged nor stored.
	Screen func(context.Context, *corpus.Record, extract.Options, *corpus.Text) (leaves dedup.VerdictKind, err error)

	Archive func(*crawler.Page) EntryWriter // returns a writer that also writes the page's response to an archive; if nil, responses are not archived
}

// DefaultGoneAfter is the number of failed visits in a row after which a page counts as gone.
const DefaultGoneAfter = 3

// An EntryWriter commits one entry to a store, and returns whether the store accepted it.
type EntryWriter func(context.Context, *store.Entry) (store.Outcome, error)

// A PipelineStore is the part of a store that a pipeline needs.
type PipelineStore interface {
	store.Index
	store.Meta
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
	Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error]
	End(ctx context.Context) (store.Cursor, error)
	Tally(ctx context.Context) (store.Tally, error)
	Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error]
	Requeue(ctx context.Context, items []frontier.Item) (int, error)
	Sync() error
}

// A Pipeline judges pages and stores them. Its methods are safe for concurrent use.
type Pipeline struct {
	store     pageStore
	opt       Options
	touches   *batcher.Gatherer[*store.Entry, store.Outcome] // commits visits without a change
	reader    reader
	soft      softPages
	hours     hours
	listing   listing
	judge     judge
	elections elections
	lessons   lessons
	counts    counts
	upkeep    upkeep
}

// New starts a pipeline that judges pages and writes them to s. The caller must close it.
func New(ctx context.Context, s PipelineStore, opt Options) (*Pipeline, error) {
	tally, err := s.Tally(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the page counts: %w", err)
	}
	flight, err := newFlight(ctx, s)
	if err != nil {
		return nil, err
	}
	if opt.Agent == nil {
		opt.Agent = func(string) string { return crawler.Defaults().UserAgent }
	}
	opt.GoneAfter = cmp.Or(opt.GoneAfter, DefaultGoneAfter)
	parts, pages := memory.Divide(opt.Memory), pageStore{s}
	p := &Pipeline{
		store: pages, opt: opt, touches: batcher.NewGatherer(s.Commit),
		reader:  reader{opt: opt, memory: memory.NewPool(parts.Reading), flight: flight, documents: make(chan struct{}, opt.Documents.AtOnce())},
		soft:    softPages{store: pages, book: opt.Learn, answers: lru.New[answerOf](softAnswersKept, (*softAnswer).weigh)},
		hours:   hours{store: pages, goneAfter: opt.GoneAfter, hosts: map[string]*hour{}},
		judge:   judge{store: pages, opt: opt, leaders: newLeaderCache(s, opt.Rule, parts.Leaders), posting: dedup.MaxPosting},
		lessons: lessons{store: pages, book: opt.Learn, shared: opt.Shared},
		counts:  counts{all: tally, began: time.Now(), shared: opt.Shared, missed: map[[2]string]int{}},
	}
	p.elections.judge, p.elections.counts, p.elections.lessons = &p.judge, &p.counts, &p.lessons
	p.elections.locks = newElecting()
	p.soft.locks, p.hours.soft = p.elections.locks, &p.soft
	p.judge.order.Store(opt.Order)
	p.counts.pages.Store(tally.Pages())
	if err := p.listing.read(ctx, s); err != nil {
		return nil, err
	}
	if err := p.lessons.recall(ctx, &p.soft); err != nil {
		return nil, err
	}
	alone, err := store.LeftAlone(ctx, s)
	if err != nil {
		return nil, err
	}
	for host, was := range alone {
		p.hours.hosts[host] = &hour{was: was}
	}
	p.upkeep.start(p)
	return p, nil
}

// Close stops the pipeline. Pages for which Handle has returned are already in the store. The error
// is from the last sync to disk or from closing the documents reader.
func (p *Pipeline) Close() error { return errors.Join(p.upkeep.stop(), p.opt.Documents.Close()) }

// Handle judges the result of fetching a URL, and returns once the result is stored. It implements
// [crawler.Handler]. Concurrent calls must be for different URLs, which the frontier ensures.
func (p *Pipeline) Handle(ctx context.Context, page *crawler.Page, leads *crawler.Leads) error {
	if err := p.upkeep.failed(); err != nil {
		return err
	}
	if page.Item.Kind == crawler.Probing {
		return p.probed(ctx, page)
	}
	if err := p.lessons.enter(ctx, page.Item.URL, &p.soft); err != nil {
		return err
	}
	v, share, err := p.readAndVisit(ctx, page, leads)
	defer share.Release()
	if err == nil {
		err = p.commit(ctx, v, p.writer(v, page))
	}
	if err != nil {
		return fmt.Errorf("judge %s: %w", page.Item.URL, err)
	}
	return nil
}

// readAndVisit reads a page and compares it with its stored record. The caller must release the
// returned memory once the page is stored or dropped, even after an error.
func (p *Pipeline) readAndVisit(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (*visit, *memory.Share, error) {
	known, err := p.store.record(ctx, dedup.HashOf([]byte(page.Item.URL)))
	if err != nil {
		return nil, nil, err
	}
	var got *reading
	var share *memory.Share
	if !known.Answers(&page.Item) {
		if got, share, err = p.reader.read(ctx, page, leads); err != nil {
			return nil, share, err
		}
	}
	v, err := p.visit(ctx, page, got, known)
	return v, share, err
}

// SetOrder replaces the order of hosts that decides which page leads. The new order applies to
// pages that arrive later.
func (p *Pipeline) SetOrder(o *precedence.Order) { p.judge.order.Store(o) }

// A crawl uses type assertions to detect which of these interfaces its handler implements.
var _ interface {
	crawler.Handler
	crawler.Leaver
	crawler.Prober
	crawler.Sweeper
} = (*Pipeline)(nil)

// LeaveAlone returns the reason why the crawl must send no more requests to a host in this run, or
// "" if requests are allowed. It implements [crawler.Leaver].
func (p *Pipeline) LeaveAlone(host string) (why string) {
	p.hours.mu.Lock()
	defer p.hours.mu.Unlock()
	if o := p.hours.hosts[host]; o != nil {
		return o.Why
	}
	return ""
}

// probed handles the response to a URL that Probe returned.
func (p *Pipeline) probed(ctx context.Context, page *crawler.Page) error {
	got, share, err := p.reader.read(ctx, page, new(crawler.Leads))
	defer share.Release()
	if err != nil {
		return err
	}
	return p.soft.probed(ctx, got)
}

// Sweep queues the postponed URLs that are now worth fetching, and returns their number. The crawl
// calls it when nothing else is left to fetch. It implements [crawler.Sweeper].
func (p *Pipeline) Sweep(ctx context.Context) (queued int, err error) {
	if p.opt.Learn == nil || !p.opt.Learn.Budget {
		return 0, nil
	}
	if queued, err = sweepLater(ctx, p.store, p.opt.Learn); err != nil {
		return 0, err
	}
	return queued, p.lessons.keep(ctx, true)
}

// Visits returns the number of this run's visits to URLs that had been visited before the run, by
// result.
func (p *Pipeline) Visits() Visits {
	p.counts.mu.Lock()
	defer p.counts.mu.Unlock()
	return maps.Clone(p.counts.visits)
}

// Pages returns the number of pages in the store.
func (p *Pipeline) Pages() int64 { return p.counts.pages.Load() }

// Tally returns the number of records of each kind and verdict in the store.
func (p *Pipeline) Tally() store.Tally { return p.counts.snapshot(&p.counts.all) }

// Added returns the number of records of each kind and verdict that this pipeline has added for
// URLs that had none before.
func (p *Pipeline) Added() store.Tally { return p.counts.snapshot(&p.counts.news) }

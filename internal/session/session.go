// Package session runs a crawl from its options to its summary. It does not depend on the command
// line: [Run] takes options, an open store and an output. Its messages name the flags of skink
// crawl, because users set the options with these flags.
//
// A run has phases: agree with the store on a rule, join the other workers, make a list of URLs to
// fetch, open the archive and the consumers, crawl, and summarize. A run that stays repeats the phases
// after the second; see forever.go.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"skink/crawler"
	"skink/crawler/access"
	"skink/crawler/folder"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/extract/selector"
	"skink/frontier"
	"skink/internal/archive"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
	"skink/store/disk"
	"skink/store/precedence"
)

// A run holds the values that all steps of a run use. They do not change, except those of lasting.
type run struct {
	lasting
	opt      *Options
	store    *NamedStore
	out      Output
	rule     dedup.Rule
	settings store.Settings // may differ from the wanted ones
	began    time.Time
}

// Run crawls into a store until nothing is left to fetch, a limit is reached, or ctx ends. With
// Options.Forever, it sleeps when nothing is left to fetch, and goes on when a page is due. If the
// run is interrupted, Run returns no error, and the summary records the interruption. If the run
// fetches nothing, Run returns an error with the reason, even if no step failed.
func Run(ctx context.Context, s *NamedStore, opt Options, out Output) (sum Summary, err error) {
	began := time.Now()
	rule, settings, err := Agree(ctx, s, s.Name, opt.Wanted)
	if err != nil {
		return sum, err
	}
	opt.Crawl.Worker = crawler.WorkerName(opt.Crawl.Worker)
	r := &run{opt: &opt, store: s, out: out, rule: rule, settings: settings, began: began}
	if r.present, err = join(ctx, s, opt.Crawl.Worker); err != nil {
		return sum, err
	}
	defer func() { err = cmp.Or(err, r.present.leave(ctx)) }()
	ctx, r.stop = context.WithCancel(ctx)
	r.life = ctx
	defer func() { err = cmp.Or(err, r.lasting.close()) }()
	for {
		ctx := r.reloading.begin(r.life)
		sum, err = r.round(ctx)
		asleep := err == nil && r.opt.Forever && sum.End.Over()
		if asleep {
			err = r.sleep(ctx)
		}
		next := r.reloading.take(!asleep && (err == nil && !sum.End.Interrupted || err != nil && !errors.Is(err, context.Canceled)))
		switch {
		case r.life.Err() == nil && next != nil:
			r.opt, r.settings = next, next.Wanted.Settings
		case asleep && r.life.Err() != nil:
			out.finish(sum)
			return sum, nil
		case errors.Is(err, context.Canceled) && r.steer != nil && (r.opt.Forever || r.steer.ordered.Load()): // between two crawls
			sum.End = Ending{Interrupted: true, Ordered: r.steer.ordered.Load()}
			return sum, sum.count(context.WithoutCancel(ctx), s)
		case err != nil || !asleep:
			return sum, err
		}
	}
}

// round goes through the phases of a crawl once.
func (r *run) round(ctx context.Context) (sum Summary, err error) {
	s, opt := r.store, r.opt
	p, err := r.plan(ctx)
	if err != nil {
		return sum, err
	}
	kept, err := r.resumeArchive(ctx)
	defer func() { err = cmp.Or(err, kept.Close()) }()
	if err != nil {
		return sum, err
	}
	left, firstDue, err := r.anythingLeft(ctx, p)
	switch {
	case err != nil:
		return sum, err
	case !left:
		return sum, r.nothingLeft(ctx, p, firstDue)
	case opt.Crawl.CheckAssets && r.settings.NoLinks:
		return sum, usagef("--check-assets needs links, but %s was created with --links off: omit the flag, or choose another --store", s.Name)
	}
	order, err := orderHosts(ctx, s, opt.Prefer, p.seeds.hosts())
	if err != nil {
		return sum, err
	}
	if kept == nil {
		if kept, err = r.openArchive(ctx); err != nil {
			return sum, err
		}
	}
	r.archiveOrder(kept, order)
	end, err := r.crawl(ctx, p, order, kept)
	if err = cmp.Or(err, kept.Close()); err == nil && ctx.Err() == nil {
		err = r.adopt(ctx)
	}
	if err == nil {
		sum, err = r.summarize(ctx, p, end)
	}
	sum.Began = end.running != nil
	return sum, err
}

// Stopped adds the command that continues the crawl to a store error that stopped it.
func (o *Options) Stopped(err error) error {
	if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrAway) || errors.Is(err, disk.ErrFiles) {
		return fmt.Errorf("the crawl stopped: %w; continue with: %s", err, o.Resume(Ending{}))
	}
	return err
}

type outcome struct {
	*running       // nil if the crawl did not begin
	stop     error // errMaxTime or context.Canceled; nil if there was nothing left to fetch
	unsent   bool  // some pages have not been sent to the search index
	refused  error // set if the search index has refused pages
}

var errMaxTime = errors.New("the run has reached --max-time")

func isStop(err error) bool {
	return errors.Is(err, errMaxTime) || errors.Is(err, context.Canceled)
}

func (r *run) crawl(ctx context.Context, p plan, order *precedence.Order, kept *archive.Archive) (end outcome, err error) {
	following, err := r.openConsumers(ctx)
	if err != nil {
		return end, err
	}
	if err := r.openMonitor(); err != nil {
		return end, errors.Join(err, r.closeConsumers(ctx, following))
	}
	log, err := openCrawlLog(r.opt.CrawlLog)
	if err != nil {
		return end, errors.Join(err, r.closeConsumers(ctx, following))
	}
	defer func() { err = cmp.Or(err, log.close()) }()
	var urls *urlLog
	if r.opt.LogURLs {
		urls = &urlLog{log: r.out.Log}
	}
	with := *r.store
	if kept != nil {
		with.Store = inStep{r.store.Store, kept}
	}
	s := r.meter.timed(&with)
	book := r.book(p.crawl.Folders)
	judging := r.judging(&p.crawl, order)
	judging.Anchors, judging.Limit, judging.Requisites = r.opt.Anchors, p.crawl.MaxPages, p.crawl.Requisites
	judging.Learn, judging.OnStored = book, urls.add
	if kept != nil {
		judging.Archive = kept.Answer
	}
	pipeline, err := ingest.New(ctx, s, judging)
	if err != nil {
		return end, errors.Join(err, r.closeConsumers(ctx, following))
	}
	unstarted := func(err error) (outcome, error) {
		return end, errors.Join(err, pipeline.Close(), r.closeConsumers(ctx, following))
	}
	o := p.crawl
	o.Connections = affordable(o.Connections, disk.FileLimit())
	m := &moves{run: r, pipeline: pipeline, seeds: p.seeds, options: &o, archived: func(order *precedence.Order) { r.archiveOrder(kept, order) }}
	o.OnSeed = func(from, to string) error { return m.moved(ctx, from, to) }
	o.Rules = o.RulesOf(judging.Anchors)
	if kept != nil || r.settings.Reselected {
		o.MayConfirm = func(ctx context.Context, url string) (bool, error) { // status 304 (Not Modified) can only refer to what the archive has, and to pages that were read with the selectors that apply now
			known, err := recordOf(ctx, r.store, url)
			return known != nil && (kept == nil || kept.Has(known)) && known.Selectors == judging.Select(frontier.HostOf(url)).ID(), err
		}
	}
	if kept != nil {
		o.OnAnswer, o.Posted = kept.Keep, kept.Posted
		if o.OnReused = p.again.reusedFile; o.Requisites {
			o.SharedFiles = func(ctx context.Context) (int, error) {
				if r.shared.Swap(true) {
					return 0, nil
				}
				return p.again.sharedFiles(ctx)
			}
		}
	}
	o.OnPage = func(page *crawler.Page) {
		if page.Status == http.StatusOK {
			r.shared.Store(false)
		}
		r.meter.observe(page)
		urls.answered(page)
		log.add(page)
	}
	o.OnRefused, o.Referrers = log.add, log != nil
	if o.Spent, err = spent(ctx, r.store, &o); err != nil {
		return unstarted(err)
	}
	o.Learned, o.Sites = book, r.store
	crawl, err := crawler.New(s, o, pipeline)
	if err != nil {
		return unstarted(err)
	}
	m.crawl = crawl
	counts, back, err := r.begin(ctx, p)
	if err != nil {
		crawl.Close()
		return unstarted(err)
	}
	r.out.Say("%s", r.greeting(counts, pipeline.Pages(), back))
	return r.drive(ctx, &running{r.store, pipeline, crawl, r.now.Load().fetched(), time.Now()}, m.sown, following)
}

// judging returns the options for judging pages by the settings of the store. o says how they are
// fetched.
func (r *run) judging(o *crawler.Options, order *precedence.Order) ingest.Options {
	var hosts access.Table
	for pattern, rules := range r.settings.Selectors {
		hosts = append(hosts, access.Host{Pattern: pattern, Select: rules})
	}
	return ingest.Options{
		Select: func(host string) selector.Rules { return hosts.For(host).Select },
		Rule:   r.rule, Order: order, Agent: o.AgentFor, Shared: r.store.Shared,
		Markdown: r.settings.Markdown, NoLinks: r.settings.NoLinks, SkipDuplicates: r.settings.SkipTexts,
		GoneAfter: r.opt.GoneAfter, Memory: r.opt.Memory, Documents: DocumentsOf(r.settings, r.opt.Memory),
	}
}

// drive runs a crawl that is ready to start, together with its consumers, its view and its progress
// reports. The function sown adds a seed to it.
func (r *run) drive(ctx context.Context, v *running, sown func(context.Context, string) error, following consumers) (end outcome, err error) {
	end.running = v
	run, stopRun := context.WithCancel(ctx)
	defer stopRun()
	if err := r.attend(v, sown); err != nil {
		v.crawl.Close()
		return end, errors.Join(err, v.pipeline.Close(), r.closeConsumers(ctx, following))
	}
	defer watch(ctx, progress{r.out, v})()
	defer r.account(ctx, v)()
	defer r.steer.leave()
	if r.opt.Forever {
		var extending sync.WaitGroup
		defer extending.Wait()
		defer stopRun()
		extending.Go(func() { r.extend(run, r.selected) })
	}
	late, cancelLate := crawler.Late(run, r.opt.Crawl.Grace)
	defer cancelLate()
	err = following.run(run, late, func(ctx context.Context) error { return runFor(ctx, v.crawl, r.opt.MaxTime) })
	v.crawl.Close()
	if err != nil && !errors.Is(err, errMaxTime) {
		stopRun() // starts the grace period, unless it has already begun
	}
	closeErr := v.pipeline.Close()
	unsent, followErr := following.close(late)
	if end.unsent = unsent; unsent {
		err = cmp.Or(err, context.Canceled)
	}
	if err == nil || isStop(err) {
		err = cmp.Or(errors.Join(closeErr, followErr), err) // an error after the stop takes precedence: pages in flight may not have been stored
	}
	if err != nil && !isStop(err) {
		return end, err
	}
	end.stop, end.refused = err, following.refused()
	return end, nil
}

// runFor runs the crawl for at most the given time; 0 means no limit. It returns errMaxTime if the
// time has passed.
func runFor(ctx context.Context, crawl *crawler.Crawl, most time.Duration) error {
	if most == 0 {
		return crawl.Run(ctx)
	}
	timed, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := crawl.Run(timed)
	if errors.Is(err, context.DeadlineExceeded) { // ignore later errors from pages that were still being fetched
		return errMaxTime
	}
	return err
}

func (r *run) summarize(ctx context.Context, p plan, end outcome) (sum Summary, err error) {
	stopped := ctx
	ctx = context.WithoutCancel(ctx)
	sum = Summary{
		Renders: r.opt.Crawl.Renders(),
		Added:   end.pipeline.Added(), Visits: end.pipeline.Visits(), Rule: r.rule, Took: time.Since(end.started),
		Store: r.store.Name, Archive: r.opt.Archive.Dir, Demanding: end.crawl.Demanding(), Alone: end.crawl.LeftAlone(), Overrides: r.overrides(),
		End: r.endOf(end), Missed: end.pipeline.Missed(),
	}
	sum.End.Insecure = r.opt.Crawl.Insecure
	if !end.unsent {
		sum.Feed = r.opt.Feed
	}
	if err := sum.count(ctx, r.store); err != nil {
		return sum, err
	}
	if err := noteAlone(ctx, r.store, sum.Alone); err != nil {
		return sum, err
	}
	if sum.Postponed, err = report.PostponedIn(ctx, r.store); err != nil {
		return sum, err
	}
	if sum.Only, err = whyFew(ctx, r.store, sum.All, sum.URLs); err != nil {
		return sum, err
	}
	sum.Again = r.opt.Resume(sum.End)
	if !(r.opt.Forever && sum.End.Over()) && r.reloading.next.Load() == nil {
		r.out.finish(sum)
	}
	switch {
	case sum.End.Over():
		err = r.endCrawl(stopped, p)
	case !sum.End.Interrupted:
		err = r.keepFindings(stopped)
	}
	switch {
	case sum.End.Interrupted || err != nil:
		return sum, err
	case fetchedNothing(sum.All):
		return sum, nothingFetched(ctx, r.store, r.began, sum.Alone...)
	case r.opt.Forever && end.refused != nil:
		r.out.Say("%v", end.refused)
		return sum, nil
	}
	return sum, end.refused
}

func (r *run) endOf(end outcome) Ending {
	o := &r.opt.Crawl
	switch {
	case errors.Is(end.stop, errMaxTime):
		return Ending{Limit: fmt.Sprintf("--max-time %v", r.opt.MaxTime)}
	case end.stop != nil:
		return Ending{Interrupted: true, Ordered: r.steer.ordered.Load()}
	case o.MaxPages > 0 && end.pipeline.Pages() >= o.MaxPages:
		return Ending{Limit: fmt.Sprintf("--max-pages %d", o.MaxPages)}
	case o.MaxBytes > 0 && end.crawl.Fetched() >= o.MaxBytes:
		return Ending{Limit: "--max-bytes " + report.Size(o.MaxBytes)}
	}
	var e Ending
	for _, h := range end.crawl.Hosts() {
		if h.Budget {
			e.Spent++
		}
	}
	return e
}

const keptFiles = 128

// affordable returns how many of the requested connections can be used at once if the process may
// open the given number of files; 0 means no limit. Each connection is an open file, and the same
// number of idle connections may be kept open. If the system refused to open another file, the
// crawl would treat the host as down.
func affordable(connections int, files int64) int {
	if files == 0 {
		return connections
	}
	return int(min(int64(connections), max((files-keptFiles)/2, 1)))
}

// spent returns the number of pages and bytes that earlier runs fetched from each host. If the
// options do not limit them, it returns nil without reading the store.
func spent(ctx context.Context, s store.Reader, o *crawler.Options) (map[string]crawler.Spent, error) {
	if !o.HasHostBudgets() {
		return nil, nil
	}
	all := map[string]crawler.Spent{}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return nil, fmt.Errorf("count the pages of each host: %w", err)
		}
		r := &page.Record
		host := frontier.HostOf(r.URL)
		of := all[host]
		if r.Requisite {
			of.Requisites += r.Size
		} else {
			if r.Kind == store.Page || r.Kind == store.Other {
				of.Pages++
			}
			of.Bytes += r.Size
		}
		all[host] = of
	}
	return all, nil
}

// noteAlone records in the store the hosts to which the crawl has stopped sending requests. The
// pipeline may already have recorded some of them.
func noteAlone(ctx context.Context, s store.Meta, alone []crawler.LeftHost) error {
	if len(alone) == 0 {
		return nil
	}
	return store.ChangeAlone(ctx, s, func(hosts map[string]store.Alone) {
		for _, h := range alone {
			if was := hosts[h.Host]; was.Why != h.Why {
				hosts[h.Host] = store.Alone{Why: h.Why, At: time.Now().UTC(), Turned: was.Turned}
			}
		}
	})
}

// book returns the book in which the crawl records what it learns about URL patterns, or nil if the
// options disable learning. Local folders are exempt, because reading their files does not burden a
// server.
func (r *run) book(folders []folder.Site) *learn.Book {
	if !r.opt.Learn {
		return nil
	}
	book := ingest.NewBook(r.store)
	book.Budget, book.Audit, book.Shared = r.opt.Budget, r.opt.Audit, r.store.Shared
	book.Exempt = map[string]bool{}
	for _, f := range folders {
		book.Exempt[f.Host] = true
	}
	return book
}

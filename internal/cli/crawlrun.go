package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"skink/crawler"
	"skink/crawler/robots"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/archive"
	"skink/internal/disk"
	"skink/internal/harmless"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
)

// A crawlRun is one run of skink crawl, with its store open.
type crawlRun struct {
	*crawlFlags // of the command line: read only
	options     crawler.Options
	con         Console
	began       time.Time
	back        back            // which URLs to visit again
	round       round           // round that this run begins or continues
	named       []frontier.Item // seeds on the command line
	firstDue    time.Time       // when the first of the pages that are not due yet is due, as far as known
	judgedBy    dedup.Rule
	markdown    store.Markdown // which Markdown is kept with each text
	store       *writeStore
	archive     *archive.Archive // nil: answers are not kept
	movedMu     sync.Mutex
	seeds       seeds // guarded by movedMu once the crawl runs
	lost        []lostFolder
	onPage      []func(*crawler.Page) // called after every fetch
	onTouch     func(*store.Record)   // called after visits without a change
	planted     bool                  // the seeds are in the store
	present     *presence             // this worker's line among the workers of the store
	result      error                 // error for the exit code of a run that did not fail

	say          sayer
	stdinIsSeeds bool
}

func (c *crawlRun) run(ctx context.Context, args []string, given seeds) (err error) {
	rule, set, err := c.rule.agree(ctx, c.store, c.name())
	if err != nil {
		return err
	}
	c.judgedBy, c.markdown = rule, set.Markdown
	if c.present, err = c.join(ctx); err != nil {
		return err
	}
	defer func() { err = keepFirst(err, c.present.leave(ctx)) }()
	if err := c.gather(ctx, given); err != nil {
		return err
	}
	if c.round, err = c.openRound(ctx); err != nil {
		return err
	}
	if err := c.resumeArchive(ctx); err != nil {
		return errors.Join(err, c.closeArchive())
	}
	switch left, err := c.anythingLeft(ctx); {
	case err != nil:
		return errors.Join(err, c.closeArchive())
	case !left:
		return errors.Join(c.nothingLeft(ctx, args), c.closeArchive())
	}
	if c.options.CheckAssets && set.NoLinks {
		return usagef("--check-assets needs the links that %s does not keep: leave --check-assets out, or choose another --store", c.name())
	}
	order, err := orderHosts(ctx, c.store, c.name(), c.prefer, &c.seeds)
	if err != nil {
		return errors.Join(err, c.closeArchive())
	}
	opt := ingest.Options{
		Rule:           rule,
		Markdown:       set.Markdown,
		NoLinks:        set.NoLinks,
		Order:          order,
		SkipDuplicates: set.SkipTexts,
		GoneAfter:      c.again.goneAfter,
		Shared:         c.store.shared,
		Limit:          c.options.MaxPages,
		Agent:          robots.ProductToken(c.options.UserAgent),
		Memory:         int64(*c.memory),
		Learn:          c.lessons(),
	}
	if opt.Learn != nil {
		c.options.Learned = opt.Learn
		if c.back.due {
			c.options.OnDated = func(ctx context.Context, listed []crawler.Dated) error { return c.dated(ctx, opt.Learn, listed) }
		}
	}
	if err := c.openArchive(ctx); err != nil {
		return err
	}
	opt.Archive = c.archiving()
	following, err := c.openConsumers(ctx)
	if err != nil {
		return errors.Join(err, c.closeArchive())
	}
	opt.OnTouch = c.onTouch
	pipeline, err := ingest.New(ctx, c.store, opt)
	if err != nil {
		return errors.Join(err, c.closeConsumers(ctx, following), c.closeArchive())
	}
	return c.hint(c.crawl(ctx, pipeline, following))
}

func (c *crawlRun) name() string { return c.store.name }

// nothingLeft ends a crawl that has nothing to do.
func (c *crawlRun) nothingLeft(ctx context.Context, args []string) error {
	tally, err := c.store.Tally(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 && len(c.seeds.items()) == 0 {
		return usagef("no seeds, and no crawl to resume in %s: name a URL, a file of URLs, or a folder", c.name())
	}
	if err := c.completeFeed(ctx); err != nil {
		return err
	}
	if err := c.plant(ctx); err != nil { // the seeds may include a folder that moved
		return err
	}
	if fetchedNothing(tally) {
		return c.nothingFetched(ctx)
	}
	if text := c.nothingBack(); text != "" {
		c.say.line("%s", text)
	} else {
		c.say.line("Nothing is left to do: the crawl in %s is finished, with %s. To come back to those that are due: %s --recrawl due; to all: --recrawl 0s; to try again what failed: --retry.", c.name(), report.Counted(tally.Pages(), "page"), c.withStore("skink crawl"))
	}
	switch c.feed {
	case "":
	case "-":
		c.say.line("This run judged no page, so --feed - prints none: all of them are printed by %s", c.withStore("skink export"))
	default:
		c.say.line("the feed is in %s", c.feed)
	}
	return nil
}

// withStore returns a command line for this run's store.
func (c *crawlRun) withStore(command string) string {
	if c.name() == defaultStore {
		return command
	}
	return command + " --store " + harmless.Quoted(c.name())
}

// completeFeed updates the feed's file from the store. A crawl that has work to do does the same
// when it begins.
func (c *crawlRun) completeFeed(ctx context.Context) error {
	f, err := c.openFeed(ctx)
	if err != nil || f == nil {
		return err
	}
	following := consumers{[]consumer{*f}, c.say}
	if err := c.closeConsumers(ctx, following); err != nil {
		return err
	}
	return following.refused()
}

// errMaxTime means that the time of this run is over.
var errMaxTime = errors.New("--max-time has passed")

// crawl runs the crawler with the pipeline, and prints its progress and its summary.
func (c *crawlRun) crawl(ctx context.Context, pipeline *ingest.Pipeline, following consumers) (err error) {
	unstarted := func(err error) error {
		return errors.Join(err, pipeline.Close(), c.closeConsumers(ctx, following), c.closeArchive())
	}
	if err := c.readSpent(ctx); err != nil {
		return unstarted(err)
	}
	outside, err := c.openMonitor()
	if err != nil {
		return unstarted(err)
	}
	c.options.OnSeed = func(from, to string) error { return c.moved(ctx, pipeline, from, to) }
	c.options.OnListed = pipeline.Listed
	c.options.OnPage = c.answered
	options := c.options
	options.Connections = affordable(options.Connections, disk.FileLimit())
	crawl, err := crawler.New(c.store, options, pipeline)
	if err != nil {
		return unstarted(errors.Join(err, outside.close()))
	}
	counts, back, err := c.begin(ctx)
	if err != nil {
		crawl.Close()
		return unstarted(errors.Join(err, outside.close()))
	}
	c.say.line("%s", c.greeting(counts, pipeline.Pages(), back))
	started := time.Now()
	v := &running{c.store, pipeline, crawl, started}
	outside.show(v)
	c.present.tell(ctx, func(w *workerState) {
		added := pipeline.Added()
		w.Hosts, w.InFlight, w.Pages = crawl.Held(), crawl.InFlight(), added.Pages()
	})
	run, stopRun := context.WithCancel(ctx)
	defer stopRun()
	endView, err := c.openView(ctx, v, stopRun)
	if err != nil {
		crawl.Close()
		return unstarted(errors.Join(err, outside.close()))
	}
	stop := c.watch(ctx, v)
	late, cancelLate := withGrace(run, c.options.Grace)
	defer cancelLate()
	err = following.while(run, late, func(ctx context.Context) error { return c.runFor(ctx, crawl) })
	err = keepFirst(err, endView())
	crawl.Close()
	if err != nil && !errors.Is(err, errMaxTime) {
		stopRun() // the grace period begins, if it has not begun
	}
	closeErr := pipeline.Close()
	unsent, followErr := following.close(late)
	closeErr = errors.Join(closeErr, followErr, c.closeArchive())
	if closeErr == nil && ctx.Err() == nil {
		closeErr = c.adopt(ctx)
	}
	fedTo := c.feed
	if unsent {
		err, fedTo = cmp.Or(err, context.Canceled), ""
	}
	if err == nil || isStop(err) {
		err = cmp.Or(closeErr, err) // pages in flight at the stop could not be stored
	}
	stop()
	err = keepFirst(err, outside.close())

	if err != nil && !isStop(err) {
		return err
	}
	after, countErr := c.store.Counts(context.WithoutCancel(ctx))
	if countErr != nil {
		return countErr
	}
	tally, countErr := c.store.Tally(context.WithoutCancel(ctx)) // other workers may have added to it
	if countErr != nil {
		return countErr
	}
	end := c.endOf(err, pipeline, crawl)
	if end.lost, err = c.pendingLost(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if end.over() { // the round is complete
		if err := c.writeRound(context.WithoutCancel(ctx), round{}); err != nil {
			return err
		}
	}
	alone := crawl.LeftAlone()
	if err := noteAlone(context.WithoutCancel(ctx), c.store, alone); err != nil {
		return err
	}
	postponed, err := report.PostponedIn(context.WithoutCancel(ctx), c.store, "")
	if err != nil {
		return err
	}
	later, err := countPostponed(context.WithoutCancel(ctx), c.store, after, tally)
	if err != nil {
		return err
	}
	only, err := c.whyOnlyOne(context.WithoutCancel(ctx), tally, after)
	if err != nil {
		return err
	}
	c.say.summary(summary{
		added: pipeline.Added(), visits: pipeline.Visits(), all: tally, urls: after, later: later, rule: c.judgedBy, took: time.Since(started),
		store: c.name(), bytes: c.store.size(), feed: fedTo, archive: c.crawlFlags.archive.dir, demanding: crawl.Demanding(), alone: alone, postponed: postponed, only: only,
		end: end, again: c.resume(end),
	})
	if end.interrupted {
		c.result = exitError(exitFailed)
	} else if fetchedNothing(tally) {
		c.result = c.nothingFetched(ctx, alone...)
	} else {
		c.result = following.refused()
	}
	return nil
}

// noteAlone writes to the store which hosts got no more requests. The pipeline may have done so
// already.
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

// answered calls all functions of onPage.
func (c *crawlRun) answered(p *crawler.Page) {
	for _, tell := range c.onPage {
		tell(p)
	}
}

// isStop reports whether a crawl ended because it was stopped.
func isStop(err error) bool {
	return errors.Is(err, errMaxTime) || errors.Is(err, context.Canceled)
}

// runFor runs the crawl within --max-time. The error is errMaxTime when that has passed.
func (c *crawlRun) runFor(ctx context.Context, crawl *crawler.Crawl) error {
	if c.maxTime == 0 {
		return crawl.Run(ctx)
	}
	timed, cancel := context.WithTimeout(ctx, c.maxTime)
	defer cancel()
	err := crawl.Run(timed)
	if errors.Is(err, context.DeadlineExceeded) { // ignore later errors of pages that were still in flight
		return errMaxTime
	}
	return err
}

// readSpent counts what earlier runs fetched from each host, if hosts have a budget. It is skipped
// otherwise, because it reads all records.
func (c *crawlRun) readSpent(ctx context.Context) error {
	if c.options.HostBudget == (crawler.Budget{}) {
		return nil
	}
	c.options.Spent = map[string]crawler.Spent{}
	for page, err := range c.store.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return fmt.Errorf("count what hosts have spent: %w", err)
		}
		r := &page.Record
		host := frontier.HostOf(r.URL)
		spent := c.options.Spent[host]
		if r.Kind == store.Page || r.Kind == store.Other {
			spent.Pages++
		}
		spent.Bytes += r.Size
		c.options.Spent[host] = spent
	}
	return nil
}

// endOf returns why a crawl ended while URLs are pending.
func (c *crawlRun) endOf(err error, pipeline *ingest.Pipeline, crawl *crawler.Crawl) ending {
	o := &c.options
	switch {
	case errors.Is(err, errMaxTime):
		return ending{limit: fmt.Sprintf("--max-time %v", c.maxTime)}
	case err != nil:
		return ending{interrupted: true}
	case o.MaxPages > 0 && pipeline.Pages() >= o.MaxPages:
		return ending{limit: fmt.Sprintf("--max-pages %d", o.MaxPages)}
	case o.MaxBytes > 0 && crawl.Fetched() >= o.MaxBytes:
		return ending{limit: "--max-bytes " + c.maxBytes.String()}
	}
	var end ending
	for _, h := range crawl.Hosts() {
		if h.Budget {
			end.spent++
		}
	}
	return end
}

// keepFirst returns the first error: a later error that it caused would only hide it.
func keepFirst(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// hint adds a suggestion to an error of a crawl that has begun.
func (c *crawlRun) hint(err error) error {
	if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrAway) {
		return fmt.Errorf("the crawl stopped, nothing is lost: %w: it is resumed with: %s", err, c.resume(ending{}))
	}
	return err
}

func (c *crawlRun) greeting(counts frontier.Counts, pages, back int64) string {
	if back > 0 && back == counts.Pending {
		return fmt.Sprintf("Coming back to %s of the crawl in %s", report.Counted(back, "URL"), c.name())
	}
	if pages == 0 && counts.Fetched == 0 {
		return fmt.Sprintf("Crawling %s into %s", report.Counted(counts.Pending, "seed"), c.name())
	}
	verb := "Resuming"
	if c.add {
		verb = "Adding to"
	}
	return fmt.Sprintf("%s the crawl in %s: %s stored, %s to fetch", verb, c.name(), report.Counted(pages, "page"), report.Counted(counts.Pending, "URL"))
}

// fetchedNothing reports whether the store holds neither pages nor other files.
func fetchedNothing(t store.Tally) bool { return t.Pages()+t.Other == 0 }

// nothingFetched returns an error that says why a crawl has no page. It is the first that applies
// of: the first problem, the first redirect out of the scope, a circle of redirects, a missing
// folder, and the first host that got no more requests.
func (c *crawlRun) nothingFetched(ctx context.Context, alone ...crawler.LeftHost) error {
	why := errors.New("no page was fetched")
	if len(alone) > 0 {
		why = fmt.Errorf("no page was fetched: %s was left alone: %s", alone[0].Host, alone[0].Why)
	}
	if len(c.lost) > 0 {
		why = fmt.Errorf("no page was fetched: the folder %s is missing", c.lost[0].Dir)
	}
	circle, err := c.redirectCircle(ctx)
	if err != nil {
		return err
	}
	if circle != "" {
		why = fmt.Errorf("no page was fetched: %s", circle)
	}
	moved := false
	for page, err := range c.store.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return err
		}
		r := &page.Record
		if r.Problem != "" {
			return fmt.Errorf("no page was fetched: %s: %s%s", r.URL, problemText(r), c.ago(r))
		}
		if moved || r.Location == "" {
			continue
		}
		switch state, err := c.store.State(ctx, r.Location); {
		case err != nil:
			return err
		case state == frontier.Outside:
			moved = true
			why = fmt.Errorf("no page was fetched: %s leads to %s, which is outside the crawl: add it as a seed, or widen --scope", r.URL, r.Location)
		}
	}
	return why
}

func problemText(r *store.Record) string {
	text := r.Problem
	if r.Detail != "" && r.Detail != r.Problem {
		text += ": " + r.Detail
	}
	return text + adviceOn(r.Problem)
}

// adviceOn returns advice with the flag that avoids a problem, or "" if there is none.
func adviceOn(problem string) string {
	if problem == string(crawler.ProblemPrivate) {
		return "; --allow-private names hosts that are fetched all the same"
	}
	return ""
}

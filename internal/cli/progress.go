package cli

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"skink/crawler"
	"skink/internal/ingest"
	"skink/store"
)

// These say how often progress is shown: in a line that is overwritten, or in lines of a log.
const (
	statusEvery = 200 * time.Millisecond
	logEvery    = 10 * time.Second
)

// A moment is the state of a running crawl as people see it.
type moment struct {
	pages, added, unique, exact, near, failed, givenUp, pending int64
	hosts                                                       int
	took                                                        time.Duration
}

func (m moment) rate() float64 { return float64(m.added) / max(m.took.Seconds(), 1e-3) }

func (m moment) line() string {
	return fmt.Sprintf("%d pages  %.0f/s  unique %d  exact %d  near %d  failed %d  given-up %d  pending %d  hosts %d",
		m.pages, m.rate(), m.unique, m.exact, m.near, m.failed, m.givenUp, m.pending, m.hosts)
}

// A view is where the numbers of a running crawl come from.
type view struct {
	store    store.Store
	pipeline *ingest.Pipeline
	crawl    *crawler.Crawl
	started  time.Time
}

// now is the crawl's state at this moment. A count that fails is shown as 0: the crawl will say
// why.
func (v *view) now() moment {
	all, added := v.pipeline.Tally(), v.pipeline.Added()
	counts, _ := v.store.Counts(context.Background())
	return moment{all.Pages(), added.Pages(), all.Unique, all.Exact, all.Near, counts.Failed, counts.GivenUp, counts.Pending, v.crawl.Waiting(), time.Since(v.started)}
}

// watch shows how the crawl goes until the function that it returns is called. A quiet crawl still
// shows its hosts when somebody asks for them.
func (c *crawlRun) watch(ctx context.Context, v *view) (stop func()) {
	done := make(chan struct{})
	asked, release := c.asked()
	var wait sync.WaitGroup
	wait.Go(func() {
		if c.con.Terminal && c.say.log == nil && !c.quiet {
			c.statusLine(ctx, done, asked, v)
		} else {
			c.logLines(done, asked, v)
		}
	})
	return func() { close(done); wait.Wait(); release() }
}

// clearLine erases the status line.
const clearLine = "\r\x1b[K"

// statusLine keeps one line up to date, and erases it in the end.
func (c *crawlRun) statusLine(ctx context.Context, done, asked <-chan struct{}, v *view) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	pace := time.After(paceAfter)
	stopping := ""
	interrupted := ctx.Done()
	for {
		select {
		case <-done:
			fmt.Fprint(c.con.screen, clearLine)
			return
		case <-interrupted:
			interrupted = nil
			stopping = "finishing what is in flight  "
		case <-asked:
			fmt.Fprint(c.con.screen, clearLine)
			fmt.Fprint(c.con.Err, hostsText(v.crawl.Hosts(), time.Now()))
		case <-pace:
			fmt.Fprint(c.con.screen, clearLine)
			c.sayPace(v)
		case <-tick.C:
		}
		line := stopping + v.now().line()
		fmt.Fprint(c.con.screen, clearLine)
		fmt.Fprint(c.con.Err, line[:min(len(line), max(c.con.Columns()-1, 20))])
	}
}

func (c *crawlRun) logLines(done, asked <-chan struct{}, v *view) {
	log := c.say.log
	if log == nil {
		log = slog.New(slog.NewTextHandler(c.con.Err, nil))
	}
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	pace := time.After(paceAfter)
	for {
		select {
		case <-done:
			return
		case <-asked:
			if c.say.log != nil {
				logHosts(log, v.crawl.Hosts(), time.Now())
			} else {
				fmt.Fprint(c.con.Err, hostsText(v.crawl.Hosts(), time.Now()))
			}
		case <-pace:
			c.sayPace(v)
		case <-tick.C:
			if c.quiet {
				continue
			}
			m := v.now()
			log.Info("crawling", "pages", m.pages, "per_second", math.Round(10*m.rate())/10, "unique", m.unique, "exact", m.exact,
				"near", m.near, "failed", m.failed, "given-up", m.givenUp, "pending", m.pending, "hosts", m.hosts)
		}
	}
}

// sayPace tells a newcomer why the crawl is slow.
func (c *crawlRun) sayPace(v *view) {
	if text := c.paceText(v.now(), v.crawl.Hosts()); text != "" {
		c.say.line("%s", text)
	}
}

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
	"skink/report"
	"skink/store"
)

// These are the intervals of progress reports: for the status line, and for lines of a log.
const (
	statusEvery = 200 * time.Millisecond
	logEvery    = 10 * time.Second
)

// A moment is the state of a running crawl for progress reports.
type moment struct {
	pages, added, unique, exact, near, failed, givenUp, pending int64
	hosts                                                       int
	took                                                        time.Duration
}

func (m moment) rate() float64 { return float64(m.added) / max(m.took.Seconds(), 1e-3) }

func (m moment) line() string {
	return fmt.Sprintf("%s pages  %.0f/s  unique %s  exact %s  near %s  failed %s  given-up %s  pending %s  hosts %s",
		report.Grouped(m.pages), m.rate(), report.Grouped(m.unique), report.Grouped(m.exact), report.Grouped(m.near), report.Grouped(m.failed), report.Grouped(m.givenUp), report.Grouped(m.pending), report.Grouped(m.hosts))
}

// running is the source of the numbers of a running crawl.
type running struct {
	store    *writeStore
	pipeline *ingest.Pipeline
	crawl    *crawler.Crawl
	started  time.Time
}

// now returns the crawl's current state. A count that fails is 0: the crawl will report the error.
func (v *running) now() moment {
	all, added := v.pipeline.Tally(), v.pipeline.Added()
	counts, _ := v.store.Counts(context.Background())
	return moment{all.Pages(), added.Pages(), all.Unique, all.Exact, all.Near, counts.Failed, counts.GivenUp, counts.Pending, v.crawl.Waiting(), time.Since(v.started)}
}

// watch shows the progress of the crawl until stop is called. A quiet crawl still shows its hosts
// when the user asks for them.
func (c *crawlRun) watch(ctx context.Context, v *running) (stop func()) {
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

// statusLine updates the status line, and erases it at the end.
func (c *crawlRun) statusLine(ctx context.Context, done, asked <-chan struct{}, v *running) {
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
			c.sayPace(v, clearLine)
		case <-tick.C:
		}
		line := stopping + v.now().line()
		fmt.Fprint(c.con.screen, clearLine)
		fmt.Fprint(c.con.Err, line[:min(len(line), max(c.con.Columns()-1, 20))])
	}
}

func (c *crawlRun) logLines(done, asked <-chan struct{}, v *running) {
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
			c.sayPace(v, "")
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

// sayPace explains to new users why the crawl is slow. It first writes erase, which clears the
// status line.
func (c *crawlRun) sayPace(v *running, erase string) {
	if text := c.paceText(v.now(), v.crawl.Hosts()); text != "" {
		fmt.Fprint(c.con.screen, erase)
		c.say.line("%s", text)
	}
}

// A judging is the progress of a running dedup.
type judging struct {
	read, size int64 // bytes of the files before decompression; size -1: unknown
	found      store.Tally
	took       time.Duration
}

func (j judging) line() string {
	rate := float64(j.read) / max(j.took.Seconds(), 1e-3)
	of, left := "", ""
	if j.size >= 0 {
		of = " of " + report.Bytes(j.size)
	}
	if j.size > j.read && j.read > 0 && j.took >= time.Second {
		left = fmt.Sprintf("  %s left", time.Duration(float64(j.size-j.read)/rate*float64(time.Second)).Round(time.Second))
	}
	return fmt.Sprintf("%s%s  %s/s  unique %s  exact %s  near %s  thin %s%s",
		report.Bytes(j.read), of, report.Bytes(int64(rate)), report.Grouped(j.found.Unique), report.Grouped(j.found.Exact), report.Grouped(j.found.Near), report.Grouped(j.found.Thin), left)
}

// showWhile runs do, and updates a status line on a terminal until do returns. Then it clears the
// line. Errors that are printed meanwhile get lines of their own.
func showWhile(con Console, now func() judging, do func() error) error {
	if !con.Terminal {
		return do()
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				fmt.Fprint(con.screen, clearLine)
				return
			case <-tick.C:
				line := now().line()
				fmt.Fprint(con.screen, clearLine)
				fmt.Fprint(con.Err, line[:min(len(line), max(con.Columns()-1, 20))])
			}
		}
	})
	err := do()
	close(done)
	wait.Wait()
	return err
}

// paceAfter is how long a crawl must run before its rate is meaningful.
const paceAfter = 5 * time.Second

// paceText returns a text that the crawl is slow because it is polite, or "" if that is not the
// reason or flags set the rate. Without it, new users might think that a page a second is the
// program's limit.
func (c *crawlRun) paceText(m moment, hosts []crawler.HostState) string {
	delay := c.options.Delay
	if c.rule.flags.Changed("delay") || delay == 0 || m.pending == 0 {
		return ""
	}
	asked := 0
	for _, h := range hosts {
		if h.Requests > 0 && h.Rest >= delay {
			asked++
		}
	}
	if fastest := float64(asked) / delay.Seconds(); asked == 0 || m.rate() > 1.2*fastest {
		return ""
	}
	return fmt.Sprintf("Each host is asked for a page every %v at most, so as not to burden it. Sites of your own may be asked more often: --delay 100ms, or 0 for no delay.", delay)
}

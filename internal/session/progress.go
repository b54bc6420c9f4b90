package session

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"skink/crawler"
	"skink/internal/ingest"
	"skink/report"
)

// Progress is reported every statusEvery on a terminal, and every logEvery in a log.
const (
	statusEvery = 200 * time.Millisecond
	logEvery    = 10 * time.Second
)

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

type running struct {
	store    *NamedStore
	pipeline *ingest.Pipeline
	crawl    *crawler.Crawl
	started  time.Time
}

// now returns the crawl's current statistics. A number that cannot be read is 0, because the crawl
// itself will report the error.
func (v *running) now() moment {
	all, added := v.pipeline.Tally(), v.pipeline.Added()
	counts, _ := v.store.Counts(context.Background())
	return moment{all.Pages(), added.Pages(), all.Unique, all.Exact, all.Near, counts.Failed, counts.GivenUp, counts.Pending, v.crawl.Waiting(), time.Since(v.started)}
}

type progress struct {
	opt     *Options
	out     Output
	running *running
}

// watch shows the progress of the crawl until stop is called. With Output.Quiet, it shows only the
// state of the hosts, when the user asks for it.
func watch(ctx context.Context, p progress) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		if p.out.Screen != nil && p.out.Log == nil && !p.out.Quiet {
			p.statusLine(ctx, done)
		} else {
			p.logLines(done)
		}
	})
	return func() { close(done); wait.Wait() }
}

// clearLine erases the status line of a terminal.
const clearLine = "\r\x1b[K"

func (p progress) statusLine(ctx context.Context, done <-chan struct{}) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	pace := time.After(paceAfter)
	stopping := ""
	interrupted := ctx.Done()
	for {
		select {
		case <-done:
			fmt.Fprint(p.out.Screen, clearLine)
			return
		case <-interrupted:
			interrupted = nil
			stopping = "finishing requests in flight  "
		case <-p.out.Asked:
			fmt.Fprint(p.out.Screen, clearLine)
			fmt.Fprint(p.out.Err, hostsText(p.running.crawl.Hosts(), time.Now()))
		case <-pace:
			p.sayPace(clearLine)
		case <-tick.C:
		}
		line := stopping + p.running.now().line()
		fmt.Fprint(p.out.Screen, clearLine)
		fmt.Fprint(p.out.Err, line[:min(len(line), max(p.out.Columns()-1, 20))])
	}
}

// logLines writes a line about the crawl every logEvery, and the state of the hosts when the user
// asks for it. The lines have the format of the run's other messages: text or log records.
func (p progress) logLines(done <-chan struct{}) {
	log := p.out.Log
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	pace := time.After(paceAfter)
	for {
		select {
		case <-done:
			return
		case <-p.out.Asked:
			if log != nil {
				logHosts(log, p.running.crawl.Hosts(), time.Now())
			} else {
				fmt.Fprint(p.out.Err, hostsText(p.running.crawl.Hosts(), time.Now()))
			}
		case <-pace:
			p.sayPace("")
		case <-tick.C:
			p.out.progress(p.running.now(), time.Now())
		}
	}
}

func (o Output) progress(m moment, at time.Time) {
	o.event("crawling", []any{
		"pages", m.pages, "per_second", math.Round(10*m.rate()) / 10, "unique", m.unique, "exact", m.exact,
		"near", m.near, "failed", m.failed, "given-up", m.givenUp, "pending", m.pending, "hosts", m.hosts,
	}, at.UTC().Format(time.RFC3339)+"  "+m.line())
}

// sayPace first writes erase, which clears the status line.
func (p progress) sayPace(erase string) {
	if text := p.opt.paceText(p.running.now(), p.running.crawl.Hosts()); text != "" {
		if erase != "" {
			fmt.Fprint(p.out.Screen, erase)
		}
		p.out.Say("%s", text)
	}
}

// paceAfter is how long a crawl must run before its rate is meaningful.
const paceAfter = 5 * time.Second

// paceText returns a message for new users: the crawl is slow because it waits between requests to
// a host. They might think that one page per second is the program's limit. The result is "" if the
// crawl is slow for another reason, or if the user set the delay.
func (o *Options) paceText(m moment, hosts []crawler.HostState) string {
	delay := o.Crawl.Delay
	if o.DelayChosen || delay == 0 || m.pending == 0 {
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
	return fmt.Sprintf("Tip: each host gets at most one request every %v. On your own sites, use a shorter --delay, such as 100ms or 0.", delay)
}

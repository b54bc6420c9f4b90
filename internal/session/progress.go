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
	before   int64 // number of bytes that earlier rounds fetched
	started  time.Time
}

// fetched returns the number of bytes that all rounds have fetched.
func (v *running) fetched() int64 {
	if v == nil {
		return 0
	}
	return v.before + v.crawl.Fetched()
}

// now returns the crawl's current statistics. A number that cannot be read is 0, because the crawl
// itself will report the error.
func (v *running) now() moment {
	all, added := v.pipeline.Tally(), v.pipeline.Added()
	counts, _ := v.store.Counts(context.Background())
	return moment{all.Pages(), added.Pages(), all.Unique, all.Exact, all.Near, counts.Failed, counts.GivenUp, counts.Pending, v.crawl.Waiting(), time.Since(v.started)}
}

type progress struct {
	out     Output
	running *running
}

// watch shows the progress of the crawl until stop is called: as a status line on a terminal, and
// otherwise as a message every logEvery. When the user asks for it, watch also shows the state of the
// hosts. With Output.Quiet, it shows nothing else.
func watch(ctx context.Context, p progress) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() { p.show(ctx, done) })
	return func() { close(done); wait.Wait() }
}

// clearLine erases the status line of a terminal.
const clearLine = "\r\x1b[K"

func (p progress) show(ctx context.Context, done <-chan struct{}) {
	onScreen, every, erase := p.out.Screen != nil && p.out.Log == nil && !p.out.Quiet, logEvery, func() {}
	if onScreen {
		every, erase = statusEvery, func() { fmt.Fprint(p.out.Screen, clearLine) }
	}
	tick := time.Tick(every)
	interrupted, stopping := ctx.Done(), ""
	for {
		select {
		case <-done:
			erase()
			return
		case <-interrupted:
			interrupted, stopping = nil, "finishing requests in flight  "
		case <-p.out.Asked:
			erase()
			if hosts := p.running.crawl.Hosts(); p.out.Log != nil { // the format of the run's other messages
				logHosts(p.out.Log, hosts, time.Now())
			} else {
				fmt.Fprint(p.out.Err, hostsText(hosts, time.Now()))
			}
		case <-tick:
			if !onScreen {
				p.out.progress(p.running.now(), time.Now())
			}
		}
		if onScreen {
			line := stopping + p.running.now().line()
			erase()
			fmt.Fprint(p.out.Err, line[:min(len(line), max(p.out.Columns()-1, 20))])
		}
	}
}

func (o Output) progress(m moment, at time.Time) {
	o.event("crawling", []any{
		"pages", m.pages, "per_second", math.Round(10*m.rate()) / 10, "unique", m.unique, "exact", m.exact,
		"near", m.near, "failed", m.failed, "given-up", m.givenUp, "pending", m.pending, "hosts", m.hosts,
	}, at.UTC().Format(time.RFC3339)+"  "+m.line())
}

package cli

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/internal/ingest"
	"skink/store"
)

// A urlLog says of each URL, when it is stored, how it was answered and judged.
type urlLog struct {
	log  *slog.Logger
	took sync.Map // from a URL to how long its last answer took; what is stored is taken out
}

// answered remembers how long an answer took.
func (l *urlLog) answered(p *crawler.Page) { l.took.Store(p.Item.URL, p.Took) }

// add says what became of a URL.
func (l *urlLog) add(r *store.Record) {
	attrs := []any{"url", r.URL, "state", nameOf(r.End()), "status", r.Status, "bytes", r.Size}
	if took, ok := l.took.LoadAndDelete(r.URL); ok { // robots.txt may have forbidden it
		attrs = append(attrs, "ms", math.Round(float64(took.(time.Duration))/1e5)/10)
	}
	if r.Problem != "" {
		attrs = append(attrs, "problem", r.Problem)
	}
	if r.Location != "" {
		attrs = append(attrs, "location", r.Location)
	}
	if r.Verdict != "" {
		attrs = append(attrs, "verdict", string(r.Verdict))
	}
	if r.Verdict == dedup.Exact || r.Verdict == dedup.Near {
		attrs = append(attrs, "resemblance", r.Resemblance, "leader", r.DuplicateOf)
	}
	l.log.Info("url", attrs...)
}

// startURLLog begins the log, if it is asked for.
func (c *crawlRun) startURLLog(opt *ingest.Options) {
	if !c.logURLs {
		return
	}
	l := &urlLog{log: c.say.log}
	c.onPage = append(c.onPage, l.answered)
	opt.Sink = loggedSink{opt.Sink, l}
}

// A loggedSink is a feed, if there is one, with the log of URLs behind it.
type loggedSink struct {
	feed ingest.Sink // nil: there is none
	log  *urlLog
}

// Add implements [ingest.Sink].
func (s loggedSink) Add(r *store.Record, text string) error {
	if s.feed != nil {
		if err := s.feed.Add(r, text); err != nil {
			return err
		}
	}
	s.log.add(r)
	return nil
}

// Checkpoint implements [ingest.Sink].
func (s loggedSink) Checkpoint(ctx context.Context) error {
	if s.feed != nil {
		return s.feed.Checkpoint(ctx)
	}
	return nil
}

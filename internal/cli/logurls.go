package cli

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/store"
)

// A urlLog writes a line when a URL is stored: how it was answered and judged. It implements
// [feed.Consumer].
type urlLog struct {
	log    *slog.Logger
	s      store.Reader
	cursor store.Cursor
	took   sync.Map // from a URL to how long its last answer took; logging a URL takes it out
}

// newURLLog logs what is stored from this moment on.
func newURLLog(ctx context.Context, log *slog.Logger, s store.Reader) (*urlLog, error) {
	end, err := s.End(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin the log of URLs: %w", err)
	}
	return &urlLog{log: log, s: s, cursor: end}, nil
}

// CatchUp logs what was stored since it was last called.
func (l *urlLog) CatchUp(ctx context.Context) error {
	for page, err := range l.s.Changes(ctx, l.cursor, store.WantRecord) {
		if err != nil {
			return fmt.Errorf("log URLs: %w", err)
		}
		l.add(&page.Record)
		l.cursor = page.Cursor
	}
	return nil
}

// Close logs the last URLs.
func (l *urlLog) Close(ctx context.Context) error { return l.CatchUp(ctx) }

// answered remembers how long an answer took.
func (l *urlLog) answered(p *crawler.Page) { l.took.Store(p.Item.URL, p.Took) }

// add logs what became of a URL.
func (l *urlLog) add(r *store.Record) {
	attrs := []any{"url", r.URL, "state", nameOf(r.End()), "status", r.Status, "bytes", r.Size}
	if r.Visit != store.FirstVisit {
		attrs = append(attrs, "visit", r.Visit.String())
	}
	if took, ok := l.took.LoadAndDelete(r.URL); ok { // missing if nothing was fetched: robots.txt may have forbidden the URL
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

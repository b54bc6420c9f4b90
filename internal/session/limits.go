package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"skink/report"
	"skink/store"
)

// A Budget is what a crawl has spent of --max-rate. All workers and runs count together. A worker adds
// its requests every beatEvery, so if it is killed, those of the last moments are missing. The count is
// only for display, because the slots of requests keep the budget.
type Budget struct {
	Most  int64     `json:"most"` // number of requests in a period
	Spent int64     `json:"spent"`
	Left  int64     `json:"left"` // requests are spread over the period, so those that were not sent in its first half are not left in the second
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // when the period ends
}

const budgetName = "budget"

// account counts the requests of a crawl until the returned function is called.
func (r *run) account(ctx context.Context, v *running) (stop func()) {
	rate, counted := r.opt.Crawl.Rate, int64(0)
	if rate.N == 0 {
		return func() {}
	}
	count := func(ctx context.Context) {
		now, sent := TimeAt(ctx, r.store).UTC().Truncate(time.Second), v.crawl.Requests()
		err := store.ChangeMeta(ctx, r.store, budgetName, budgetName, func(b *Budget) (*Budget, error) {
			if b == nil || !b.Until.After(now) || b.Until.Sub(b.Since) != rate.Per {
				b = &Budget{Since: now, Until: now.Add(rate.Per)}
			}
			b.Most, b.Spent = rate.N, b.Spent+sent-counted
			return b, nil
		})
		if err == nil { // otherwise, the crawl itself will report a failure of the store
			counted = sent
		}
	}
	end := every(ctx, beatEvery, count)
	return func() { end(); count(context.WithoutCancel(ctx)) }
}

// Limits say what a crawl may do now, and when it goes on.
type Limits struct {
	Budget *Budget `json:"budget,omitempty"` // nil if there is none, or nothing of it is spent
	Sleep  *Sleep  `json:"sleep,omitempty"`  // nil if the crawl does not sleep
}

// ReadLimits returns the limits of the crawl in a store.
func ReadLimits(ctx context.Context, s store.Reader) (l Limits, _ error) {
	now := TimeAt(ctx, s)
	sleep, err := ReadSleep(ctx, s)
	b, errBudget := store.ReadMeta[Budget](ctx, s, budgetName, budgetName)
	if sleep != nil && sleep.Until.After(now) {
		l.Sleep = sleep
	}
	if b != nil && b.Until.After(now) {
		share := float64(b.Until.Sub(now)) / float64(b.Until.Sub(b.Since))
		b.Left = max(min(b.Most-b.Spent, int64(share*float64(b.Most))), 0)
		l.Budget = b
	}
	return l, errors.Join(err, errBudget)
}

// Lines returns the limits as text.
func (l Limits) Lines() (lines []string) {
	if b := l.Budget; b != nil {
		lines = append(lines, fmt.Sprintf("--max-rate: %s of %s requests spent, at most %s left until %s", report.Grouped(b.Spent), report.Grouped(b.Most), report.Grouped(b.Left), b.Until.Format(time.RFC3339)))
	}
	if s := l.Sleep; s != nil {
		lines = append(lines, fmt.Sprintf("%s due at %s, as crawl --forever found at %s", report.Counted(s.Due, "page"), s.Until.Format(time.RFC3339), s.Since.Format(time.RFC3339)))
	}
	return lines
}

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"skink/internal/session"
	"skink/report/audit"
	"skink/store"
)

// sinceLast is the value of report --since for the crawl before the last one.
const sinceLast = "LAST"

func (f *reportFlags) readPast(ctx context.Context, s store.Reader, since time.Time) (*audit.Past, error) {
	h, err := audit.ReadHistory(ctx, s)
	if err != nil {
		return nil, err
	}
	found := h.Before()
	if !since.IsZero() {
		found = h.At(since)
	}
	if found != nil {
		return audit.ReadPast(ctx, s, found)
	}
	var kept []string
	for _, k := range h.Earlier() {
		kept = append(kept, fmt.Sprintf("--since %s (crawl %d)", k.Ended.Format(time.RFC3339), k.Number))
	}
	last := cmp.Or(strings.Join(kept[max(0, len(kept)-3):], ", "), "none")
	return nil, fmt.Errorf("--since %s: %s has no saved findings of such a crawl; earlier crawls with saved findings: %s; a crawl saves them with --audit, as in %s",
		f.since, *f.store, last, session.WithStore("skink crawl --audit --recrawl 0s", *f.store))
}

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

// A sinceCrawl is the value of report --since: the crawl before the last one, or the latest crawl
// that ended before a given time.
type sinceCrawl struct {
	text string
	at   time.Time // zero means the crawl before the last one
}

func parseSinceCrawl(text string) (sinceCrawl, error) {
	if strings.EqualFold(text, sinceLast) {
		return sinceCrawl{text: sinceLast}, nil
	}
	if at, ok := parseTime(text); ok {
		return sinceCrawl{text, at}, nil
	}
	age, err := parseAge(text)
	if err != nil {
		return sinceCrawl{}, usagef("--since %q: try LAST, a time (2026-11-24, 2026-11-24T09:30:00Z) or an age (36h, 7d)", text)
	}
	return sinceCrawl{text, time.Now().Add(-age)}, nil
}

func (c sinceCrawl) read(ctx context.Context, s store.Reader, storeName string) (*audit.Past, error) {
	h, err := audit.ReadHistory(ctx, s)
	if err != nil {
		return nil, err
	}
	found := h.Before()
	if !c.at.IsZero() {
		found = h.At(c.at)
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
		c.text, storeName, last, session.WithStore("skink crawl --audit --recrawl 0s", storeName))
}

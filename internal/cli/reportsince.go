package cli

import (
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

func (c sinceCrawl) read(ctx context.Context, s store.Reader, h *audit.History, storeName string) (*audit.Past, error) {
	found := h.Before()
	if !c.at.IsZero() {
		found = h.At(c.at)
	}
	if found != nil {
		return audit.ReadPast(ctx, s, found)
	}
	again := session.WithStore("skink crawl --audit --recrawl 0s", storeName)
	switch {
	case len(h.Kept) == 0:
		return nil, fmt.Errorf("--since %s: no crawl of %s has saved its findings: run a crawl with --audit (for example, %s), and another one after the site has changed", c.text, storeName, again)
	case !c.at.IsZero():
		first := h.Kept[0]
		return nil, fmt.Errorf("--since %s: no crawl that ended before that time saved its findings: the first crawl that did is crawl %d; try --since %s", c.text, first.Number, first.Ended.Format(time.RFC3339))
	case h.Now.Number == 1:
		return nil, fmt.Errorf("--since %s: %s has had only one crawl: to crawl again, run %s", c.text, storeName, again)
	}
	var kept []string
	for _, k := range h.Earlier() {
		kept = append(kept, fmt.Sprintf("--since %s (crawl %d)", k.Ended.Format(time.RFC3339), k.Number))
	}
	try := "crawl once more with " + again
	if len(kept) > 0 {
		try = "try " + strings.Join(kept[max(0, len(kept)-3):], " or ")
	}
	return nil, fmt.Errorf("--since %s: the previous crawl, number %d, saved no findings, because it ran without --audit: %s", c.text, h.Now.Number-1, try)
}

package cli

import (
	"context"
	"fmt"
	"strings"

	"skink/frontier"
	"skink/report"
	"skink/store"
)

// whyOnlyOne returns why a finished crawl found only one page, or "" if it found more or is not
// finished.
func (c *crawlRun) whyOnlyOne(ctx context.Context, t store.Tally, n frontier.Counts) (string, error) {
	if t.Pages() != 1 || n.Pending > 0 {
		return "", nil
	}
	circle, err := c.redirectCircle(ctx)
	if err != nil || circle != "" {
		return circle, err
	}
	var only *store.Record
	for page, err := range c.store.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return "", fmt.Errorf("look for what the page leads to: %w", err)
		}
		if page.Record.Kind == store.Page {
			only = &page.Record
			break
		}
	}
	switch {
	case only == nil:
		return "", nil
	case t.Blocked > 0:
		return fmt.Sprintf("robots.txt forbids %s that it leads to; crawl a site of your own with --ignore-robots", report.Counted(t.Blocked, "URL")), nil
	case only.DeadEnd == store.DeadEndNoFollow:
		return fmt.Sprintf("%s asks crawlers to follow none of its links (nofollow); crawl a site of your own with --ignore-nofollow and another --store", only.URL), nil
	case only.DeadEnd == store.DeadEndScripts:
		return fmt.Sprintf("%s has no link, and scripts, which may draw its links and are not run; name more seeds", only.URL), nil
	case n.Outside > 0:
		return fmt.Sprintf("all that it leads to is out of scope (%s); widen --scope, or name it as a seed", report.Counted(n.Outside, "URL")), nil
	}
	return "", nil
}

// mostRedirects bounds the redirects that are searched for a circle.
const mostRedirects = 10_000

// redirectCircle returns a text with a circle of redirects, or "" if there is none.
func (c *crawlRun) redirectCircle(ctx context.Context) (string, error) {
	to := map[string]string{}
	var froms []string
	for page, err := range c.store.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return "", fmt.Errorf("look for a circle of redirects: %w", err)
		}
		if r := &page.Record; r.Location != "" && len(froms) < mostRedirects {
			to[r.URL] = r.Location
			froms = append(froms, r.URL)
		}
	}
	for _, from := range froms {
		way := []string{from}
		for url := to[from]; url != "" && len(way) <= mostHops; url = to[url] {
			way = append(way, url)
			if url == from {
				return fmt.Sprintf("redirects go in a circle: %s; the site may ask for consent with a cookie, and none is kept", strings.Join(way, " -> ")), nil
			}
		}
	}
	return "", nil
}

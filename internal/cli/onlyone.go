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
			return "", fmt.Errorf("find the links of the page: %w", err)
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
		return fmt.Sprintf("robots.txt forbids all linked URLs (%s); on a site of your own use --ignore-robots", report.Counted(t.Blocked, "URL")), nil
	case only.DeadEnd == store.DeadEndNoFollow:
		return fmt.Sprintf("%s has nofollow for all its links; on a site of your own use --ignore-nofollow and another --store", only.URL), nil
	case only.DeadEnd == store.DeadEndScripts:
		return fmt.Sprintf("%s has no links in its HTML; scripts may add them, which skink does not run; name more seeds", only.URL), nil
	case n.Outside > 0:
		return fmt.Sprintf("all linked URLs (%s) are out of scope; widen --scope, or add them as seeds", report.Counted(n.Outside, "URL")), nil
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
			return "", fmt.Errorf("find redirect loops: %w", err)
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
				return fmt.Sprintf("redirect loop: %s; the site may require cookies, which skink does not keep", strings.Join(way, " -> ")), nil
			}
		}
	}
	return "", nil
}

package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skink/base/harmless"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/frontier"
	"skink/report"
	"skink/store"
)

// Coverage describes how much of the site was crawled. An audit finds problems only on pages that
// were fetched. Some findings might disappear if the other pages were fetched, too.
type Coverage struct {
	Fetched int64 `json:"fetched"` // URLs of the site that got a response, including redirects and status 404
	Known   int64 `json:"known"`   // all known URLs of the site, fetched or not
	Gaps    []Gap `json:"not_fetched"`
}

// A Gap is a group of known URLs that were not fetched for the same reason.
type Gap struct {
	Name     string             `json:"name"` // pending, postponed, excluded, blocked, failed, unfollowed or outside
	URLs     int64              `json:"urls"`
	Means    string             `json:"means"`
	Examples []string           `json:"examples,omitempty"`
	Patterns []report.Postponed `json:"patterns,omitempty"` // patterns of postponed URLs, sorted by number of URLs, largest first
}

// gaps are all possible gaps, in report order. The last two are exceptions: pages in "unfollowed"
// were fetched, and URLs in "outside" are not on the site.
var gaps = []Gap{
	{Name: "pending", Means: "the crawl has not fetched these URLs yet: run the same command again to continue the crawl"},
	{Name: "postponed", Means: "URLs of the same pattern kept returning duplicates: --budget off fetches these URLs"},
	{Name: "excluded", Means: "these URLs are on a host of the crawl, but outside --scope, excluded by flags, or deeper than --max-depth"},
	{Name: "blocked", Means: "robots.txt forbids these URLs (--ignore-robots fetches them), or the server asked for a captcha (try later with --retry blocked)"},
	{Name: "failed", Means: "these URLs returned no page, perhaps because of a temporary error: --retry fetches them again (private addresses need --allow-private)"},
	{Name: unfollowed, Means: "pages whose links are unknown, because the pages are marked nofollow (try --ignore-nofollow), or scripts add their links (try --render auto)"},
	{Name: outside, Means: "URLs on other sites: the crawl does not follow links to other sites"},
}

const (
	unfollowed = "unfollowed"
	outside    = "outside"
)

const gapExamples = 3

type coverage struct {
	Coverage // with all gaps, until read has returned
	hosts    map[string]bool
}

// see counts a record. It skips requisites, and pages of other sites that were only checked for
// existence.
func (c *coverage) see(r *store.Record) {
	if r.Checked || r.Requisite || r.Kind == store.Outside {
		return
	}
	switch {
	case r.Kind == store.Later:
		c.add("postponed", r.URL)
	case r.Kind == store.Blocked:
		c.add("blocked", r.URL)
	case r.Kind == store.Error && !r.Sitemap && !absent(r):
		c.add("failed", r.URL)
	default:
		c.Fetched++
	}
	if r.Kind == store.Page {
		c.hosts[store.HostOf(r.URL)] = true
		if r.DeadEnd != "" {
			c.add(unfollowed, r.URL)
		}
	}
}

// absent reports whether the error means that there is no page at the URL.
func absent(r *store.Record) bool {
	return r.Status == 404 || r.Status == 410 || r.Problem == learn.SoftProblem
}

func (c *coverage) add(gap, url string) {
	g := &c.Gaps[slices.IndexFunc(c.Gaps, func(g Gap) bool { return g.Name == gap })]
	if g.URLs++; len(g.Examples) < gapExamples {
		g.Examples = append(g.Examples, url)
	}
}

// read counts the URLs without a record, and returns the coverage. The argument known contains the
// ids of the URLs with a record.
func (c *coverage) read(ctx context.Context, s store.Reader, known map[dedup.Hash]int32) (Coverage, error) {
	for _, state := range []frontier.State{frontier.Pending, frontier.Outside} {
		for url, err := range s.URLs(ctx, state) {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return Coverage{}, fmt.Errorf("read the URLs that were not fetched: %w", err)
			}
			url, _ := frontier.Left(url)
			_, visited := known[dedup.HashOf([]byte(url))]
			switch {
			case visited && state == frontier.Pending: // waiting for another visit
			case state == frontier.Pending:
				c.add("pending", url)
			case c.hosts[store.HostOf(url)]:
				c.add("excluded", url)
			default:
				c.add(outside, url)
			}
		}
	}
	c.Gaps, c.Known = slices.DeleteFunc(c.Gaps, func(g Gap) bool { return g.URLs == 0 }), c.Fetched
	for i := range c.Gaps {
		g := &c.Gaps[i]
		slices.Sort(g.Examples)
		if g.Name == "postponed" {
			var err error
			if g.Patterns, err = report.PostponedIn(ctx, s); err != nil {
				return Coverage{}, err
			}
		}
		if g.ofSite() {
			c.Known += g.URLs
		}
	}
	return c.Coverage, nil
}

func (g *Gap) ofSite() bool { return g.Name != unfollowed && g.Name != outside }

// Missing returns the number of URLs of the site that were not fetched.
func (c *Coverage) Missing() int64 { return c.Known - c.Fetched }

// String returns the coverage on one line, such as "fetched 90 of 100 known URLs of the site (90.0
// %)".
func (c *Coverage) String() string {
	if c.Missing() == 0 {
		return "fetched all known URLs of the site"
	}
	return fmt.Sprintf("fetched %s of %s of the site (%s)", report.Grouped(c.Fetched), report.Counted(c.Known, "known URL"), report.Share(c.Fetched, c.Known))
}

const patternsShown = 10

// Lines returns details of the gap as lines of text: example URLs, or the patterns of postponed
// URLs with the reason for each.
func (g *Gap) Lines() (lines []string) {
	if g.Patterns == nil {
		for _, url := range g.Examples {
			lines = append(lines, "such as "+harmless.Line(url))
		}
		return lines
	}
	for _, p := range g.Patterns[:min(len(g.Patterns), patternsShown)] {
		line := fmt.Sprintf("%s: %s", report.Counted(p.URLs, "URL"), p.Why())
		if p.New > 0 {
			line += fmt.Sprintf("; %s of these URLs had new text", report.Grouped(p.New))
		}
		lines = append(lines, harmless.Line(line+"; for example "+p.Example))
	}
	if rest := len(g.Patterns) - len(lines); rest > 0 {
		lines = append(lines, "and "+report.Counted(rest, "more pattern"))
	}
	return lines
}

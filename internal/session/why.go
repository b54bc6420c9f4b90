package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"skink/crawler"
	"skink/frontier"
	"skink/report"
	"skink/store"
)

const fewPages = 10

// clues are what the records of a store say about why a crawl found few pages.
type clues struct {
	page    *store.Record     // the last page
	drawn   *store.Record     // the last page that scripts draw and no browser rendered
	undrawn int64             // number of such pages
	problem *store.Record     // the first URL with a problem
	leftOut string            // the first URL that a rule other than the scope keeps out, with the rule
	froms   []string          // redirected URLs, at most maxRedirects
	to      map[string]string // their targets
}

const maxRedirects = 10_000

func readClues(ctx context.Context, s store.Reader) (c clues, err error) {
	c.to = map[string]string{}
	for change, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return c, fmt.Errorf("find out why few pages were found: %w", err)
		}
		r := &change.Record
		if r.Problem != "" && c.problem == nil {
			c.problem = r
		}
		if r.Location != "" && len(c.froms) < maxRedirects {
			c.to[r.URL] = r.Location
			c.froms = append(c.froms, r.URL)
		}
		switch {
		case r.Kind == store.Outside && c.leftOut == "":
			c.leftOut = leftOut(r.URL, r.Detail)
		case r.Kind == store.Page:
			c.page = r
			if r.DeadEnd == store.DeadEndScripts && !r.Rendered && r.RenderError == "" {
				c.drawn, c.undrawn = r, c.undrawn+1
			}
		}
	}
	return c, nil
}

// leftOut describes a URL that a rule keeps out of the crawl, such as a seed that --exclude excludes. It
// returns "" if the rule is the scope.
func leftOut(url, rule string) string {
	if rule == "" || strings.HasPrefix(rule, "scope:") {
		return ""
	}
	return fmt.Sprintf("%s is left out (%s); without this rule, --retry outside fetches it", url, rule)
}

// whyFew explains why a finished crawl found only one page, or a few pages most of which have no
// links in their HTML. It returns "" if there is nothing to explain, or the crawl is not finished.
func whyFew(ctx context.Context, s store.Reader, t store.Tally, n frontier.Counts) (string, error) {
	if t.Pages() == 0 || t.Pages() > fewPages || n.Pending > 0 {
		return "", nil
	}
	c, err := readClues(ctx, s)
	if err != nil {
		return "", err
	}
	switch {
	case 2*c.undrawn >= t.Pages():
		return fmt.Sprintf("the menus of %s are probably drawn by scripts; try --render auto and another --store, or add more seeds", c.drawn.URL), nil
	case c.page == nil || t.Pages() > 1:
		return "", nil
	}
	if circle := c.redirectCircle(); circle != "" {
		return circle, nil
	}
	switch {
	case t.Captchas > 0:
		return fmt.Sprintf("the server answered linked URLs with a captcha (%s); ask its operator for access, or try again later with --retry blocked", report.Counted(t.Captchas, "URL")), nil
	case t.Blocked > 0:
		return fmt.Sprintf("robots.txt forbids all linked URLs (%s); on your own site, use --ignore-robots", report.Counted(t.Blocked, "URL")), nil
	case c.page.DeadEnd == store.DeadEndNoFollow:
		return fmt.Sprintf("all links on %s are nofollow; on your own site, use --ignore-nofollow and another --store", c.page.URL), nil
	case n.Outside == 0:
		return "", nil
	case c.leftOut != "":
		return c.leftOut, nil
	}
	for outside, err := range s.URLs(ctx, frontier.Outside) {
		if err != nil {
			return "", fmt.Errorf("find excluded URLs: %w", err)
		}
		if why := leftOut(frontier.Left(outside)); why != "" {
			return why, nil
		}
	}
	return fmt.Sprintf("all linked URLs (%s) are out of scope; widen --scope, or add them as seeds", report.Counted(n.Outside, "URL")), nil
}

// redirectCircle describes a redirect loop among the stored pages, or returns "" if there is none.
func (c *clues) redirectCircle() string {
	for _, from := range c.froms {
		way := []string{from}
		for url := c.to[from]; url != "" && len(way) <= crawler.MaxHops; url = c.to[url] {
			way = append(way, url)
			if url == from {
				return fmt.Sprintf("redirect loop: %s; the site may require cookies: try --cookies on", strings.Join(way, " -> "))
			}
		}
	}
	return ""
}

func fetchedNothing(t store.Tally) bool { return t.Pages()+t.Other == 0 }

// nothingFetched returns an error that explains why a crawl fetched no page. If there are several
// reasons, the error names the first of these: a problem with a URL, a redirect out of scope, a
// redirect loop, a suspended host.
func nothingFetched(ctx context.Context, s store.Reader, began time.Time, alone ...crawler.LeftHost) error {
	why := errors.New("no page was fetched")
	if len(alone) > 0 {
		why = fmt.Errorf("no page was fetched: requests to %s were suspended: %s", alone[0].Host, alone[0].Why)
	}
	c, err := readClues(ctx, s)
	if err != nil {
		return err
	}
	if circle := c.redirectCircle(); circle != "" {
		why = fmt.Errorf("no page was fetched: %s", circle)
	}
	if of := c.problem; of != nil {
		return fmt.Errorf("no page was fetched: %s: %s%s", of.URL, problemText(of), ago(of, began))
	}
	for _, from := range c.froms {
		switch state, err := s.State(ctx, c.to[from]); {
		case err != nil:
			return err
		case state == frontier.Outside:
			return fmt.Errorf("no page was fetched: %s redirects to %s, which is out of scope: add it as a seed, or widen --scope", from, c.to[from])
		}
	}
	return why
}

func problemText(r *store.Record) string {
	text := r.Problem
	if r.Detail != "" && r.Detail != r.Problem {
		text += ": " + r.Detail
	}
	return text + AdviceOn(r.Problem, r.Detail)
}

// AdviceOn returns advice on the flag that avoids a problem with this detail, as the end of an error
// message, or "" if there is no such flag.
func AdviceOn(problem, detail string) string {
	switch p := crawler.Problem(problem); {
	case p == crawler.ProblemPrivate:
		return "; allow such hosts with --allow-private"
	case p == crawler.ProblemTLS && strings.Contains(detail, "x509:"):
		return "; trust its authority with --ca-file, or accept any certificate of your own host with --insecure HOST"
	}
	return ""
}

// ago formats the time of a URL's last visit as the end of a message. It returns "" if that visit
// was in the current run.
func ago(of *store.Record, began time.Time) string {
	if at := of.Visited(); at.Before(began) {
		return " (at " + at.UTC().Format(time.RFC3339) + ")"
	}
	return ""
}

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

// whyFew explains why a finished crawl found only one page, or a few pages most of which have no
// links in their HTML. It returns "" if there is nothing to explain, or the crawl is not finished.
func whyFew(ctx context.Context, s store.Reader, t store.Tally, n frontier.Counts) (string, error) {
	if t.Pages() == 0 || t.Pages() > fewPages || n.Pending > 0 {
		return "", nil
	}
	var only, drawn *store.Record
	undrawn := int64(0)
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return "", fmt.Errorf("find the links of the page: %w", err)
		}
		if r := &page.Record; r.Kind == store.Page {
			only = r
			if r.DeadEnd == store.DeadEndScripts && !r.Rendered && r.RenderError == "" {
				drawn, undrawn = r, undrawn+1
			}
		}
	}
	switch {
	case 2*undrawn >= t.Pages():
		return fmt.Sprintf("the menus of %s are probably drawn by scripts; try --render auto and another --store, or add more seeds", drawn.URL), nil
	case only == nil || t.Pages() > 1:
		return "", nil
	}
	if circle, err := redirectCircle(ctx, s); err != nil || circle != "" {
		return circle, err
	}
	switch {
	case t.Captchas > 0:
		return fmt.Sprintf("the server answered linked URLs with a captcha (%s); ask its operator for access, or try again later with --retry blocked", report.Counted(t.Captchas, "URL")), nil
	case t.Blocked > 0:
		return fmt.Sprintf("robots.txt forbids all linked URLs (%s); on your own site, use --ignore-robots", report.Counted(t.Blocked, "URL")), nil
	case only.DeadEnd == store.DeadEndNoFollow:
		return fmt.Sprintf("all links on %s are nofollow; on your own site, use --ignore-nofollow and another --store", only.URL), nil
	case n.Outside > 0:
		if kept, err := keptOut(ctx, s); err != nil || kept != "" {
			return kept, err
		}
		return fmt.Sprintf("all linked URLs (%s) are out of scope; widen --scope, or add them as seeds", report.Counted(n.Outside, "URL")), nil
	}
	return "", nil
}

// keptOut describes a URL that a rule other than the scope keeps out of the crawl, such as a seed
// that --exclude excludes. It returns "" if there is none.
func keptOut(ctx context.Context, s store.Reader) (string, error) {
	told := func(url, rule string) string {
		if strings.HasPrefix(rule, "scope:") {
			return ""
		}
		return fmt.Sprintf("%s is left out (%s); without this rule, --retry outside fetches it", url, rule)
	}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return "", fmt.Errorf("find excluded URLs: %w", err)
		}
		if r := &page.Record; r.Kind == store.Outside && told(r.URL, r.Detail) != "" {
			return told(r.URL, r.Detail), nil
		}
	}
	for outside, err := range s.URLs(ctx, frontier.Outside) {
		if err != nil {
			return "", fmt.Errorf("find excluded URLs: %w", err)
		}
		if url, rule := frontier.Left(outside); rule != "" && told(url, rule) != "" {
			return told(url, rule), nil
		}
	}
	return "", nil
}

const maxRedirects = 10_000

// redirectCircle describes a redirect loop among the stored pages, or returns "" if there is none.
func redirectCircle(ctx context.Context, s store.Reader) (string, error) {
	to := map[string]string{}
	var froms []string
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return "", fmt.Errorf("find redirect loops: %w", err)
		}
		if r := &page.Record; r.Location != "" && len(froms) < maxRedirects {
			to[r.URL] = r.Location
			froms = append(froms, r.URL)
		}
	}
	for _, from := range froms {
		way := []string{from}
		for url := to[from]; url != "" && len(way) <= crawler.MaxHops; url = to[url] {
			way = append(way, url)
			if url == from {
				return fmt.Sprintf("redirect loop: %s; the site may require cookies: try --cookies on", strings.Join(way, " -> ")), nil
			}
		}
	}
	return "", nil
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
	circle, err := redirectCircle(ctx, s)
	if err != nil {
		return err
	}
	if circle != "" {
		why = fmt.Errorf("no page was fetched: %s", circle)
	}
	moved := false
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return err
		}
		of := &page.Record
		if of.Problem != "" {
			return fmt.Errorf("no page was fetched: %s: %s%s", of.URL, problemText(of), ago(of, began))
		}
		if moved || of.Location == "" {
			continue
		}
		switch state, err := s.State(ctx, of.Location); {
		case err != nil:
			return err
		case state == frontier.Outside:
			moved = true
			why = fmt.Errorf("no page was fetched: %s redirects to %s, which is out of scope: add it as a seed, or widen --scope", of.URL, of.Location)
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

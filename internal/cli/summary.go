package cli

import (
	"fmt"
	"strings"
	"time"

	"skink/crawler"
	"skink/report"
	"skink/store"
)

// A summary is what a crawl says at its end.
type summary struct {
	added, all store.Tally // by this run, and in the store
	pending    int64
	took       time.Duration
	store      string
	bytes      int64
	feed       string
	demanding  []crawler.Demand
	end        ending
	again      string // the command that goes on
}

// An ending is why a crawl ended with URLs pending. The zero value: those that are
// left are of hosts that do not answer.
type ending struct {
	interrupted bool
	limit       string   // the flag that stopped it
	spent       int      // hosts whose budget is spent
	lost        []string // folders that are missing, of which URLs are pending
}

func (s summary) String() string {
	var b strings.Builder
	s.pages(&b)
	s.rest(&b)
	s.saved(&b)
	s.slowed(&b)
	s.next(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

// pages says what was judged.
func (s summary) pages(b *strings.Builder) {
	a, t := s.added, s.all
	fmt.Fprintf(b, "%s in %s, %.1f a second\n", plural(a.Pages(), "page"), durationText(s.took), float64(a.Pages())/max(s.took.Seconds(), 1e-3))
	if t.Pages() != a.Pages() {
		fmt.Fprintf(b, "in the store now: %s\n", plural(t.Pages(), "page"))
	}
	fmt.Fprintf(b, "  unique  %6d   the first of their kind\n", t.Unique)
	fmt.Fprintf(b, "  exact   %6d   the text of another page\n", t.Exact)
	fmt.Fprintf(b, "  near    %6d   much like another page\n", t.Near)
	fmt.Fprintf(b, "  thin    %6d   too short to compare\n", t.Thin)
}

// rest says what was fetched and not judged.
func (s summary) rest(b *strings.Builder) {
	t := s.all
	for _, l := range []struct {
		n    int64
		text string
	}{
		{t.Redirects, "redirects answered with another URL"},
		{t.Other, "other    not text, recorded only"},
		{t.Blocked, "blocked  robots.txt says no"},
		{t.Skipped, "skipped  duplicates kept without their text"},
		{t.Capped, "capped   so many alike that not all were compared"},
	} {
		if l.n > 0 {
			name, why, _ := strings.Cut(l.text, " ")
			fmt.Fprintf(b, "  %-9s%5d   %s\n", name, l.n, strings.TrimSpace(why))
		}
	}
	if t.Errors > 0 {
		fmt.Fprintf(b, "  errors   %5d   %s\n", t.Errors, report.Problems(t.Problems))
	}
}

// saved says what is on disk now, and what the duplicates would have cost.
func (s summary) saved(b *strings.Builder) {
	t := s.all
	if t.Pages() > 0 {
		duplicates := t.Exact + t.Near
		fmt.Fprintf(b, "%s of %s (%s) need not be indexed\n", plural(duplicates, "duplicate"), plural(t.Pages(), "page"), report.Share(duplicates, t.Pages()))
		fmt.Fprintf(b, "saved in %s: %s, %s a page\n", s.store, bytesText(s.bytes), bytesText(s.bytes/t.Pages()))
	}
	if s.feed != "" && s.feed != "-" {
		fmt.Fprintf(b, "the feed is in %s\n", s.feed)
	}
}

// slowed names the hosts that asked for a longer delay than they got.
func (s summary) slowed(b *strings.Builder) {
	const most = 5
	if len(s.demanding) == 0 {
		return
	}
	var names []string
	for _, d := range s.demanding[:min(len(s.demanding), most)] {
		names = append(names, fmt.Sprintf("%s (%v)", d.Host, d.Asked))
	}
	if more := len(s.demanding) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(b, "asked for a delay over --max-delay: %s\n", strings.Join(names, ", "))
}

// next says how to go on.
func (s summary) next(b *strings.Builder) {
	switch {
	case s.end.interrupted:
		fmt.Fprintf(b, "stopped with %s to fetch; resume with: %s\n", plural(s.pending, "URL"), s.again)
	case s.pending > 0 && s.end.limit != "":
		fmt.Fprintf(b, "stopped at %s with %s to fetch; go on with: %s\n", s.end.limit, plural(s.pending, "URL"), s.again)
	case s.pending > 0 && s.end.spent > 0:
		fmt.Fprintf(b, "%s left; %s with a spent budget; go on with more: %s\n", plural(s.pending, "URL"), plural(int64(s.end.spent), "host"), s.again)
	case s.pending > 0 && len(s.end.lost) > 0:
		fmt.Fprintf(b, "%s left; missing: %s; put it back and go on with: %s\n", plural(s.pending, "URL"), strings.Join(s.end.lost, ", "), s.again)
	case s.pending > 0:
		fmt.Fprintf(b, "%s left, of hosts that do not answer; try them again with: %s\n", plural(s.pending, "URL"), s.again)
	case s.store != defaultStore:
		fmt.Fprintf(b, "see them with: skink report --store %s\n", quoted(s.store))
	default:
		fmt.Fprintln(b, "see them with: skink report")
	}
}

// attrs are the same for a log.
func (s summary) attrs() []any {
	a, t := s.added, s.all
	stopped := s.end.limit
	if s.end.interrupted {
		stopped = "interrupted"
	}
	return []any{
		"added", a.Pages(), "seconds", s.took.Seconds(), "pages", t.Pages(), "unique", t.Unique, "exact", t.Exact, "near", t.Near,
		"thin", t.Thin, "redirects", t.Redirects, "other", t.Other, "blocked", t.Blocked, "skipped", t.Skipped, "capped", t.Capped,
		"errors", t.Errors, "problems", t.Problems, "pending", s.pending, "stopped", stopped, "store", s.store, "bytes", s.bytes,
	}
}

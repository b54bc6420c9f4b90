package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/harmless"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
)

// A summary holds the data of the message at the end of a crawl.
type summary struct {
	added, all store.Tally   // by this run, and in the store
	visits     ingest.Visits // to URLs that were visited before
	urls       frontier.Counts
	later      int64 // number of blocked URLs that were postponed
	rule       dedup.Rule
	took       time.Duration
	store      string
	bytes      int64
	feed       string
	archive    string
	demanding  []crawler.Demand
	alone      []crawler.LeftHost
	postponed  []report.Postponed
	only       string // why the crawl found only one page; "": it found more
	end        ending
	again      string // command that continues the crawl; "": the run judged an archive
}

// An ending says why a crawl ended with URLs pending. The zero value means that they are on hosts
// that do not answer.
type ending struct {
	interrupted bool
	limit       string   // the flag that stopped it
	spent       int      // hosts whose budget is spent
	lost        []string // missing folders with pending URLs
}

// over reports whether a crawl ended because no URL was left that it could fetch.
func (e ending) over() bool { return !e.interrupted && e.limit == "" }

func (s summary) String() string {
	var b strings.Builder
	s.pages(&b)
	s.ends(&b)
	s.patterns(&b)
	s.saved(&b)
	s.slowed(&b)
	s.leftAlone(&b)
	s.next(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

// pages writes the counts of judged pages.
func (s summary) pages(b *strings.Builder) {
	a, t := s.added, s.all
	fmt.Fprintf(b, "%s in %s, %.1f a second\n", report.Counted(a.Pages(), "page"), durationText(s.took), float64(a.Pages())/max(s.took.Seconds(), 1e-3))
	if n := s.visits.All(); n > 0 {
		fmt.Fprintf(b, "came back to %s: %s\n", report.Counted(n, "URL"), visitsText(s.visits))
	}
	if t.Pages() != a.Pages() {
		fmt.Fprintf(b, "in the store now: %s\n", report.Counted(t.Pages(), "page"))
	}
	for _, v := range []struct {
		kind dedup.VerdictKind
		n    int64
	}{{dedup.Unique, t.Unique}, {dedup.Exact, t.Exact}, {dedup.Near, t.Near}, {dedup.Thin, t.Thin}} {
		endRow{string(v.kind), v.n, s.rule.Explain(v.kind)}.print(b)
	}
	if t.Capped > 0 {
		fmt.Fprintf(b, "%s met so many alike that not all were compared\n", report.Counted(t.Capped, "page"))
	}
}

// visitsText returns the results of visits to known URLs as a text.
func visitsText(visits ingest.Visits) string {
	var parts []string
	for _, kind := range []store.VisitKind{store.NotModified, store.Same, store.Altered, ingest.Otherwise, store.Vanished, store.Failed, store.FirstVisit, ingest.StillNone} {
		if n := visits[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", report.Grouped(n), kind))
		}
	}
	return strings.Join(parts, ", ")
}

// ends writes the number of URLs in each state that is not empty.
func (s summary) ends(b *strings.Builder) {
	rows, all := endRows(s.urls, s.later, s.all)
	fmt.Fprintln(b, report.Counted(all, "URL"))
	for _, row := range rows {
		if row.n > 0 {
			row.print(b)
		}
	}
}

// patternsShown is how many patterns of postponed URLs a summary and a status show.
const patternsShown = 5

// patterns writes which URLs were postponed, why, and how to fetch them.
func (s summary) patterns(b *strings.Builder) {
	if len(s.postponed) == 0 {
		return
	}
	printPostponed(b, s.postponed)
	if s.again != "" {
		fmt.Fprintf(b, "fetch what was postponed with: %s --budget off\n", s.again)
	}
}

// printPostponed writes which URLs were postponed, and why.
func printPostponed(w io.Writer, all []report.Postponed) {
	n := int64(0)
	for _, p := range all {
		n += p.URLs
	}
	fmt.Fprintf(w, "%s postponed\n", report.Counted(n, "URL"))
	for _, p := range all[:min(len(all), patternsShown)] {
		fmt.Fprintf(w, "  %10s   %s; such as %s\n", report.Grouped(p.URLs), harmless.Line(p.Why()), harmless.Line(p.Example))
	}
	if more := len(all) - patternsShown; more > 0 {
		fmt.Fprintf(w, "  and %s\n", report.Counted(more, "more pattern"))
	}
}

// saved writes the size of the store on disk, and what the duplicates would have added.
func (s summary) saved(b *strings.Builder) {
	t := s.all
	if t.Pages() > 0 {
		duplicates := t.Exact + t.Near
		fmt.Fprintf(b, "%s of %s (%s) need not be indexed\n", report.Counted(duplicates, "duplicate"), report.Counted(t.Pages(), "page"), report.Share(duplicates, t.Pages()))
		if t.Unkept > 0 {
			fmt.Fprintf(b, "%s kept without text\n", report.Counted(t.Unkept, "duplicate"))
		}
		if s.bytes > 0 {
			fmt.Fprintf(b, "saved in %s: %s, %s a page\n", s.store, bytesText(s.bytes), bytesText(s.bytes/t.Pages()))
		} else { // the store is on a server
			fmt.Fprintf(b, "saved in %s\n", s.store)
		}
	}
	if s.feed != "" && s.feed != "-" {
		fmt.Fprintf(b, "the feed is in %s\n", s.feed)
	}
	if s.archive != "" {
		fmt.Fprintf(b, "the answers are in %s: %s\n", s.archive, bytesText(diskUse(s.archive)))
	}
}

// slowed writes the hosts that asked for a longer delay than they got.
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
		names = append(names, fmt.Sprintf("%s more", report.Grouped(more)))
	}
	fmt.Fprintf(b, "asked for a delay over --max-delay: %s\n", strings.Join(names, ", "))
}

// leftAlone writes the hosts that got no more requests, and why.
func (s summary) leftAlone(b *strings.Builder) {
	for _, h := range s.alone[:min(len(s.alone), mostHosts)] {
		fmt.Fprintf(b, "left alone for the rest of the run: %s: %s\n", h.Host, h.Why)
	}
	if more := len(s.alone) - mostHosts; more > 0 {
		fmt.Fprintf(b, "left alone for the rest of the run: %s more\n", report.Counted(more, "host"))
	}
}

// next writes how to continue.
func (s summary) next(b *strings.Builder) {
	switch {
	case s.again == "":
		s.done(b)
	case s.end.interrupted:
		fmt.Fprintf(b, "stopped with %s to fetch; resume with: %s\n", report.Counted(s.urls.Pending, "URL"), s.again)
	case s.urls.Pending > 0 && s.end.limit != "":
		fmt.Fprintf(b, "stopped at %s with %s to fetch; go on with: %s\n", s.end.limit, report.Counted(s.urls.Pending, "URL"), s.again)
	case s.urls.Pending > 0 && s.end.spent > 0:
		fmt.Fprintf(b, "%s left; %s with a spent budget; go on with more: %s\n", report.Counted(s.urls.Pending, "URL"), report.Counted(s.end.spent, "host"), s.again)
	case s.urls.Pending > 0 && len(s.end.lost) > 0:
		fmt.Fprintf(b, "%s left; missing: %s; put it back and go on with: %s\n", report.Counted(s.urls.Pending, "URL"), strings.Join(s.end.lost, ", "), s.again)
	case s.urls.Pending > 0 && len(s.alone) > 0:
		fmt.Fprintf(b, "%s left, of hosts that were left alone or do not answer; try them again with: %s\n", report.Counted(s.urls.Pending, "URL"), s.again)
	case s.urls.Pending > 0:
		fmt.Fprintf(b, "%s left, of hosts that do not answer; try them again with: %s\n", report.Counted(s.urls.Pending, "URL"), s.again)
	default:
		s.done(b)
	}
}

// done writes what to do with a finished crawl.
func (s summary) done(b *strings.Builder) {
	if s.only != "" {
		fmt.Fprintf(b, "no other page was found: %s\n", s.only)
	}
	if n := s.urls.GivenUp; n > 0 && s.again != "" {
		fmt.Fprintf(b, "%s given up; try again with: %s --retry\n", report.Counted(n, "URL"), s.again)
	}
	switch {
	case s.all.Pages() == 0:
	case s.store != defaultStore:
		fmt.Fprintf(b, "see them with: skink report --store %s\n", quoted(s.store))
	default:
		fmt.Fprintln(b, "see them with: skink report")
	}
}

// attrs returns the summary as attributes for a log.
func (s summary) attrs() []any {
	a, t := s.added, s.all
	stopped := s.end.limit
	if s.end.interrupted {
		stopped = "interrupted"
	}
	return []any{
		"added", a.Pages(), "seconds", s.took.Seconds(), "pages", t.Pages(), "unique", t.Unique, "exact", t.Exact, "near", t.Near,
		"thin", t.Thin, "other", t.Other, "unkept", t.Unkept, "capped", t.Capped, "urls", countsByName(s.urls, s.later),
		"problems", t.Problems, "given_up", t.GivenUp, "visits", visitsByName(s.visits), "left_alone", aloneByName(s.alone),
		"postponed", s.postponed[:min(len(s.postponed), patternsShown)], "stopped", stopped, "store", s.store, "bytes", s.bytes,
	}
}

func aloneByName(alone []crawler.LeftHost) map[string]string {
	named := map[string]string{}
	for _, h := range alone {
		named[h.Host] = h.Why
	}
	return named
}

func visitsByName(visits ingest.Visits) map[string]int64 {
	named := map[string]int64{}
	for kind, n := range visits {
		named[kind.String()] = n
	}
	return named
}

package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"skink/base/harmless"
	"skink/crawler"
	"skink/dedup"
	"skink/internal/ingest"
	"skink/report"
	"skink/store"
	"skink/store/disk"
)

// A Summary holds the results of a run, and statistics of its store at the end.
type Summary struct {
	Began     bool          // the seeds were written to the store
	Added     store.Tally   // records added by this run
	Counts                  // of all records in the store
	Visits    ingest.Visits // this run's visits to URLs that had been visited before, by result
	Rule      dedup.Rule
	Renders   bool // a browser renders the pages
	Took      time.Duration
	Store     string
	Bytes     int64  // size of the store; 0 means unknown
	Feed      string // target of the feed; "" if there is no feed, or if it lacks pages
	Archive   string
	Demanding []crawler.Demand
	Alone     []crawler.LeftHost
	Overrides Overrides
	Missed    []string // sentences about selectors that found nothing
	Postponed []report.Postponed
	Only      string // why the crawl found only one page; "" if it found none or several
	End       Ending
	Again     string // command that continues the crawl; "" if there is nothing to continue
}

// count adds the statistics of the store, to which other workers may also have added records.
func (s *Summary) count(ctx context.Context, of *NamedStore) (err error) {
	s.Bytes, _ = of.disk()
	s.Counts, err = ReadCounts(ctx, of)
	return err
}

// An Ending records why a crawl ended even though URLs are pending. The zero value means that all
// of them are on hosts that do not respond.
type Ending struct {
	Interrupted bool
	Ordered     bool     // an order interrupted the crawl
	Limit       string   // flag of the limit that the crawl reached; "" means none
	Spent       int      // number of hosts from which the crawl has fetched as much as the options allow
	Insecure    []string // hosts whose certificates were not checked
}

// Over reports whether a crawl ended because nothing was left to fetch, rather than because it was
// interrupted or reached a limit.
func (e Ending) Over() bool { return !e.Interrupted && e.Limit == "" }

func (s Summary) String() string {
	var b strings.Builder
	s.pages(&b)
	s.ends(&b)
	s.patterns(&b)
	s.saved(&b)
	s.slowed(&b)
	s.leftAlone(&b)
	s.Overrides.Print(&b)
	for _, text := range s.Missed[:min(len(s.Missed), MaxHosts)] {
		fmt.Fprintln(&b, harmless.Line(text))
	}
	s.next(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

func (s Summary) pages(b *strings.Builder) {
	a, t := s.Added, s.All
	visits := report.Total(s.Visits)
	if a.Pages() > 0 || visits == 0 {
		unit := "page"
		if visits > 0 {
			unit = "new page"
		}
		fmt.Fprintf(b, "%s in %s, %.1f a second\n", report.Counted(a.Pages(), unit), report.Duration(s.Took), float64(a.Pages())/max(s.Took.Seconds(), 1e-3))
	}
	if visits > 0 {
		fmt.Fprintf(b, "revisited %s: %s\n", report.Counted(visits, "URL"), visitsText(s.Visits))
	}
	if t.Pages() != a.Pages() {
		fmt.Fprintf(b, "in the store now: %s\n", report.Counted(t.Pages(), "page"))
	}
	for _, v := range []struct {
		kind dedup.VerdictKind
		n    int64
	}{{dedup.Unique, t.Unique}, {dedup.Exact, t.Exact}, {dedup.Near, t.Near}, {dedup.Thin, t.Thin}} {
		PrintCount(b, string(v.kind), v.n, s.Rule.Explain(v.kind))
	}
	if t.Rendered > 0 && (s.Renders || visits == 0) {
		fmt.Fprintf(b, "%s rendered with a browser\n", report.Counted(t.Rendered, "page"))
	}
	if t.Unrendered > 0 {
		fmt.Fprintf(b, "%s could not be rendered; see the reasons with: skink report --about unrendered\n", report.Counted(t.Unrendered, "page"))
	}
	switch {
	case t.Scripts == 0:
	case s.Renders:
		fmt.Fprintf(b, "%s, but no browser rendered them: see skink report --about no-text\n", report.Counted(t.Scripts, "page")+needScripts(t.Scripts))
	default:
		them := "them"
		if t.Scripts == 1 {
			them = "it"
		}
		fmt.Fprintf(b, "%s; --render auto fetches %s with a browser\n", report.Counted(t.Scripts, "page")+needScripts(t.Scripts), them)
	}
	if t.Capped > 0 {
		fmt.Fprintf(b, "%s not compared with every similar page, because there were too many\n", report.Counted(t.Capped, "page"))
	}
}

func needScripts(n int64) string {
	if n == 1 {
		return " needs scripts"
	}
	return " need scripts"
}

func visitsText(visits ingest.Visits) string {
	var parts []string
	for _, kind := range []store.VisitKind{store.NotModified, store.Same, store.Altered, ingest.Otherwise, store.Vanished, store.Failed, store.FirstVisit, ingest.StillNone} {
		if n := visits[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", report.Grouped(n), kind))
		}
	}
	return strings.Join(parts, ", ")
}

func (s Summary) ends(b *strings.Builder) {
	rows, all := s.Rows()
	fmt.Fprintln(b, report.Counted(all, "URL"))
	for _, row := range rows {
		if row.URLs > 0 {
			PrintCount(b, row.Name, row.URLs, row.Note)
		}
	}
	if n := s.All.Captchas; n > 0 {
		fmt.Fprintf(b, "%s answered with a captcha; try again later with: --retry blocked\n", report.Counted(n, "URL"))
	}
}

const patternsShown = 5

func (s Summary) patterns(b *strings.Builder) {
	if len(s.Postponed) == 0 {
		return
	}
	PrintPostponed(b, s.Postponed)
	if s.Again != "" {
		fmt.Fprintf(b, "fetch postponed URLs with: %s --budget off\n", s.Again)
	}
}

// PrintPostponed writes which URLs were postponed, and why.
func PrintPostponed(w io.Writer, all []report.Postponed) {
	n := int64(0)
	for _, p := range all {
		n += p.URLs
	}
	fmt.Fprintf(w, "%s postponed\n", report.Counted(n, "URL"))
	for _, p := range all[:min(len(all), patternsShown)] {
		fmt.Fprintf(w, "  %10s   %s; for example %s\n", report.Grouped(p.URLs), harmless.Line(p.Why()), harmless.Line(p.Example))
	}
	if more := len(all) - patternsShown; more > 0 {
		fmt.Fprintf(w, "  and %s\n", report.Counted(more, "more pattern"))
	}
}

func (s Summary) saved(b *strings.Builder) {
	t := s.All
	if t.Pages() > 0 {
		duplicates := t.Exact + t.Near
		fmt.Fprintf(b, "%s of %s (%s)\n", report.Counted(duplicates, "duplicate"), report.Counted(t.Pages(), "page"), report.Share(duplicates, t.Pages()))
		if t.Unkept > 0 {
			fmt.Fprintf(b, "%s stored without text\n", report.Counted(t.Unkept, "duplicate"))
		}
		if s.Bytes > 0 {
			fmt.Fprintf(b, "saved in %s: %s (%s per page)\n", s.Store, report.Bytes(s.Bytes), report.Bytes(s.Bytes/t.Pages()))
		} else { // the store is on a server, so its size is unknown
			fmt.Fprintf(b, "saved in %s\n", s.Store)
		}
	}
	if s.Feed != "" && s.Feed != "-" {
		fmt.Fprintf(b, "the feed is in %s\n", s.Feed)
	}
	if s.Archive != "" {
		fmt.Fprintf(b, "the web archive is in %s (%s)\n", s.Archive, report.Bytes(disk.Use(s.Archive)))
	}
}

func (s Summary) slowed(b *strings.Builder) {
	const most = 5
	if len(s.Demanding) == 0 {
		return
	}
	var names []string
	for _, d := range s.Demanding[:min(len(s.Demanding), most)] {
		names = append(names, fmt.Sprintf("%s (%v)", d.Host, d.Asked))
	}
	if more := len(s.Demanding) - most; more > 0 {
		names = append(names, fmt.Sprintf("%s more", report.Grouped(more)))
	}
	fmt.Fprintf(b, "these hosts asked for a longer delay than --max-delay: %s\n", strings.Join(names, ", "))
}

func (s Summary) leftAlone(b *strings.Builder) {
	for _, host := range s.End.Insecure {
		fmt.Fprintf(b, "any certificate of %s was accepted, so the host got no secrets\n", host)
	}
	for _, h := range s.Alone[:min(len(s.Alone), MaxHosts)] {
		fmt.Fprintf(b, "suspended until the end of the run: %s: %s\n", h.Host, h.Why)
	}
	if more := len(s.Alone) - MaxHosts; more > 0 {
		fmt.Fprintf(b, "suspended until the end of the run: %s\n", report.Counted(more, "host"))
	}
}

// next writes the command that continues the crawl. For a finished crawl, it writes commands that
// use the result.
func (s Summary) next(b *strings.Builder) {
	switch {
	case s.Again == "":
		s.done(b)
	case s.End.Interrupted:
		fmt.Fprintf(b, "interrupted with %s pending; continue with: %s\n", report.Counted(s.URLs.Pending, "URL"), s.Again)
	case s.URLs.Pending > 0 && s.End.Limit != "":
		fmt.Fprintf(b, "stopped at %s with %s pending; continue with: %s\n", s.End.Limit, report.Counted(s.URLs.Pending, "URL"), s.Again)
	case s.URLs.Pending > 0 && s.End.Spent > 0:
		fmt.Fprintf(b, "%s pending on %s that reached --max-host-pages or --max-host-bytes; continue with higher limits: %s\n", report.Counted(s.URLs.Pending, "URL"), report.Counted(s.End.Spent, "host"), s.Again)
	case s.URLs.Pending > 0 && len(s.Alone) > 0:
		fmt.Fprintf(b, "%s pending on hosts that were suspended or do not respond; try again with: %s\n", report.Counted(s.URLs.Pending, "URL"), s.Again)
	case s.URLs.Pending > 0:
		fmt.Fprintf(b, "%s pending on hosts that do not respond; try again with: %s\n", report.Counted(s.URLs.Pending, "URL"), s.Again)
	default:
		s.done(b)
	}
}

func (s Summary) done(b *strings.Builder) {
	if s.Only != "" {
		fmt.Fprintf(b, "no other page was found: %s\n", s.Only)
	}
	if n := s.URLs.GivenUp; n > 0 && s.Again != "" {
		fmt.Fprintf(b, "%s given up; try again with: %s --retry\n", report.Counted(n, "URL"), s.Again)
	}
	if s.All.Pages() > 0 {
		fmt.Fprintf(b, "see the duplicates with: %s\n", WithStore("skink report", s.Store))
	}
}

func (s Summary) attrs() []any {
	a, t := s.Added, s.All
	stopped := s.End.Limit
	if s.End.Interrupted {
		stopped = "interrupted"
	}
	return []any{
		"added", a.Pages(), "seconds", s.Took.Seconds(), "pages", t.Pages(), "unique", t.Unique, "exact", t.Exact, "near", t.Near,
		"thin", t.Thin, "other", t.Other, "unkept", t.Unkept, "capped", t.Capped, "need_scripts", t.Scripts, "rendered", t.Rendered, "unrendered", t.Unrendered, "urls", s.ByName(),
		"problems", t.Problems, "given_up", t.GivenUp, "visits", visitsByName(s.Visits), "left_alone", aloneByName(s.Alone), "robots_overridden", s.Overrides, "selectors_missed", s.Missed,
		"postponed", s.Postponed[:min(len(s.Postponed), patternsShown)], "stopped", stopped, "store", s.Store, "bytes", s.Bytes,
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

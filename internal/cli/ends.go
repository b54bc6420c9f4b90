package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"skink/dedup"
	"skink/frontier"
	"skink/report"
	"skink/store"
)

// A namedState is how a URL ended, with the word that people use for it.
type namedState struct {
	name  string
	state frontier.State
	later bool // of the URLs in this state, only those postponed
	note  string
}

// states are in the order of a URL's way. The status, the summary of a crawl and the
// report speak of URLs in these words.
var states = []namedState{
	{"pending", frontier.Pending, false, "still to fetch"},
	{"fetched", frontier.Fetched, false, ""},
	{"redirected", frontier.Redirected, false, "to another URL"},
	{"blocked", frontier.Blocked, false, "robots.txt says no"},
	{"postponed", frontier.Blocked, true, "their patterns kept returning known texts; fetch them with --budget off"},
	{"failed", frontier.Failed, false, "no page there"},
	{"given-up", frontier.GivenUp, false, "tried as often as is allowed"},
	{"outside", frontier.Outside, false, "linked to, but out of scope or too deep"},
}

// nameOf is the word for a state.
func nameOf(state frontier.State) string {
	for _, s := range states {
		if s.state == state {
			return s.name
		}
	}
	return ""
}

// likelyPostponed is how many URLs were postponed, as far as the counts tell. A postponed URL ends in
// the state of one that is blocked. Only its record says that it is not, and that stays when the URL
// is pending again. So the records of blocked URLs are taken for those of URLs that still are.
func likelyPostponed(n frontier.Counts, t store.Tally) int64 { return max(n.Blocked-t.Blocked, 0) }

// countPostponed is likelyPostponed without a guess: if URLs with either record are pending again, it
// looks at all pending URLs.
func countPostponed(ctx context.Context, s store.Reader, n frontier.Counts, t store.Tally) (int64, error) {
	if n.Blocked == 0 || t.Blocked == 0 || t.Later == 0 || t.Blocked+t.Later <= n.Blocked {
		return likelyPostponed(n, t), nil
	}
	postponed, some := t.Later, []dedup.Hash(nil)
	look := func() error {
		pages, err := s.Pages(ctx, some, store.WantRecord)
		for _, page := range pages {
			if page != nil && page.Record.Kind == store.Later {
				postponed--
			}
		}
		some = some[:0]
		return err
	}
	for url, err := range s.URLs(ctx, frontier.Pending) {
		if err == nil {
			if some = append(some, dedup.Hash(frontier.ID(url))); len(some) == 1000 {
				err = look()
			}
		}
		if err != nil {
			return 0, fmt.Errorf("count what was postponed: %w", err)
		}
	}
	if err := look(); err != nil {
		return 0, fmt.Errorf("count what was postponed: %w", err)
	}
	return min(max(postponed, 0), n.Blocked), nil
}

// countsByName says how many URLs ended in each way. postponed are those of the blocked URLs that
// were postponed.
func countsByName(n frontier.Counts, postponed int64) map[string]int64 {
	return map[string]int64{
		"pending": n.Pending, "fetched": n.Fetched, "redirected": n.Redirected, "blocked": n.Blocked - postponed, "postponed": postponed,
		"failed": n.Failed, "given-up": n.GivenUp, "outside": n.Outside,
	}
}

// An endRow says how many URLs ended in one way.
type endRow struct {
	name string
	n    int64
	note string
}

// endRows say of all URLs of a store how they ended: the numbers add up to all.
func endRows(n frontier.Counts, postponed int64, t store.Tally) (rows []endRow, all int64) {
	byName := countsByName(n, postponed)
	pending := n.Pending // URLs that may have a record from an earlier visit
	for _, s := range states {
		row := endRow{s.name, byName[s.name], s.note}
		records := row.n
		switch {
		case s.state == frontier.Fetched:
			records = t.Pages() + t.Other + t.Sitemaps
			row.note = fmt.Sprintf("%s, %s other (not text)", report.Counted(t.Pages(), "page"), report.Grouped(t.Other))
			if t.Sitemaps > 0 {
				row.note += ", " + report.Counted(t.Sitemaps, "sitemap")
			}
		case s.state == frontier.Redirected:
			records = t.Redirects
		case s.later:
			records = t.Later
		case s.state == frontier.Blocked:
			records = t.Blocked
		case s.state == frontier.Failed:
			records = total(t.Failed())
			row.note = cmp.Or(report.Problems(t.Failed()), row.note)
		case s.state == frontier.GivenUp:
			records = total(t.GivenUp)
			row.note = cmp.Or(report.Problems(t.GivenUp), row.note)
		}
		again := max(min(records-row.n, pending), 0)
		pending -= again
		if again > 0 {
			row.note += fmt.Sprintf(", %s of %s to be visited again", report.Grouped(again), report.Grouped(records))
		}
		if files := records - row.n - again; s.state == frontier.Fetched && files > 0 { // skink dedup put the files there
			row.note += fmt.Sprintf(", %s of them no URLs but files", report.Grouped(files))
		}
		rows, all = append(rows, row), all+row.n
	}
	return rows, all
}

// total is the sum of the counts of all kinds.
func total(byKind map[string]int64) (n int64) {
	for _, count := range byKind {
		n += count
	}
	return n
}

// print writes a row of a table.
func (r endRow) print(w io.Writer) {
	fmt.Fprintf(w, "  %-10s%8s   %s\n", r.name, report.Grouped(r.n), r.note)
}

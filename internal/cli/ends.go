package cli

import (
	"cmp"
	"fmt"
	"io"

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

// countsByName says how many URLs ended in each way. A postponed URL ends in the state of one that
// is blocked. Only its record says that it is not, and that stays when the URL is pending again. So
// what the records of blocked URLs do not account for was postponed.
func countsByName(n frontier.Counts, t store.Tally) map[string]int64 {
	postponed := max(n.Blocked-t.Blocked, 0)
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
func endRows(n frontier.Counts, t store.Tally) (rows []endRow, all int64) {
	byName := countsByName(n, t)
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

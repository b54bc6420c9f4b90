package cli

import (
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
	later bool // of the URLs in this state, only those put last
	note  string
}

// states are in the order of a URL's way. The status, the summary of a crawl and the
// report speak of URLs in these words.
var states = []namedState{
	{"pending", frontier.Pending, false, "still to fetch"},
	{"fetched", frontier.Fetched, false, ""},
	{"redirected", frontier.Redirected, false, "to another URL"},
	{"blocked", frontier.Blocked, false, "robots.txt says no"},
	{"put-last", frontier.Blocked, true, "a later run fetches them, or --budget off"},
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

// countsByName says how many URLs ended in each way. A URL that is put last ends in the state of
// one that is blocked. Only its record says that it is not.
func countsByName(n frontier.Counts, t store.Tally) map[string]int64 {
	return map[string]int64{
		"pending": n.Pending, "fetched": n.Fetched, "redirected": n.Redirected, "blocked": n.Blocked - t.Later, "put-last": t.Later,
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
	for _, s := range states {
		row := endRow{s.name, byName[s.name], s.note}
		problems := ""
		switch s.state {
		case frontier.Fetched:
			row.note = fmt.Sprintf("%s, %s other (not text)", report.Counted(t.Pages(), "page"), report.Grouped(t.Other))
			if t.Sitemaps > 0 {
				row.note += ", " + report.Counted(t.Sitemaps, "sitemap")
			}
			more := t.Pages() + t.Other + t.Sitemaps - row.n
			again := min(more, n.Pending)
			if again > 0 {
				row.note += fmt.Sprintf(", %s of them to be visited again", report.Grouped(again))
			}
			if files := more - again; files > 0 { // skink dedup put the files there
				row.note += fmt.Sprintf(", %s of them no URLs but files", report.Grouped(files))
			}
		case frontier.Failed:
			problems = report.Problems(t.Failed())
		case frontier.GivenUp:
			problems = report.Problems(t.GivenUp)
		}
		if problems != "" {
			row.note = problems
		}
		rows, all = append(rows, row), all+row.n
	}
	return rows, all
}

// print writes a row of a table.
func (r endRow) print(w io.Writer) {
	fmt.Fprintf(w, "  %-10s%8s   %s\n", r.name, report.Grouped(r.n), r.note)
}

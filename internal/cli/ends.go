package cli

import (
	"fmt"
	"io"

	"skink/frontier"
	"skink/report"
	"skink/store"
)

// A namedState is how a URL ended, in the word by which a person asks for it.
type namedState struct {
	name  string
	state frontier.State
	note  string
}

// states are in the order of a URL's way. The status, the summary of a crawl and the
// report speak of URLs in these words.
var states = []namedState{
	{"pending", frontier.Pending, "still to fetch"},
	{"fetched", frontier.Fetched, ""},
	{"redirected", frontier.Redirected, "to another URL"},
	{"blocked", frontier.Blocked, "robots.txt says no"},
	{"failed", frontier.Failed, "no page there"},
	{"given-up", frontier.GivenUp, "tried as often as is allowed"},
	{"outside", frontier.Outside, "linked to, but out of scope or too deep"},
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

func countsByName(n frontier.Counts) map[string]int64 {
	return map[string]int64{
		"pending": n.Pending, "fetched": n.Fetched, "redirected": n.Redirected, "blocked": n.Blocked,
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
	byName := countsByName(n)
	for _, s := range states {
		row := endRow{s.name, byName[s.name], s.note}
		problems := ""
		switch s.state {
		case frontier.Fetched:
			row.note = fmt.Sprintf("%s, %d other (not text)", plural(t.Pages(), "page"), t.Other)
			if files := t.Pages() + t.Other - row.n; files > 0 { // skink dedup put them there
				row.note += fmt.Sprintf(", %d of them no URLs but files", files)
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
	fmt.Fprintf(w, "  %-10s%8d   %s\n", r.name, r.n, r.note)
}

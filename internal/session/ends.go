package session

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"skink/base/harmless"
	"skink/frontier"
	"skink/report"
	"skink/store"
	"skink/view"
)

// A NamedState is a URL state with the name that users see, such as "given-up".
type NamedState struct {
	Name  string
	State frontier.State
	Note  string
}

// States lists all states, in the order of the glossary.
var States = namedStates()

func namedStates() (all []NamedState) {
	of := map[string]frontier.State{
		"pending": frontier.Pending, "fetched": frontier.Fetched, "redirected": frontier.Redirected, "blocked": frontier.Blocked,
		"postponed": frontier.Postponed, "failed": frontier.Failed, "given-up": frontier.GivenUp, "outside": frontier.Outside,
	}
	for _, t := range report.URLStates() {
		all = append(all, NamedState{t.Name, of[t.Name], t.Meaning})
	}
	return all
}

// NameOf returns the name of a state.
func NameOf(state frontier.State) string {
	for _, s := range States {
		if s.State == state {
			return s.Name
		}
	}
	return ""
}

// Counts are the numbers of the records and the URLs of a store.
type Counts struct {
	All  store.Tally
	URLs frontier.Counts
}

// ReadCounts counts the records and the URLs of a store.
func ReadCounts(ctx context.Context, s store.Reader) (c Counts, err error) {
	if c.URLs, err = s.Counts(ctx); err != nil {
		return c, err
	}
	c.All, err = s.Tally(ctx)
	return c, err
}

// ByName returns the number of URLs in each state, by name.
func (c Counts) ByName() map[string]int64 {
	n := c.URLs
	return map[string]int64{
		"pending": n.Pending, "fetched": n.Fetched, "redirected": n.Redirected, "blocked": n.Blocked, "postponed": n.Postponed,
		"failed": n.Failed, "given-up": n.GivenUp, "outside": n.Outside,
	}
}

// Rows returns a row for each state, and the total number of URLs.
func (c Counts) Rows() (rows []view.End, all int64) {
	byName, t := c.ByName(), &c.All
	pending := c.URLs.Pending // may include URLs that have a record from an earlier visit
	for _, s := range States {
		row := view.End{Name: s.Name, URLs: byName[s.Name], Note: s.Note}
		records := row.URLs
		switch {
		case s.State == frontier.Fetched:
			records = t.Pages() + t.Other + t.Sitemaps
			row.Note = fmt.Sprintf("%s, %s without text", report.Counted(t.Pages(), "page"), report.Counted(t.Other, "file"))
			if t.Sitemaps > 0 {
				row.Note += ", " + report.Counted(t.Sitemaps, "sitemap")
			}
		case s.State == frontier.Redirected:
			records = t.Redirects
		case s.State == frontier.Postponed:
			records = t.Later
		case s.State == frontier.Blocked:
			records = t.Blocked
		case s.State == frontier.Failed:
			records = report.Total(t.Failed())
			row.Note = cmp.Or(report.Problems(t.Failed()), row.Note)
		case s.State == frontier.GivenUp:
			records = report.Total(t.GivenUp)
			row.Note = cmp.Or(report.Problems(t.GivenUp), row.Note)
		}
		again := max(min(records-row.URLs, pending), 0)
		pending -= again
		if again > 0 {
			row.Note += fmt.Sprintf(", %s of %s waiting for a revisit", report.Grouped(again), report.Grouped(records))
		}
		if files := records - row.URLs - again; s.State == frontier.Fetched && files > 0 { // files that skink dedup recorded have no URL in the frontier
			row.Note += fmt.Sprintf(", %s of these read from files", report.Grouped(files))
		}
		row.Note = harmless.Line(row.Note)
		rows, all = append(rows, row), all+row.URLs
	}
	return rows, all
}

// PrintCount writes a row of a table of numbers, such as one of [Counts.Rows].
func PrintCount(w io.Writer, name string, n int64, note string) {
	fmt.Fprintf(w, "  %-10s%8s   %s\n", name, report.Grouped(n), note)
}

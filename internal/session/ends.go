package session

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

// A NamedState is a URL state with the name that users see, such as "given-up".
type NamedState struct {
	Name  string
	State frontier.State
	Later bool // true for postponed URLs, which have the same State as blocked URLs
	Note  string
}

// States lists all states, in the order of the glossary.
var States = namedStates()

func namedStates() (all []NamedState) {
	of := map[string]frontier.State{
		"pending": frontier.Pending, "fetched": frontier.Fetched, "redirected": frontier.Redirected, "blocked": frontier.Blocked,
		"postponed": frontier.Blocked, "failed": frontier.Failed, "given-up": frontier.GivenUp, "outside": frontier.Outside,
	}
	for _, t := range store.URLStates() {
		all = append(all, NamedState{t.Name, of[t.Name], t.Name == "postponed", t.Meaning})
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

// LikelyPostponed estimates the number of postponed URLs. In the frontier, a postponed URL has the
// same state as a blocked URL; only their records in the store differ. The estimate is the number
// of URLs in that state minus the number of records of blocked URLs. It is too low if some blocked
// URLs are pending again, because their records remain.
func LikelyPostponed(n frontier.Counts, t store.Tally) int64 { return max(n.Blocked-t.Blocked, 0) }

// CountPostponed returns the exact number of postponed URLs. It reads all pending URLs if blocked
// or postponed URLs may be pending again.
func CountPostponed(ctx context.Context, s store.Reader, n frontier.Counts, t store.Tally) (int64, error) {
	if n.Blocked == 0 || t.Blocked == 0 || t.Later == 0 || t.Blocked+t.Later <= n.Blocked {
		return LikelyPostponed(n, t), nil
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
			return 0, fmt.Errorf("count postponed URLs: %w", err)
		}
	}
	if err := look(); err != nil {
		return 0, fmt.Errorf("count postponed URLs: %w", err)
	}
	return min(max(postponed, 0), n.Blocked), nil
}

// CountsByName returns the number of URLs in each state, by name. The argument postponed is the
// number of postponed URLs, which n.Blocked includes.
func CountsByName(n frontier.Counts, postponed int64) map[string]int64 {
	return map[string]int64{
		"pending": n.Pending, "fetched": n.Fetched, "redirected": n.Redirected, "blocked": n.Blocked - postponed, "postponed": postponed,
		"failed": n.Failed, "given-up": n.GivenUp, "outside": n.Outside,
	}
}

// An EndRow is a row of the table of URLs by state.
type EndRow struct {
	Name string
	N    int64
	Note string
}

// EndRows returns a row for each state, and the total number of URLs.
func EndRows(n frontier.Counts, postponed int64, t store.Tally) (rows []EndRow, all int64) {
	byName := CountsByName(n, postponed)
	pending := n.Pending // may include URLs that have a record from an earlier visit
	for _, s := range States {
		row := EndRow{s.Name, byName[s.Name], s.Note}
		records := row.N
		switch {
		case s.State == frontier.Fetched:
			records = t.Pages() + t.Other + t.Sitemaps
			row.Note = fmt.Sprintf("%s, %s without text", report.Counted(t.Pages(), "page"), report.Counted(t.Other, "file"))
			if t.Sitemaps > 0 {
				row.Note += ", " + report.Counted(t.Sitemaps, "sitemap")
			}
		case s.State == frontier.Redirected:
			records = t.Redirects
		case s.Later:
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
		again := max(min(records-row.N, pending), 0)
		pending -= again
		if again > 0 {
			row.Note += fmt.Sprintf(", %s of %s waiting for a revisit", report.Grouped(again), report.Grouped(records))
		}
		if files := records - row.N - again; s.State == frontier.Fetched && files > 0 { // files that skink dedup recorded have no URL in the frontier
			row.Note += fmt.Sprintf(", %s of these read from files", report.Grouped(files))
		}
		rows, all = append(rows, row), all+row.N
	}
	return rows, all
}

// Print writes a row of a table.
func (r EndRow) Print(w io.Writer) {
	fmt.Fprintf(w, "  %-10s%8s   %s\n", r.Name, report.Grouped(r.N), r.Note)
}

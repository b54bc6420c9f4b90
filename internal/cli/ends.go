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

// A namedState is a state of URLs with its name for users.
type namedState struct {
	name  string
	state frontier.State
	later bool // only the postponed URLs in this state
	note  string
}

// states lists all states, in the order of the glossary.
var states = namedStates()

func namedStates() (all []namedState) {
	of := map[string]frontier.State{
		"pending": frontier.Pending, "fetched": frontier.Fetched, "redirected": frontier.Redirected, "blocked": frontier.Blocked,
		"postponed": frontier.Blocked, "failed": frontier.Failed, "given-up": frontier.GivenUp, "outside": frontier.Outside,
	}
	for _, t := range store.URLStates() {
		all = append(all, namedState{t.Name, of[t.Name], t.Name == "postponed", t.Meaning})
	}
	return all
}

// nameOf returns the name of a state.
func nameOf(state frontier.State) string {
	for _, s := range states {
		if s.state == state {
			return s.name
		}
	}
	return ""
}

// likelyPostponed estimates the number of postponed URLs from the counts. A postponed URL has the
// state of a blocked one, and only its record has another kind. A record stays when its URL is
// pending again. So the estimate assumes that all URLs with a blocked record are still blocked.
func likelyPostponed(n frontier.Counts, t store.Tally) int64 { return max(n.Blocked-t.Blocked, 0) }

// countPostponed returns the exact number of postponed URLs: if URLs with either kind of record may
// be pending again, it reads all pending URLs.
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
			return 0, fmt.Errorf("count postponed URLs: %w", err)
		}
	}
	if err := look(); err != nil {
		return 0, fmt.Errorf("count postponed URLs: %w", err)
	}
	return min(max(postponed, 0), n.Blocked), nil
}

// countsByName returns the number of URLs in each state, by name. postponed is how many of the
// blocked URLs were postponed.
func countsByName(n frontier.Counts, postponed int64) map[string]int64 {
	return map[string]int64{
		"pending": n.Pending, "fetched": n.Fetched, "redirected": n.Redirected, "blocked": n.Blocked - postponed, "postponed": postponed,
		"failed": n.Failed, "given-up": n.GivenUp, "outside": n.Outside,
	}
}

// An endRow is the number of URLs in one state.
type endRow struct {
	name string
	n    int64
	note string
}

// endRows returns the numbers of a store's URLs by state, which add up to all.
func endRows(n frontier.Counts, postponed int64, t store.Tally) (rows []endRow, all int64) {
	byName := countsByName(n, postponed)
	pending := n.Pending // these may have a record from an earlier visit
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
			row.note += fmt.Sprintf(", %s of %s waiting for a revisit", report.Grouped(again), report.Grouped(records))
		}
		if files := records - row.n - again; s.state == frontier.Fetched && files > 0 { // files of skink dedup
			row.note += fmt.Sprintf(", %s of them files, not URLs", report.Grouped(files))
		}
		rows, all = append(rows, row), all+row.n
	}
	return rows, all
}

// total returns the sum of the counts.
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

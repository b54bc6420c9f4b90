package report

import (
	"context"
	"fmt"
	"time"

	"skink/internal/harmless"
	"skink/store"
)

// An About describes a report for later readers: its store, the days of the crawl, and the settings.
type About struct {
	Store    string         `json:"store"`                // its name; "": unknown
	First    time.Time      `json:"first_visit,omitzero"` // of any URL
	Last     time.Time      `json:"last_visit,omitzero"`
	Settings store.Settings `json:"settings"`           // by which its pages were judged
	Whole    bool           `json:"complete,omitempty"` // whether all pages were judged against all others
}

// See takes in the visit of a record.
func (a *About) See(r *store.Record) {
	at := r.Visited().UTC()
	if r.Visited().IsZero() {
		return
	}
	if a.First.IsZero() || at.Before(a.First) {
		a.First = at
	}
	if at.After(a.Last) {
		a.Last = at
	}
}

// Lines are what a report says of itself to people, but for the name of the store.
func (a *About) Lines() (lines []string) {
	if !a.Last.IsZero() {
		first, last := a.First.Format(time.DateTime), a.Last.Format(time.DateTime)
		if first == last {
			lines = append(lines, "visited at "+last+" UTC")
		} else {
			lines = append(lines, "visited from "+first+" to "+last+" UTC")
		}
	}
	return append(lines, harmless.Line(a.settings()))
}

// settings are the measure by which pages were judged, on one line.
func (a *About) settings() string {
	s := a.Settings
	line := fmt.Sprintf("similarity %v, min-words %d, shingle %d, scheme %s", s.Similarity, s.MinWords, s.Shingle, s.Scheme)
	if s.Form != "" {
		line += ", form " + s.Form
	}
	if a.Whole {
		line += "; all pages against all others"
	}
	return line
}

// aboutColumns name what [About.cells] are.
var aboutColumns = []string{"store", "first_visit", "last_visit", "settings"}

// cells are what a report says of itself in a table, which has no place for it but at the end of
// each row. So a row says of what it is also when it was sorted, filtered, or put below the rows of
// another report.
func (a *About) cells() (cells []string) {
	for _, c := range []any{a.Store, moment(a.First), moment(a.Last), a.settings()} {
		cells = append(cells, cellCSV(c))
	}
	return cells
}

// moment is a cell with a time, nil if there is none.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// A VisitsSource is a source that knows when its pages were visited.
type VisitsSource interface {
	Source
	// Visits adds the first and the last visit to a. It is asked after Hosts.
	Visits(ctx context.Context, a *About)
}

// Visits adds the first and the last visit of the records that Hosts has read.
func (src stored) Visits(_ context.Context, a *About) {
	a.First, a.Last = src.visits.First, src.visits.Last
}

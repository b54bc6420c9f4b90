package report

import (
	"context"
	"fmt"
	"time"

	"skink/internal/harmless"
	"skink/store"
)

// An About says what a report is about: the store, the time of its crawl, and the settings.
type About struct {
	Store    string         `json:"store"`                // name of the store; "": unknown
	First    time.Time      `json:"first_visit,omitzero"` // the earliest visit of any URL, in UTC; zero: no URL was visited
	Last     time.Time      `json:"last_visit,omitzero"`
	Settings store.Settings `json:"settings"`           // the settings by which the crawl judged its pages
	Whole    bool           `json:"complete,omitempty"` // whether each page was compared with all others after the crawl, instead of only with the pages before it
}

// See widens First and Last so that they include the visit of r. It ignores a record without a
// time.
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

// Lines returns the times and the settings as sentences for people. The name of the store is not
// among them, because each format shows it in its own place.
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

// settings returns on one line the settings by which pages were judged.
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

// aboutColumns are the names of the columns whose values [About.cells] returns.
var aboutColumns = []string{"store", "first_visit", "last_visit", "settings"}

// cells returns the values of aboutColumns for a CSV table. A table has no header for facts about
// the whole report, so each row ends with them. A row thus still says which report it is from after
// somebody has sorted or filtered the rows, or joined two tables.
func (a *About) cells() (cells []string) {
	for _, c := range []any{a.Store, moment(a.First), moment(a.Last), a.settings()} {
		cells = append(cells, cellCSV(c))
	}
	return cells
}

// moment returns t as the value of a table cell: nil, which is shown as an empty cell, if t is
// zero.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// A VisitsSource is a [Source] that can tell when its pages were visited.
type VisitsSource interface {
	Source
	// Visits sets First and Last of a to the first and last visit of any URL. The caller must have
	// called Hosts before, because Hosts reads the records.
	Visits(ctx context.Context, a *About)
}

// Visits sets First and Last of a from the records that the last call of Hosts read.
func (src stored) Visits(_ context.Context, a *About) {
	a.First, a.Last = src.visits.First, src.visits.Last
}

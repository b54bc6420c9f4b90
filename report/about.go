package report

import (
	"fmt"
	"time"

	"skink/base/harmless"
	"skink/store"
)

// An About describes the data of a report: the store, the time of its crawl, and the settings.
type About struct {
	Store    string         `json:"store"`                // name of the store; "" if unknown
	First    time.Time      `json:"first_visit,omitzero"` // times of the first and last visits to any URL
	Last     time.Time      `json:"last_visit,omitzero"`
	Settings store.Settings `json:"settings"`           // settings with which the store's pages were judged
	Whole    bool           `json:"complete,omitempty"` // whether every page was compared with all others after the crawl
}

// See extends the range from First to Last to include the last visit to the record's URL.
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

// Lines returns the description as lines of text, without the store's name.
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

// settings returns the settings on one line, such as "similarity 0.8, min-words 50, shingle 10,
// scheme bands".
func (a *About) settings() string {
	s := a.Settings
	line := fmt.Sprintf("similarity %v, min-words %d, shingle %d, scheme %s", s.Similarity, s.MinWords, s.Shingle, s.Scheme)
	if s.Contained > 0 {
		line = fmt.Sprintf("rule containment, containment %v, ", s.Contained) + line
	}
	if a.Whole {
		line += "; all pages compared with all others"
	}
	return line
}

// aboutColumns lists the column names for the values of [About.cells].
var aboutColumns = []string{"store", "first_visit", "last_visit", "settings"}

// cells returns the values that a CSV file repeats at the end of each row. So each row shows which
// store it is from, even after a spreadsheet has sorted or filtered the rows, or merged them with
// those of another report.
func (a *About) cells() (cells []string) {
	for _, c := range []any{a.Store, moment(a.First), moment(a.Last), a.settings()} {
		cells = append(cells, cellCSV(c))
	}
	return cells
}

// moment returns nil for the zero time.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

package audit

import (
	"bufio"
	"context"
	"iter"
	"time"

	"skink/report"
)

// The JSON form of an audit is one object: first facts about the audit, then its findings, most
// important first. Each row of a finding is an object on its own line, without members for nil
// cells.

type findingJSON struct {
	Name   string `json:"name"`
	List   string `json:"list"`
	Weight string `json:"weight"` // error, warning, note or ok
	Title  string `json:"title"`
	Means  string `json:"means"`
	Fix    string `json:"fix"`
	Count  int    `json:"count"`
	Of     string `json:"of"`    // unit of Count: "pages" or "URLs"
	Apart  int    `json:"apart"` // pages that have the problem but are not in Count; see Finding.Apart
	Links  int64  `json:"links"` // links to the counted pages

	Caveat string `json:"caveat,omitempty"` // why the finding may be wrong; see Finding.Caveat

	Since *Difference `json:"since,omitempty"` // difference from the earlier crawl
	Note  string      `json:"note,omitempty"`  // why the finding was not compared, or why the difference is uncertain; see Finding.Note
}

type listJSON struct {
	Name    string `json:"name"`
	Count   int    `json:"count"`
	Of      string `json:"of"`
	Unknown string `json:"unknown,omitempty"`
}

type comparedJSON struct {
	Crawl int       `json:"crawl"`
	Ended time.Time `json:"ended"`
}

func (a *Audit) aboutJSON() any {
	if a.past == nil {
		return a.About
	}
	return struct {
		About
		Since comparedJSON `json:"since"`
	}{a.About, comparedJSON{a.past.Number, a.past.Ended}}
}

func writeJSON(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	w := report.NewObjectWriter(out, a.aboutJSON())
	w.List("lists")
	for _, l := range a.Lists {
		w.Element(listJSON{l.Name, l.Count(), l.Of, l.Unknown})
	}
	w.EndList()
	w.List("findings")
	for _, f := range chosen {
		head := findingJSON{f.FullName(), f.list.Name, f.Weight.String(), f.Title, f.Means, f.Fix, f.Count(), f.list.Of, f.Apart(), f.Links(), f.Caveat(), f.since, f.Note()}
		if err := w.Group("", head, "rows", f.fields(ctx, o.top()), ""); err != nil {
			return err
		}
	}
	w.EndList()
	return w.End()
}

// fields yields the JSON members of the first n rows of the finding, or of all rows if n is
// negative.
func (f *Finding) fields(ctx context.Context, n int) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		t := report.Table{}
		for _, c := range f.list.Columns {
			t.Columns = append(t.Columns, c.Column)
		}
		var all report.Fields // reused for all rows
		for row, err := range first(ctx, f.Rows(ctx, 0), n) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = t.AppendFields(all[:0], row.Cells)
			all = append(all, report.Field{Name: "change", Value: text(string(row.Change))}, report.Field{Name: "apart", Value: text(row.Apart)})
			if row.Private {
				all = append(all, report.Field{Name: "private", Value: true})
			}
			if len(row.From) > 0 {
				all = append(all, report.Field{Name: "linked_from", Value: row.From})
			}
			if !yield(all, nil) {
				return
			}
		}
	}
}

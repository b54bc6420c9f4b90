package audit

import (
	"bufio"
	"context"
	"iter"

	"skink/report"
)

// The JSON form of an audit is one object. It begins with facts about the audit, followed by its
// findings, most important first. Each row of a finding is an object on its own line, in which nil
// cells are left out.

// findingJSON is the JSON form of a finding without its rows.
type findingJSON struct {
	Name   string `json:"name"`
	List   string `json:"list"`
	Weight string `json:"weight"` // error, warning, note or ok
	Title  string `json:"title"`
	Means  string `json:"means"`
	Fix    string `json:"fix"`
	Count  int    `json:"count"`
	Of     string `json:"of"`    // the unit of Count: "pages" or "URLs"
	Apart  int    `json:"apart"` // number of pages with the problem that Count leaves out; see Finding.Apart
	Links  int64  `json:"links"` // number of links to the pages in Count

	Caveat string `json:"caveat,omitempty"` // reason why the finding may be wrong; see Finding.Caveat
}

// listJSON is the JSON form of a list without its findings.
type listJSON struct {
	Name    string `json:"name"`
	Count   int    `json:"count"`
	Of      string `json:"of"`
	Unknown string `json:"unknown,omitempty"`
}

func writeJSON(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	w := report.NewObjectWriter(out, a.About)
	w.List("lists")
	for _, l := range a.Lists {
		w.Element(listJSON{l.Name, l.Count(), l.Of, l.Unknown})
	}
	w.EndList()
	w.List("findings")
	for _, f := range chosen {
		head := findingJSON{f.FullName(), f.list.Name, f.Weight.String(), f.Title, f.Means, f.Fix, f.Count(), f.list.Of, f.Apart(), f.Links(), f.Caveat()}
		if err := w.Group("", head, "rows", f.fields(ctx, o.top()), ""); err != nil {
			return err
		}
	}
	w.EndList()
	return w.End()
}

// fields yields the first n rows of a finding as JSON objects, or all rows if n is negative.
func (f *Finding) fields(ctx context.Context, n int) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		t := f.list.Table(nil)
		var all report.Fields // fields of one row; the loop uses them again for the next row
		for row, err := range f.first(ctx, n) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = t.AppendFields(all[:0], row.Cells)
			if row.Apart != "" {
				all = append(all, report.Field{Name: "apart", Value: row.Apart})
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

package audit

import (
	"bufio"
	"context"

	"skink/report"
)

// # The tables
//
// In CSV, two columns precede the columns of a list. The first contains the name of the finding.
// The second contains the reason why the page is not counted, and is empty if the page is counted.
// If the list names the pages that link to the URL of a row, the row has one line for each of these
// pages, or a single line if there are none. If the audit is compared with an earlier crawl, a
// third column contains the change of the row.

func writeCSV(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	if o.About == "" {
		return writeOverviewCSV(out, a)
	}
	l := chosen[0].list
	names := []string{"finding", "apart"}
	if a.past != nil {
		names = append(names, "change")
	}
	for _, c := range l.Columns {
		names = append(names, c.Name)
	}
	if l.Linked {
		names = append(names, "linked_from", "link_text", "link_kind")
	}
	sheet, err := report.NewSheet(out, &a.About.About, names...)
	if err != nil {
		return err
	}
	for _, f := range chosen {
		for row, err := range f.first(ctx, o.top()) {
			if err != nil {
				return err
			}
			cells := []any{f.FullName(), row.Apart}
			if a.past != nil {
				cells = append(cells, string(row.Change))
			}
			cells = append(cells, row.Cells...)
			from := row.From
			if !l.Linked || len(from) == 0 {
				from = []From{{}}
			}
			for _, link := range from {
				line := cells
				if l.Linked {
					line = append(cells[:len(cells):len(cells)], link.URL, link.Text, string(link.Kind))
				}
				if err := sheet.Row(line...); err != nil {
					return err
				}
			}
		}
	}
	return sheet.End()
}

func writeOverviewCSV(out *bufio.Writer, a *Audit) error {
	names := []string{"finding", "weight", "count", "of", "apart", "links", "title", "means", "fix"}
	if a.past != nil {
		names = append(names, "new", "fixed", "remaining", "unchecked")
	}
	sheet, err := report.NewSheet(out, &a.About.About, names...)
	if err != nil {
		return err
	}
	for _, f := range a.Findings() {
		cells := []any{f.FullName(), f.Weight.String(), int64(f.Count()), f.list.Of, int64(f.Apart()), f.Links(), f.Title, f.Means, f.Fix}
		if a.past != nil {
			for _, c := range Changes {
				if f.since == nil {
					cells = append(cells, nil)
				} else {
					cells = append(cells, int64(f.since.Of(c)))
				}
			}
		}
		if err := sheet.Row(cells...); err != nil {
			return err
		}
	}
	return sheet.End()
}

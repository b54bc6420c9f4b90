package audit

import (
	"bufio"
	"cmp"
	"context"
	"io"

	"skink/report"
)

// # The tables
//
// In CSV and XLSX, two columns precede the columns of a list. The first contains the name of the finding.
// The second contains the reason why the page is not counted, and is empty if the page is counted.
// If the list names the pages that link to the URL of a row, the row has one line for each of these
// pages, or a single line if there are none. If the audit is compared with an earlier crawl, a
// third column contains the change of the row.

func writeCSV(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	names := overviewColumns(a)
	if o.About != "" {
		names = columnsOf(a, chosen[0].list)
	}
	sheet, err := report.NewSheet(out, &a.About.About, names...)
	if err != nil {
		return err
	}
	if o.About == "" {
		return cmp.Or(overviewRows(a, sheet.Row), sheet.End())
	}
	for _, f := range chosen {
		if err := writeRows(ctx, a, f, o.top(), sheet.Row); err != nil {
			return err
		}
	}
	return sheet.End()
}

// writeXLSX writes the overview of a whole audit, and a sheet for each finding that has rows.
func writeXLSX(ctx context.Context, w io.Writer, a *Audit, chosen []*Finding, o Output) error {
	book, err := report.NewWorkbook(a.heading(), &a.About.About)
	if err == nil && o.About == "" {
		if err = book.Begin("audit", overviewColumns(a)...); err == nil {
			err = overviewRows(a, book.Row)
		}
	}
	for _, f := range chosen {
		if err == nil && (f.Count()+f.Apart() > 0 || len(chosen) == 1) {
			if err = book.Begin(f.FullName(), columnsOf(a, f.list)...); err == nil {
				err = writeRows(ctx, a, f, o.top(), book.Row)
			}
		}
	}
	return cmp.Or(err, book.End(w))
}

func columnsOf(a *Audit, l *List) []string {
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
	return names
}

func writeRows(ctx context.Context, a *Audit, f *Finding, most int, write func(cells ...any) error) error {
	for row, err := range first(ctx, f.Rows(ctx, 0), most) {
		if err != nil {
			return err
		}
		cells := []any{f.FullName(), row.Apart}
		if a.past != nil {
			cells = append(cells, string(row.Change))
		}
		cells = append(cells, row.Cells...)
		from := row.From
		if !f.list.Linked || len(from) == 0 {
			from = []From{{}}
		}
		for _, link := range from {
			line := cells
			if f.list.Linked {
				line = append(cells[:len(cells):len(cells)], link.URL, link.Text, string(link.Kind))
			}
			if err := write(line...); err != nil {
				return err
			}
		}
	}
	return nil
}

func overviewColumns(a *Audit) []string {
	names := []string{"finding", "weight", "count", "of", "apart", "links", "title", "means", "fix"}
	if a.past != nil {
		names = append(names, "new", "fixed", "remaining", "unchecked")
	}
	return names
}

func overviewRows(a *Audit, write func(cells ...any) error) error {
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
		if err := write(cells...); err != nil {
			return err
		}
	}
	return nil
}

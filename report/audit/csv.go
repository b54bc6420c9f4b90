package audit

import (
	"bufio"
	"context"
	"encoding/csv"
	"strconv"
	"time"

	"skink/internal/harmless"
	"skink/report"
)

// # The tables
//
// A table opens right in the spreadsheets that people have. A byte order mark says that it is
// UTF-8, lines end in CRLF, times are as ISO 8601 has them with a space, in UTC, and a share has
// two decimals, of which 1.00 is kept for 1 alone. Cells that would be taken for a formula begin
// with an apostrophe.
//
// The first column is the finding, the second why a page does not count, or nothing. A list whose
// rows come with the pages that link to them has a line for each of these, and one if there is
// none. The last columns say of which store the table is, of which days, and by which measure its
// pages were judged: a table has no other place for that.

func writeCSV(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	if _, err := out.WriteString(report.ByteOrderMark); err != nil {
		return err
	}
	t := table{csv.NewWriter(out), a.About.Cells()}
	var err error
	if o.About == "" {
		err = t.overview(a)
	} else {
		err = t.list(ctx, chosen, o.top())
	}
	if err != nil {
		return err
	}
	t.w.Flush()
	return t.w.Error()
}

// A table is what is written, and what ends each of its rows.
type table struct {
	w     *csv.Writer
	about []string
}

func (t table) head(names ...string) error { return t.w.Write(append(names, report.AboutColumns...)) }
func (t table) row(cells ...string) error  { return t.w.Write(append(cells, t.about...)) }

func (t table) overview(a *Audit) error {
	if err := t.head("finding", "weight", "count", "of", "apart", "links", "title", "means", "mend"); err != nil {
		return err
	}
	for _, f := range a.Findings() {
		err := t.row(
			f.FullName(), f.Weight.String(), strconv.Itoa(f.Count()), f.list.Of, strconv.Itoa(f.Apart()), strconv.FormatInt(f.Links(), 10),
			f.Title, f.Means, f.Mend,
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t table) list(ctx context.Context, chosen []*Finding, top int) error {
	l := chosen[0].list
	names := []string{"finding", "apart"}
	for _, c := range l.Columns {
		names = append(names, c.Name)
	}
	if l.Linked {
		names = append(names, "linked_from", "link_text", "link_kind")
	}
	if err := t.head(names...); err != nil {
		return err
	}
	for _, f := range chosen {
		n := 0
		for row, err := range f.Rows(ctx, 0) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if n++; top >= 0 && n > top {
				break
			}
			if err := t.rows(l, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows writes a row, once for each page that links to it.
func (t table) rows(l *List, row Row) error {
	line := []string{row.Finding.FullName(), row.Apart}
	for _, c := range row.Cells {
		line = append(line, cellCSV(c))
	}
	if !l.Linked {
		return t.row(line...)
	}
	if len(row.From) == 0 {
		return t.row(append(line, "", "", "")...)
	}
	for _, from := range row.From {
		err := t.row(append(line[:len(line):len(line)], harmless.Cell(from.URL), harmless.Cell(from.Text), string(from.Kind))...)
		if err != nil {
			return err
		}
	}
	return nil
}

func cellCSV(cell any) string {
	switch v := cell.(type) {
	case string:
		return harmless.Cell(v)
	case URL:
		return harmless.Cell(string(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case Share:
		return report.Decimals(float64(v), 2)
	case time.Time:
		return v.Format(time.DateTime)
	}
	return ""
}

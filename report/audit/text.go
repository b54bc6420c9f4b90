package audit

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"skink/internal/harmless"
	"skink/report"
)

const (
	cellWidth = 60 // runes shown of a text
	fromText  = 3  // pages shown that link to a URL
)

func writeText(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	fmt.Fprintln(out, a.heading())
	for _, line := range a.aboutLines() {
		fmt.Fprintln(out, "  "+line)
	}
	if o.About == "" {
		a.textOverview(out, chosen)
	}
	for _, f := range chosen {
		if f.Weight == Fine && o.About == "" {
			continue
		}
		if err := f.writeText(ctx, out, o); err != nil {
			return err
		}
	}
	return nil
}

// aboutLines are what an audit says of itself.
func (a *Audit) aboutLines() []string {
	counts := fmt.Sprintf("%s, %s", report.Counted(a.URLs, "URL"), report.Counted(a.Pages, "page"))
	return append([]string{counts}, a.About.Lines()...)
}

// textOverview is a line for each finding.
func (a *Audit) textOverview(out *bufio.Writer, findings []*Finding) {
	last := Weight(0)
	titles := map[Weight]string{Fault: "faults: visitors or search engines are led wrong", Doubt: "doubts: they cost something, or may not be meant", Note: "notes: good to know", Fine: "fine"}
	width := 0
	for _, f := range findings {
		width = max(width, len(f.FullName()))
	}
	for _, f := range findings {
		if f.Weight != last {
			fmt.Fprintf(out, "\n%s\n", titles[f.Weight])
			last = f.Weight
		}
		fmt.Fprintf(out, "  %9s  %-*s  %s%s\n", report.Grouped(f.Count()), width, f.FullName(), f.Title, f.alsoApart())
	}
	if clean := a.clean(); len(clean) > 0 {
		fmt.Fprintf(out, "\nnothing found: %s\n", wrapped(strings.Join(clean, ", "), 15))
	}
	for _, line := range a.Unknown() {
		fmt.Fprintf(out, "\nnot known: %s\n", line)
	}
	fmt.Fprintln(out, "\nAll of a list: skink report --about NAME --format csv, for a spreadsheet")
}

func (f *Finding) alsoApart() string {
	if f.apart == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s not meant to be found)", report.Grouped(f.apart))
}

// wrapped breaks a line before it is too long, and begins those after the first with spaces.
func wrapped(s string, indent int) string {
	const most = 100
	var b strings.Builder
	n := indent
	for i, word := range strings.Fields(s) {
		if i > 0 && n+1+len(word) > most {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			n = indent
		} else if i > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}

func (f *Finding) writeText(ctx context.Context, out *bufio.Writer, o Output) error {
	fmt.Fprintf(out, "\n%s: %s: %s%s\n", f.FullName(), f.Title, report.Grouped(f.Count()), f.alsoApart())
	fmt.Fprintf(out, "  %s\n  %s\n", wrapped(f.Means, 2), wrapped("To mend it: "+f.Mend, 2))
	if unknown := f.list.Unknown; unknown != "" && o.About != "" { // else the overview says so
		fmt.Fprintf(out, "  %s\n", wrapped("Not known: "+unknown, 2))
	}
	rows, err := f.first(ctx, o.top())
	if err != nil {
		return err
	}
	f.list.printRows(out, rows)
	if rest := len(f.entries) - len(rows); rest > 0 {
		fmt.Fprintf(out, "  and %s more: skink report --about %s --top %d\n", report.Grouped(rest), f.FullName(), len(f.entries))
	}
	return nil
}

// first are the first rows of a finding.
func (f *Finding) first(ctx context.Context, n int) (rows []Row, err error) {
	for row, err := range f.Rows(ctx, 0) {
		if err != nil {
			return nil, err
		}
		if len(rows) == n {
			break
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// printRows prints a table of the columns that are shown where there is little room, but for those
// in which nothing stands.
func (l *List) printRows(out *bufio.Writer, rows []Row) {
	if len(rows) == 0 {
		return
	}
	var shown []int
	var widths []int
	table := make([][]string, len(rows)+1)
	for c, column := range l.Columns {
		if !column.Brief || !says(rows, c) {
			continue
		}
		width := 0
		for i := range table {
			cell := strings.ToLower(column.Title)
			if i > 0 {
				cell = cellText(rows[i-1].Cells[c])
			}
			table[i] = append(table[i], cell)
			width = max(width, utf8.RuneCountInString(cell))
		}
		shown, widths = append(shown, c), append(widths, min(width, cellWidth))
	}
	for i, cells := range table {
		line := " "
		for k, cell := range cells {
			pad := strings.Repeat(" ", max(0, widths[k]-utf8.RuneCountInString(cell)))
			if isNumber(rows[0].Cells[shown[k]]) {
				line += " " + pad + cell + " "
			} else {
				line += " " + cell + pad + " "
			}
		}
		if i > 0 && rows[i-1].Apart != "" {
			line += " (" + rows[i-1].Apart + ")"
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
		if i > 0 {
			printFrom(out, rows[i-1])
		}
	}
}

func printFrom(out *bufio.Writer, row Row) {
	for i, from := range row.From {
		if i == fromText {
			break
		}
		fmt.Fprintf(out, "      from %s", harmless.Line(from.URL))
		if from.Text != "" {
			fmt.Fprintf(out, "  \"%s\"", strings.ReplaceAll(harmless.Line(report.Clip(from.Text, cellWidth)), `"`, `\"`))
		}
		fmt.Fprintln(out)
	}
	if rest := row.Links - min(len(row.From), fromText); rest > 0 && len(row.From) > 0 {
		fmt.Fprintf(out, "      and from %s\n", report.Counted(rest, "more page"))
	}
}

// says says whether a column has a cell with something in it.
func says(rows []Row, column int) bool {
	for _, r := range rows {
		if r.Cells[column] != nil {
			return true
		}
	}
	return false
}

func isNumber(cell any) bool {
	switch cell.(type) {
	case int64, Share:
		return true
	}
	return false
}

// cellText is a cell for a person to read.
func cellText(cell any) string {
	switch v := cell.(type) {
	case string:
		return harmless.Line(report.Clip(v, cellWidth))
	case URL:
		return harmless.Line(string(v))
	case int64:
		return report.Grouped(v)
	case Share:
		return report.Decimals(float64(v), 3)
	case time.Time:
		return v.Format(time.DateTime)
	}
	return ""
}

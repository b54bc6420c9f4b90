package audit

import (
	"bufio"
	"context"
	_ "embed"
	"html/template"
	"strings"
	"time"

	"skink/internal/harmless"
	"skink/report"
)

//go:embed audit.html
var source string

var pageTemplates = template.Must(Templates(report.Templates()))

// Templates adds the parts of an audit's page to those of reports:
//
//	overview  findings as a table, with a link to each where the page has one
//	means     a finding: what it means, and how to mend it
//	rows      a [Table]
//
// No part has a script or a style attribute.
func Templates(t *template.Template) (*template.Template, error) {
	return t.New("audit.html").Parse(source)
}

// rowsOpen is how many rows of a finding stand open on a page. The others are folded.
const rowsOpen = 5

// A Table is rows as a template shows them.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Number says whether a column has numbers, which stand to the right.
func (t Table) Number(column int) bool {
	for _, row := range t.Rows {
		if c := row[column]; c.Text != "" {
			return c.Class == "number"
		}
	}
	return false
}

// A Cell is a cell as a template shows it.
type Cell struct {
	Column string // title
	Class  string // "number", "text" or "page"
	Text   string
	Link   *report.PageLink // nil: there is only text
	Apart  string           // why the page does not count
	From   []FromCell
	More   int // pages that link to it and are not in From
}

// A FromCell is a page that links to another, as a template shows it.
type FromCell struct {
	report.PageLink
	Text string
}

// Table makes a table of rows of the list: of all columns, or of those that are shown where there
// is little room. A column in which nothing stands is left out.
func (l *List) Table(rows []Row, all bool) (t Table) {
	var shown []int
	for i, c := range l.Columns {
		if (all || c.Brief) && says(rows, i) {
			shown = append(shown, i)
			t.Columns = append(t.Columns, c)
		}
	}
	for _, row := range rows {
		var cells []Cell
		first := true // URL of the row: the page that it is about
		for _, i := range shown {
			c := cellOf(row.Cells[i])
			c.Column = l.Columns[i].Title
			if _, isURL := row.Cells[i].(URL); isURL && first {
				first = false
				c.Apart = row.Apart
				c.addFrom(row)
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// addFrom adds the pages that link to the page of a row.
func (c *Cell) addFrom(row Row) {
	for _, from := range row.From[:min(len(row.From), fromText)] {
		c.From = append(c.From, FromCell{report.LinkTo(from.URL), strings.TrimSpace(harmless.Plain(report.Clip(from.Text, cellWidth)))})
	}
	if len(row.From) > 0 {
		c.More = row.Links - len(c.From)
	}
}

// cellOf is a cell without its column.
func cellOf(cell any) Cell {
	switch v := cell.(type) {
	case URL:
		to := report.LinkTo(string(v))
		return Cell{Class: "page", Text: to.URL, Link: &to}
	case string:
		return Cell{Class: "text", Text: strings.TrimSpace(harmless.Plain(report.Clip(v, textShown)))}
	case time.Time:
		return Cell{Class: "number", Text: v.Format(time.DateTime)}
	}
	return Cell{Class: "number", Text: cellText(cell)}
}

const textShown = 200 // runes of a text

// overviewHTML is the page before its findings.
type overviewHTML struct {
	Heading  string
	Lead     string
	About    []string
	Groups   []groupHTML
	Clean    []string
	Unknown  []string
	Findings int
}

type groupHTML struct {
	Title    string
	Findings []*Finding
}

var weightTitles = []struct {
	weight Weight
	title  string
}{
	{Fault, "Faults: visitors or search engines are led wrong"},
	{Doubt, "Doubts: they cost something, or may not be meant"},
	{Note, "Notes: good to know"},
	{Fine, "Fine"},
}

func writeHTML(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	head := overviewHTML{Heading: a.heading(), About: a.aboutLines(), Unknown: a.Unknown()}
	for _, w := range weightTitles {
		var of []*Finding
		for _, f := range chosen {
			if f.Weight == w.weight {
				of = append(of, f)
			}
		}
		if len(of) > 0 {
			head.Groups = append(head.Groups, groupHTML{w.title, of})
			head.Findings += len(of)
		}
	}
	if o.About == "" {
		head.Clean = a.clean()
	}
	if err := pageTemplates.ExecuteTemplate(out, "begin audit", head); err != nil {
		return err
	}
	for _, f := range chosen {
		if f.Weight == Fine && o.About == "" {
			continue
		}
		rows, err := f.first(ctx, o.top())
		if err != nil {
			return err
		}
		err = pageTemplates.ExecuteTemplate(out, "finding", struct {
			*Finding
			Open, Folded Table
			Rest         int
		}{f, f.list.Table(rows[:min(len(rows), rowsOpen)], false), f.list.Table(rows[min(len(rows), rowsOpen):], false), len(f.entries) - len(rows)})
		if err != nil {
			return err
		}
	}
	return pageTemplates.ExecuteTemplate(out, "end audit", nil)
}

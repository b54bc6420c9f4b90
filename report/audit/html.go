package audit

import (
	"bufio"
	"context"
	_ "embed"
	"html/template"
	"slices"

	"skink/report"
)

//go:embed audit.html
var source string

var pageTemplates = template.Must(Templates(report.Templates()))

// Templates adds the templates for audits to t, which must contain those of [report.Templates]:
//
//	overview  findings as a table, with links to those whose rows are on the page
//	gaps      URLs that were not fetched, as a table
//	means     what a finding means, and how to fix it
//
// No template contains a script or a style attribute.
func Templates(t *template.Template) (*template.Template, error) {
	return t.New("audit.html").Parse(source)
}

// rowsOpen is the number of rows of a finding that an HTML page shows before the reader expands the
// rest.
const rowsOpen = 5

const fromShown = 3

// Table returns a table with the list's columns and the given rows of its findings.
//
// If the audit is compared with an earlier crawl, the first column shows the change of each row.
func (l *List) Table(rows []Row) (t report.Table) {
	compared := l.audit.past != nil && !l.isOK()
	if compared {
		t.Columns = append(t.Columns, report.Column{Name: "change", Title: "Change", Brief: true})
	}
	for _, c := range l.Columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, row := range rows {
		r := report.Row{Cells: row.Cells, Apart: row.Apart}
		if compared {
			r.Cells = append([]any{text(row.Change.Text())}, row.Cells...)
		}
		for _, url := range row.Alike {
			r.Notes = append(r.Notes, report.Note{Lead: "and ", URL: url})
		}
		for _, from := range row.From[:min(len(row.From), fromShown)] {
			r.Notes = append(r.Notes, report.Note{Lead: "from ", URL: from.URL, Quote: from.Text})
		}
		if rest := row.Links - fromShown; rest > 0 && len(row.From) > 0 {
			r.Notes = append(r.Notes, report.Note{Lead: "and from " + report.Counted(rest, "more page")})
		}
		if row.Private {
			r.Notes = append(r.Notes, report.Note{Lead: "private"})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

type overviewHTML struct {
	Heading string
	About   []string
	Gaps    []Gap
	Groups  []Group
	URLs    int64
	Clean   []string
	Unknown []string
}

// A Group holds the findings of one weight, for the template "overview".
type Group struct {
	Weight   Weight
	Title    string
	Findings []Selection
}

// Compared reports whether the audit is compared with an earlier crawl.
func (g Group) Compared() bool { return g.Findings[0].list.audit.past != nil }

// Found returns the number of findings that have something to fix. The others have rows that are fixed, or not counted.
func (g Group) Found() int {
	return len(slices.DeleteFunc(slices.Clone(g.Findings), func(s Selection) bool { return s.Count() == 0 }))
}

var weightTitles = map[Weight]string{
	Error:   "Errors: problems that mislead visitors or search engines",
	Warning: "Warnings: problems that have a cost, or may be unintended",
	Note:    "Notes: good to know",
	OK:      "OK",
}

// Groups returns the parts of the findings that w selects, by weight. Without rows, a finding is left
// out.
func (a *Audit) Groups(w Filter) []Group {
	return byWeight(slices.DeleteFunc(selectAll(a.Findings(), w), func(s Selection) bool { return s.RowCount() == 0 }))
}

func selectAll(findings []*Finding, w Filter) (all []Selection) {
	for _, f := range findings {
		all = append(all, f.Select(w))
	}
	return all
}

func byWeight(findings []Selection) (all []Group) {
	for w := Error; w <= OK; w++ {
		g := Group{Weight: w, Title: weightTitles[w]}
		for _, f := range findings {
			if f.Weight == w {
				g.Findings = append(g.Findings, f)
			}
		}
		if g.Findings != nil {
			all = append(all, g)
		}
	}
	return all
}

func writeHTML(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	head := overviewHTML{Heading: a.heading(), About: a.aboutLines(), Gaps: a.Coverage.Gaps, Groups: byWeight(selectAll(chosen, Filter{})), URLs: a.URLs, Unknown: a.Unknown()}
	if o.About == "" {
		head.Clean = a.clean()
	}
	if err := pageTemplates.ExecuteTemplate(out, "begin audit", head); err != nil {
		return err
	}
	for _, f := range chosen {
		if f.Weight == OK && o.About == "" {
			continue
		}
		all := f.Select(Filter{})
		rows, err := all.first(ctx, o.top())
		if err != nil {
			return err
		}
		open := min(len(rows), rowsOpen)
		err = pageTemplates.ExecuteTemplate(out, "finding", struct {
			*Finding
			Open, Folded report.Table
			Rest         int
		}{f, f.list.Table(rows[:open]), f.list.Table(rows[open:]), all.RowCount() - len(rows)})
		if err != nil {
			return err
		}
	}
	return pageTemplates.ExecuteTemplate(out, "end audit", nil)
}

package audit

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	texttemplate "text/template"
	"time"

	"skink/base/harmless"
	"skink/report"
)

//go:embed audit.html
var source string

//go:embed audit.txt
var textSource string

// parts are the templates of an audit in HTML or as text.
type parts interface {
	ExecuteTemplate(w io.Writer, name string, data any) error
}

var (
	pageParts parts = template.Must(Templates(report.Templates()))
	textParts parts = texttemplate.Must(texttemplate.New("audit.txt").Funcs(texttemplate.FuncMap{
		"group": report.Grouped,
		"join":  strings.Join,
		"lower": strings.ToLower,
		"wrap":  wrapped,
		"table": func(t report.Table) string {
			var b strings.Builder
			t.WriteText(&b, "  ", "  ")
			return b.String()
		},
	}).Parse(textSource))
)

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

type overview struct {
	Heading  string
	About    []string
	Whole    bool // whether the report has all lists
	Gaps     []Gap
	Groups   []Group
	Compared bool // whether the audit is compared with an earlier crawl
	Width    int  // of the longest name of a finding
	URLs     int64
	Clean    []string
	Unknown  []string
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

// writeParts writes an audit by the templates "begin audit", "finding" and "end audit". The rows of a finding after
// the first ones are folded; open is their number.
func writeParts(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output, by parts, open int) error {
	head := overview{
		Heading: a.heading(), About: a.aboutLines(), Whole: o.About == "", Gaps: a.Coverage.Gaps, Groups: byWeight(selectAll(chosen, Filter{})),
		Compared: a.past != nil, URLs: a.URLs, Unknown: a.Unknown(),
	}
	if head.Whole {
		head.Clean = a.clean()
	}
	for _, f := range chosen {
		head.Width = max(head.Width, len(f.FullName()))
	}
	if err := by.ExecuteTemplate(out, "begin audit", head); err != nil {
		return err
	}
	for _, f := range chosen {
		if f.Weight == OK && head.Whole {
			continue
		}
		all := f.Select(Filter{})
		var rows []Row
		for row, err := range first(ctx, all.Rows(ctx, 0), o.top()) {
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		part := struct {
			*Finding
			Open, Folded report.Table
			All, Rest    int
			Unknown      string // "" if the overview contains it
		}{Finding: f, All: all.RowCount(), Rest: all.RowCount() - len(rows)}
		opened := min(len(rows), open)
		if part.Open, part.Folded = f.list.Table(rows[:opened]), f.list.Table(rows[opened:]); !head.Whole {
			part.Unknown = f.list.Unknown
		}
		if err := by.ExecuteTemplate(out, "finding", part); err != nil {
			return err
		}
	}
	return by.ExecuteTemplate(out, "end audit", nil)
}

func (a *Audit) aboutLines() []string {
	counts := fmt.Sprintf("%s, %s in the store %s", report.Counted(a.URLs, "URL"), report.Counted(a.Pages, "page"), harmless.Line(a.Store))
	counts = strings.TrimSuffix(counts, " in the store ")
	lines := append([]string{counts, a.Coverage.String()}, a.About.Lines()...)
	if a.Segment != "" {
		lines[0] += ", of the segment " + harmless.Line(a.Segment)
	}
	if a.past != nil {
		lines = append(lines, fmt.Sprintf("compared with crawl %d, which ended at %s UTC", a.past.Number, a.past.Ended.Format(time.DateTime)))
	}
	return lines
}

// wrapped breaks s into lines of at most 100 characters, unless a word is longer. It indents each
// line but the first by indent spaces. The caller has already written that many characters on the
// first line.
func wrapped(indent int, s string) string {
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

package audit

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"skink/base/harmless"
	"skink/report"
)

func writeText(ctx context.Context, out *bufio.Writer, a *Audit, chosen []*Finding, o Output) error {
	fmt.Fprintln(out, a.heading())
	for _, line := range a.aboutLines() {
		fmt.Fprintln(out, "  "+line)
	}
	if o.About == "" {
		a.textCoverage(out)
		a.textOverview(out, chosen)
	}
	for _, f := range chosen {
		if f.Weight == OK && o.About == "" {
			continue
		}
		if err := f.writeText(ctx, out, o); err != nil {
			return err
		}
	}
	return nil
}

func (a *Audit) aboutLines() []string {
	counts := fmt.Sprintf("%s, %s in the store %s", report.Counted(a.URLs, "URL"), report.Counted(a.Pages, "page"), harmless.Line(a.Store))
	counts = strings.TrimSuffix(counts, " in the store ")
	lines := append([]string{counts, a.Coverage.String()}, a.About.Lines()...)
	if a.past != nil {
		lines = append(lines, fmt.Sprintf("compared with crawl %d, which ended at %s UTC", a.past.Number, a.past.Ended.Format(time.DateTime)))
	}
	return lines
}

func (a *Audit) textCoverage(out *bufio.Writer) {
	if len(a.Coverage.Gaps) == 0 {
		return
	}
	fmt.Fprintln(out, "\nnot fetched")
	for _, g := range a.Coverage.Gaps {
		fmt.Fprintf(out, "  %9s  %-10s  %s\n", report.Grouped(g.URLs), g.Name, wrapped(g.Means, 25))
		for _, line := range g.Lines() {
			fmt.Fprintf(out, "%25s%s\n", "", line)
		}
	}
}

func (a *Audit) textOverview(out *bufio.Writer, findings []*Finding) {
	width := 0
	for _, f := range findings {
		width = max(width, len(f.FullName()))
	}
	if a.past != nil {
		fmt.Fprintf(out, "\n  %9s%s\n", "count", sinceHead)
	}
	for _, g := range a.Groups(Filter{}) {
		fmt.Fprintf(out, "\n%s\n", strings.ToLower(g.Title))
		for _, f := range g.Findings {
			fmt.Fprintf(out, "  %9s%s  %-*s  %s%s\n", report.Grouped(f.Count()), f.sinceCells(), width, f.FullName(), f.Title, inBrackets(f.Besides()))
		}
	}
	if clean := a.clean(); len(clean) > 0 {
		fmt.Fprintf(out, "\nchecks that found nothing: %s\n", wrapped(strings.Join(clean, ", "), 2))
	}
	for _, line := range a.Unknown() {
		fmt.Fprintf(out, "\nnot checked: %s\n", line)
	}
	fmt.Fprintln(out, "\nComplete lists: skink report --about NAME --format csv")
}

const sinceHead = "       new     fixed  remaining  not checked"

func (f *Finding) sinceCells() string {
	switch d := f.since; {
	case f.list.audit.past == nil:
		return ""
	case d == nil:
		return fmt.Sprintf("%10s%10s%11s%13s", "-", "-", "-", "-")
	default:
		return fmt.Sprintf("%10s%10s%11s%13s", report.Grouped(d.New), report.Grouped(d.Fixed), report.Grouped(d.Remaining), report.Grouped(d.Unchecked))
	}
}

func (f *Finding) sinceLines() (lines []string) {
	if note := f.Note(); note != "" {
		lines = append(lines, note)
	}
	if f.since != nil {
		lines = append(lines, f.since.String())
	}
	return lines
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// wrapped breaks s into lines of at most 100 characters, unless a word is longer. It indents each
// line but the first by indent spaces. The caller has already written that many characters on the
// first line.
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
	fmt.Fprintf(out, "\n%s: %s: %s%s\n", f.FullName(), f.Title, report.Grouped(f.Count()), inBrackets(f.Besides()))
	fmt.Fprintf(out, "  %s\n  %s\n", wrapped(f.Means, 2), wrapped("Fix: "+f.Fix, 2))
	if caveat := f.Caveat(); caveat != "" {
		fmt.Fprintf(out, "  %s\n", wrapped(caveat, 2))
	}
	for _, line := range f.sinceLines() {
		fmt.Fprintf(out, "  %s\n", wrapped(line, 2))
	}
	if unknown := f.list.Unknown; unknown != "" && o.About != "" { // if About is "", the overview contains this line
		fmt.Fprintf(out, "  %s\n", wrapped("Not checked: "+unknown, 2))
	}
	all := f.Select(Filter{})
	rows, err := all.first(ctx, o.top())
	if err != nil {
		return err
	}
	f.list.Table(rows).WriteText(out, "  ", "  ")
	if rest := all.RowCount() - len(rows); rest > 0 {
		fmt.Fprintf(out, "  and %s more: skink report --about %s --top %d\n", report.Grouped(rest), f.FullName(), all.RowCount())
	}
	return nil
}

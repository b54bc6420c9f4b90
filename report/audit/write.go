package audit

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"skink/internal/harmless"
	"skink/report"
)

// Output says how an audit is written. The zero value is good: text.
type Output struct {
	Format report.Format // default Text
	About  string        // name of the list or finding that is written; "": all of the audit
	Top    int           // rows shown of each finding; 0: what suits the format
}

// These are the rows of each finding that are shown unless more are asked for. JSON and CSV are for
// programs, and have all.
const (
	textRows  = 3   // all findings of a large site then fit on some screens
	aboutRows = 20  // of one list
	htmlRows  = 100 // of which a person reads some
)

// top is how many rows are shown of each finding, a negative number for all.
func (o Output) top() int {
	switch {
	case o.Top > 0:
		return o.Top
	case o.Format == report.JSON || o.Format == report.CSV:
		return -1
	case o.Format == report.HTML:
		return htmlRows
	case o.About != "":
		return aboutRows
	}
	return textRows
}

// Write writes an audit, or one list of it. The CSV form of a whole audit is a line for each
// finding; that of a list has a line for each row.
func Write(ctx context.Context, w io.Writer, a *Audit, o Output) error {
	chosen, err := a.chosen(o.About)
	if err != nil {
		return err
	}
	guard := report.Guard(o.Format, w)
	out := bufio.NewWriterSize(guard, 64<<10)
	switch o.Format {
	case report.Text, "":
		err = writeText(ctx, out, a, chosen, o)
	case report.JSON:
		err = writeJSON(ctx, out, a, chosen, o)
	case report.CSV:
		err = writeCSV(ctx, out, a, chosen, o)
	case report.HTML:
		err = writeHTML(ctx, out, a, chosen, o)
	default:
		_, err = report.ParseFormat(string(o.Format))
	}
	if err := cmp.Or(err, out.Flush(), guard.Flush()); err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

// chosen are the findings that a name asks for, those in which nothing is too; "" asks for all but
// the list of pages.
func (a *Audit) chosen(name string) (all []*Finding, err error) {
	if name == "" {
		return a.Findings(), nil
	}
	if l := a.List(name); l != nil {
		return l.Findings, nil
	}
	if f := a.Find(name); f != nil {
		return []*Finding{f}, nil
	}
	return nil, unknownName(name)
}

// clean are the names of the findings in which nothing is.
func (a *Audit) clean() (names []string) {
	for _, l := range a.Lists {
		for _, f := range l.Findings {
			if f.Weight < OK && f.Count()+f.Apart() == 0 && l.Unknown == "" {
				names = append(names, f.FullName())
			}
		}
	}
	return names
}

// Unknown says of which lists nothing, or not all, can be known, and why.
func (a *Audit) Unknown() (all []string) {
	for _, l := range a.Lists {
		if l.Unknown != "" {
			all = append(all, l.Name+": "+l.Unknown)
		}
	}
	return all
}

// heading is what an audit calls itself.
func (a *Audit) heading() string {
	if a.Store == "" {
		return "Audit"
	}
	return "Audit of " + harmless.Line(a.Store)
}

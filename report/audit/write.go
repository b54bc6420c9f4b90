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

// Output says how an audit is written. The zero value writes the whole audit as text.
type Output struct {
	Format report.Format // default Text
	About  string        // name of the list or finding to write; "": the whole audit
	Top    int           // rows shown of each finding; 0: a default for the format
}

// These are the default limits on the rows shown of each finding. JSON and CSV are for programs,
// and have no limit.
const (
	textRows  = 3   // in text; all findings of a large site then fit on a few screens
	aboutRows = 20  // in text, if only one list or finding is written
	htmlRows  = 100 // in HTML; a person reads few of them
)

// top returns how many rows are shown of each finding; negative: all.
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

// Write writes an audit, or only the list or finding that o.About names. In CSV, a whole audit has
// a line for each finding, and a single list has a line for each row.
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

// chosen returns the findings that a name selects, including empty ones. For "" it returns all
// findings that have entries, without the list of all URLs.
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

// clean returns the names of the findings that found no problem.
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

// Unknown says for each list that is incomplete or unknown why that is so.
func (a *Audit) Unknown() (all []string) {
	for _, l := range a.Lists {
		if l.Unknown != "" {
			all = append(all, l.Name+": "+l.Unknown)
		}
	}
	return all
}

// heading returns the title of the audit.
func (a *Audit) heading() string {
	if a.Store == "" {
		return "Audit"
	}
	return "Audit of " + harmless.Line(a.Store)
}

package audit

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"skink/base/harmless"
	"skink/report"
)

// Output configures how an audit is written. The zero value writes the whole audit as text.
type Output struct {
	Format report.Format // default: report.Text
	About  string        // list or finding to write; "" means the whole audit
	Top    int           // maximum number of rows for each finding; 0 means the default of the format
}

// These are the default maximum numbers of rows for each finding. JSON, CSV and XLSX contain all rows,
// because programs read them.
const (
	textRows  = 3    // in the text of a whole audit, so all findings fit on a few screens
	aboutRows = 20   // in the text of a single list or finding
	htmlRows  = 1000 // in HTML, folded after the first rows
)

// top returns the maximum number of rows for each finding. A negative number means all rows.
func (o Output) top() int {
	switch {
	case o.Top > 0:
		return o.Top
	case o.Format.All():
		return -1
	case o.Format == report.HTML:
		return htmlRows
	case o.About != "":
		return aboutRows
	}
	return textRows
}

// Write writes an audit, or only the list or finding that o.About names. In CSV, a whole audit has
// one line per finding, and a single list has one line per row. In XLSX, a whole audit has both.
func Write(ctx context.Context, w io.Writer, a *Audit, o Output) error {
	chosen, err := a.chosen(o.About)
	if err != nil {
		return err
	}
	guard := report.Guard(o.Format, w)
	out := bufio.NewWriterSize(guard, 64<<10)
	switch o.Format {
	case report.Text, "":
		err = writeParts(ctx, out, a, chosen, o, textParts, math.MaxInt)
	case report.JSON:
		err = writeJSON(ctx, out, a, chosen, o)
	case report.CSV:
		err = writeCSV(ctx, out, a, chosen, o)
	case report.HTML:
		err = writeParts(ctx, out, a, chosen, o, pageParts, rowsOpen)
	case report.XLSX:
		err = writeXLSX(ctx, w, a, chosen, o) // binary, so it does not pass the guard
	default:
		_, err = report.ParseFormat(string(o.Format))
	}
	if err := cmp.Or(err, out.Flush(), guard.Flush()); err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

// chosen returns the finding with the given name. For the name of a list, it returns all findings
// of the list, including empty ones. For "", it returns the result of [Audit.Findings].
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
	return nil, CheckName(name)
}

// clean returns the names of the empty findings that the audit could check for. If all findings of
// a list are empty, it returns the name of the list instead.
func (a *Audit) clean() (names []string) {
	for _, l := range a.Lists {
		if l.Unknown != "" && !slices.ContainsFunc(l.Findings, func(f *Finding) bool { return f.unchecked }) {
			continue
		}
		var clean []string
		all := 0
		for _, f := range l.Findings {
			if f.Weight == OK {
				continue
			}
			if all++; f.Count()+f.Apart() == 0 && !f.unchecked {
				clean = append(clean, f.FullName())
			}
		}
		if len(clean) == all && all > 0 {
			clean = []string{l.Name}
		}
		names = append(names, clean...)
	}
	return names
}

// Unknown returns a line for each list that cannot be computed completely from this store, with the
// list's name and the reason.
func (a *Audit) Unknown() (all []string) {
	for _, l := range a.Lists {
		if l.Unknown != "" {
			all = append(all, l.Name+": "+l.Unknown)
		}
	}
	return all
}

// Site returns the host of all pages, or the name of the store if there are several hosts.
func (a *Audit) Site() string {
	for host := range a.cover.hosts {
		if len(a.cover.hosts) == 1 && host != "" {
			return harmless.Line(host)
		}
	}
	return harmless.Line(a.Store)
}

func (a *Audit) heading() string { return strings.TrimSuffix("Audit of "+a.Site(), " of ") }

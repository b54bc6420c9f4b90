package report

import (
	"bufio"
	"fmt"
	"io"

	"skink/base/harmless"
)

// A Format is an output format of a report.
type Format string

const (
	Text Format = "text" // plain text for a terminal
	JSON Format = "json" // JSON for programs; see [Report]
	CSV  Format = "csv"  // CSV for spreadsheets: the clusters, one page per line
	HTML Format = "html" // a single HTML file for browsers
	XLSX Format = "xlsx" // a workbook for spreadsheets, with a sheet for each list; only of an audit
)

// All reports whether a report in this format has all rows, because programs read it.
func (f Format) All() bool { return f == JSON || f == CSV || f == XLSX }

// ParseFormat returns the format with the given name. For an unknown name, the error lists all
// names.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Text, JSON, CSV, HTML:
		return f, nil
	}
	return "", fmt.Errorf("unknown report format %q: must be text, json, csv or html", name)
}

// Guard returns a writer to w that neutralizes strings from crawled pages as the format f requires.
// For example, it removes control characters that a terminal would obey.
func Guard(f Format, w io.Writer) *harmless.Guard {
	switch f {
	case JSON:
		return harmless.JSON(w)
	case CSV:
		return harmless.CSV(w)
	case HTML:
		return harmless.HTML(w)
	}
	return harmless.Text(w)
}

func newPrinter(w *bufio.Writer, opt Options) (printer, error) {
	switch opt.Format {
	case Text, "":
		return textPrinter(w, opt), nil
	case JSON:
		return &jsonPrinter{w: w}, nil
	case CSV:
		return &csvPrinter{w: w, contained: opt.Rule.Contained > 0}, nil
	case HTML:
		return htmlPrinter(w, opt), nil
	}
	_, err := ParseFormat(string(opt.Format))
	return nil, err
}

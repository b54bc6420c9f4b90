package report

import (
	"bufio"
	"encoding/csv"
	"math"
)

// A Sheet writes a CSV table that common spreadsheet programs open correctly. It begins with a byte
// order mark, which tells them that the encoding is UTF-8. The writer that [Guard] returns for CSV
// makes lines end in CRLF. A time is written in UTC as 2006-01-02 15:04:05. A ratio has two
// decimals; if it is below 1, it is never rounded up to 1.00. A cell that a spreadsheet would
// interpret as a formula begins with an apostrophe. If there is an [About], each row ends with its
// values.
type Sheet struct {
	w     *csv.Writer
	about []string // cells at the end of each row that describe the report
	line  []string // cells of the current row; the memory is reused
}

// NewSheet begins a table and writes its column names. If about is not nil, the last columns
// describe the report.
func NewSheet(w *bufio.Writer, about *About, columns ...string) (*Sheet, error) {
	const byteOrderMark = "\uFEFF"
	if _, err := w.WriteString(byteOrderMark); err != nil {
		return nil, err
	}
	s := &Sheet{w: csv.NewWriter(w)}
	if about != nil {
		columns, s.about = append(columns, aboutColumns...), about.cells()
	}
	return s, s.w.Write(columns)
}

// Row writes one row, followed by the cells that describe the report.
func (s *Sheet) Row(cells ...any) error {
	s.line = s.line[:0]
	for _, c := range cells {
		s.line = append(s.line, cellCSV(c))
	}
	s.line = append(s.line, s.about...)
	return s.w.Write(s.line)
}

// End flushes buffered data, and returns the first error of any write.
func (s *Sheet) End() error {
	s.w.Flush()
	return s.w.Error()
}

// csvPrinter writes the pages of the clusters, one per line:
//
//	cluster,role,verdict,resemblance[,containment],url,title,translation[,store,first_visit,last_visit,settings]
//
// Clusters are numbered from 1. The role is leader or member, and a leader has no resemblance. A
// member's resemblance has two decimals; if it is below 1, it is never rounded up to 1.00. The
// column containment exists only if the rule is containment, and has values only for near members.
// The column translation gives the language of a member that declares its leader to be the same
// page in another language (hreflang). All rows have the same columns, so the totals, hosts and
// other parts of a report are available only in the other formats. A URL or title that begins with
// = + - @, a tab or a carriage return gets a leading apostrophe, because a spreadsheet might
// interpret it as a formula. Control characters become spaces, to keep each page on one line.
type csvPrinter struct {
	w         *bufio.Writer
	contained bool // whether the rule is containment
	sheet     *Sheet
	clusters  int
}

func (p *csvPrinter) begin(r Report) (err error) {
	columns := []string{"cluster", "role", "verdict", "resemblance"}
	if p.contained {
		columns = append(columns, "containment")
	}
	p.sheet, err = NewSheet(p.w, r.About, append(columns, "url", "title", "translation")...)
	return err
}

func (p *csvPrinter) row(role, verdict string, resemblance, containment any, rest ...any) error {
	cells := []any{int64(p.clusters), role, verdict, resemblance}
	if p.contained {
		cells = append(cells, containment)
	}
	return p.sheet.Row(append(cells, rest...)...)
}

func (p *csvPrinter) cluster(c Cluster) error {
	p.clusters++
	err := p.row("leader", c.Leader.Verdict, nil, nil, c.Leader.URL, c.Leader.Title, nil)
	if err != nil {
		return err
	}
	_, err = c.each(math.MaxInt, func(m Member) error {
		var containment any
		if m.Containment > 0 {
			containment = Ratio(m.Containment)
		}
		return p.row("member", m.Verdict, Ratio(m.Resemblance), containment, m.URL, m.Title, m.Translation)
	})
	return err
}

func (p *csvPrinter) end(_, _ counted) error { return p.sheet.End() }

package report

import (
	"bufio"
	"encoding/csv"
	"strconv"

	"skink/internal/harmless"
)

// csvPrinter writes the pages of the clusters, one a line:
//
//	cluster,role,verdict,resemblance,url,title
//
// Clusters are numbered from 1, the role is leader or member, and a leader has no resemblance; a
// member's has two decimals, of which 1.00 is kept for 1 alone. Totals, hosts, and what was left
// out of the comparison, are in the other formats: a table has one kind of row. A url or title that
// a spreadsheet would take for a formula, one that begins with = + - @, a tab or a carriage return,
// gets a leading apostrophe; control characters become spaces, so that a line is a page.
type csvPrinter struct {
	w        *csv.Writer
	clusters int
}

func newCSVPrinter(w *bufio.Writer) *csvPrinter { return &csvPrinter{w: csv.NewWriter(w)} }

func (p *csvPrinter) begin(head) error {
	return p.w.Write([]string{"cluster", "role", "verdict", "resemblance", "url", "title"})
}

func (p *csvPrinter) cluster(c Cluster) error {
	p.clusters++
	n := strconv.Itoa(p.clusters)
	l := c.Leader
	if err := p.w.Write([]string{n, "leader", l.Verdict, "", harmless.Cell(l.URL), harmless.Cell(l.Title)}); err != nil {
		return err
	}
	for m, err := range c.Members {
		if err != nil {
			return err
		}
		resemblance := decimals(m.Resemblance, 2)
		if err := p.w.Write([]string{n, "member", m.Verdict, resemblance, harmless.Cell(m.URL), harmless.Cell(m.Title)}); err != nil {
			return err
		}
	}
	return nil
}

func (p *csvPrinter) end() error {
	p.w.Flush()
	return p.w.Error()
}

package report

import (
	"bufio"
	"encoding/csv"
	"strconv"

	"skink/internal/harmless"
)

// csvPrinter writes the pages of the clusters, one a line:
//
//	cluster,role,verdict,resemblance,url,title,translation[,store,first_visit,last_visit,settings]
//
// Clusters are numbered from 1, the role is leader or member, and a leader has no resemblance; a
// member's has two decimals, of which 1.00 is kept for 1 alone. The translation is the language of
// a member that names its leader as the same page in another language (hreflang). Totals, hosts,
// what was learned of them, and what was left out of the comparison, are in the other formats: a
// table has one kind of row. A url or title that
// a spreadsheet would take for a formula, one that begins with = + - @, a tab or a carriage return,
// gets a leading apostrophe; control characters become spaces, so that a line is a page. The table
// begins with a byte order mark, and its lines end in CRLF, as spreadsheets want it. A report of a
// store that has a name says in the last columns of each line of what store it is, of which days,
// and by which measure pages were judged.
type csvPrinter struct {
	mark     *bufio.Writer // below w
	w        *csv.Writer
	about    []string // ends each line
	clusters int
}

func newCSVPrinter(w *bufio.Writer) *csvPrinter { return &csvPrinter{mark: w, w: csv.NewWriter(w)} }

// ByteOrderMark tells a spreadsheet that a table is UTF-8.
const ByteOrderMark = "\uFEFF"

func (p *csvPrinter) begin(h head) error {
	if _, err := p.mark.WriteString(ByteOrderMark); err != nil {
		return err
	}
	names := []string{"cluster", "role", "verdict", "resemblance", "url", "title", "translation"}
	if h.About != nil {
		names, p.about = append(names, AboutColumns...), h.About.Cells()
	}
	return p.w.Write(names)
}

func (p *csvPrinter) line(cells ...string) error { return p.w.Write(append(cells, p.about...)) }

func (p *csvPrinter) cluster(c Cluster) error {
	p.clusters++
	n := strconv.Itoa(p.clusters)
	l := c.Leader
	if err := p.line(n, "leader", l.Verdict, "", harmless.Cell(l.URL), harmless.Cell(l.Title), ""); err != nil {
		return err
	}
	for m, err := range c.Members {
		if err != nil {
			return err
		}
		resemblance := Decimals(m.Resemblance, 2)
		if err := p.line(n, "member", m.Verdict, resemblance, harmless.Cell(m.URL), harmless.Cell(m.Title), harmless.Cell(m.Translation)); err != nil {
			return err
		}
	}
	return nil
}

func (p *csvPrinter) end() error {
	p.w.Flush()
	return p.w.Error()
}

package report

import (
	"bufio"
	"fmt"
	"strings"

	"skink/base/harmless"
	"skink/dedup"
	"skink/store"
)

type textPrinter struct {
	w     *bufio.Writer
	rule  dedup.Rule
	pages int64
	top   int
	most  int // maximum number of members to show for each cluster
}

const titleWidth = 100 // in terminal columns

func (p *textPrinter) begin(r Report) error {
	t := r.Totals
	p.pages = t.Pages
	if r.About != nil {
		fmt.Fprintf(p.w, "Duplicates in %s\n", harmless.Line(r.About.Store))
		for _, line := range r.About.Lines() {
			fmt.Fprintf(p.w, "  %s\n", line)
		}
		fmt.Fprintln(p.w)
	}
	p.printTotals(t)
	if len(r.Hosts) > 0 {
		p.printHosts(r.Hosts)
	}
	p.printLists(r)
	if t.Pages == 0 {
		_, err := fmt.Fprintln(p.w, "\nNo page has been compared yet.")
		return err
	}
	return nil
}

func privacy(private bool) string {
	if private {
		return "  (private)"
	}
	return ""
}

func (p *textPrinter) printTotals(t Totals) {
	width := len(Grouped(max(t.Pages, t.Other, t.Redirects, t.Errors, t.Blocked, t.Skipped, t.Sitemaps, t.Later, t.Unkept, t.Capped, t.Scripts, t.Unrendered, t.Pending, t.Outside)))
	line := func(label string, n int64, note string) {
		fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf("%-11s %*s  %s", label, width, Grouped(n), note), " "))
	}
	line("pages", t.Pages, "")
	for _, v := range []struct {
		kind dedup.VerdictKind
		n    int64
	}{{dedup.Unique, t.Unique}, {dedup.Exact, t.Exact}, {dedup.Near, t.Near}, {dedup.Thin, t.Thin}} {
		share := ""
		if t.Pages > 0 {
			share = fmt.Sprintf("%7s  %s", Share(v.n, t.Pages), p.rule.Explain(v.kind))
		}
		line("  "+string(v.kind), v.n, share)
	}
	failed, givenUp := t.Failed(), t.GivenUp
	for _, rest := range []struct {
		label string
		n     int64
		note  string
	}{
		{"other", t.Other, "not text"},
		{"sitemaps", t.Sitemaps, "lists of URLs"},
		{"redirected", t.Redirects, store.MeaningOf("redirected")},
		{"blocked", t.Blocked, store.MeaningOf("blocked")},
		{"postponed", t.Later, store.MeaningOf("postponed")},
		{"pending", t.Pending, store.MeaningOf("pending")},
		{"outside", t.Outside, store.MeaningOf("outside")},
		{"failed", Total(failed), harmless.Line(Problems(failed))},
		{"given-up", Total(givenUp), harmless.Line(Problems(givenUp))},
		{"no text", t.Skipped, "files and records without text, which have no verdict"},
		{"unkept", t.Unkept, "duplicates whose text was not kept"},
		{"capped", t.Capped, "not compared with every candidate; possibly duplicates"},
		{"scripts", t.Scripts, "pages that need scripts; skink crawl --render auto fetches them with a browser"},
		{"unrendered", t.Unrendered, "pages that the browser failed to render; skink report --about unrendered lists them"},
	} {
		if rest.n > 0 {
			line(rest.label, rest.n, rest.note)
		}
	}
}

func (p *textPrinter) printHosts(hosts []Host) {
	t := Table{Columns: []Column{
		{Title: "Host", Brief: true}, {Title: "Pages", Brief: true, Width: 9}, {Title: "Unique", Brief: true, Width: 9}, {Title: "Exact", Brief: true, Width: 9},
		{Title: "Near", Brief: true, Width: 9}, {Title: "Thin", Brief: true, Width: 9}, {Title: "Duplicates", Brief: true, Width: 11},
	}}
	for _, h := range hosts {
		t.Rows = append(t.Rows, Row{Cells: []any{hostCell(h.Host), h.Pages, h.Unique, h.Exact, h.Near, h.Thin, Percent(percent(h.Duplicates(), h.Pages))}})
	}
	fmt.Fprintln(p.w)
	t.WriteText(p.w, "", " ")
	for _, h := range hosts {
		if h.Alone != "" {
			fmt.Fprintf(p.w, "%s was suspended by the last run: %s\n", hostName(h.Host), harmless.Line(h.Alone))
		}
	}
}

func (p *textPrinter) printLists(r Report) {
	title := "\nhosts whose pages are mostly duplicates of pages on another host\n"
	for _, h := range r.Hosts {
		if h.Led > 0 {
			fmt.Fprintf(p.w, "%s  %s: %s of %s are duplicates of pages on %s\n", title, hostName(h.Host), Grouped(h.Led), Counted(h.Pages, "page"), hostName(h.LedBy))
			title = ""
		}
	}
}

func (p *textPrinter) cluster(c Cluster) error {
	l := c.Leader
	fmt.Fprintf(p.w, "\nleader  %s", harmless.Line(l.URL))
	if l.Title != "" {
		fmt.Fprint(p.w, "  ", quoted(l.Title, titleWidth))
	}
	fmt.Fprintf(p.w, "  (%s)%s\n", harmless.Line(l.Why), privacy(l.Private))
	rest, err := c.each(p.most, func(m Member) error {
		note := privacy(m.Private)
		if m.Excerpt {
			note += "  (excerpt: the leader contains " + contained(m.Containment) + " of it)"
		}
		if m.Translation != "" {
			note += "  (translation, hreflang " + harmless.Line(m.Translation) + ")"
		}
		if m.Doubtful {
			note += "  (doubtful: the pages differ in text that was not extracted)"
		}
		_, err := fmt.Fprintf(p.w, "  %-5s %s  %s%s\n", harmless.Line(m.Verdict), resemblance(m.Resemblance), harmless.Line(m.URL), note)
		return err
	})
	if err == nil && rest > 0 {
		_, err = fmt.Fprintf(p.w, "  and %s\n", Counted(rest, "more page"))
	}
	return err
}

func (p *textPrinter) end(shown, rest counted) (err error) {
	all := shown.Clusters + rest.Clusters
	switch {
	case all > 0:
		_, err = fmt.Fprintf(p.w, "\n%s, %s\n", Counted(all, "cluster"), Counted(shown.Members+rest.Members, "duplicate"))
	case p.pages > 0:
		_, err = fmt.Fprintln(p.w, "\nThere are no duplicates.")
	}
	if rest.Clusters > 0 {
		_, err = fmt.Fprintf(p.w, "%s not shown: use --top %d to show all clusters, or --format csv to print a table\n", Counted(rest.Clusters, "smaller cluster"), all)
	}
	return err
}

// hostName returns the display name of a host, which is "(files)" for "".
func hostName(host string) string {
	if host == "" {
		return "(files)"
	}
	return harmless.Line(host)
}

package report

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	texttemplate "text/template"
	"time"

	"skink/base/harmless"
	"skink/dedup"
)

// Each part of a report in HTML or as text is a separate template. A part is written as soon as its data
// has been read, so memory use does not grow with the number of clusters.
//
// The HTML report is one file that opens from disk and loads nothing else: no script, font or
// image. Its Content-Security-Policy forbids all of these, so even text that slipped through the
// escaping could not run or load anything.
//
//go:embed report.html
var pageSource string

//go:embed report.txt
var textSource string

var (
	page = template.Must(Templates().Funcs(template.FuncMap{
		"link":    LinkTo,
		"clipped": func(text string) string { return plain(Clip(text, blockShown)) },
		"rest":    func(all, shown int) int { return all - shown },
	}).New("report.html").Parse(pageSource))
	text = texttemplate.Must(texttemplate.New("report.txt").Funcs(numbers).Funcs(texttemplate.FuncMap{
		"line":    harmless.Line,
		"title":   func(s string) string { return quoted(s, titleWidth) },
		"hosts":   hostTable,
		"meaning": meaningOf,
		"alike":   func(resemblance float64) string { return dedup.Percent(math.Floor(resemblance*1e4) / 1e4) },
		"time":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"lines":   strings.Lines,
		"trim":    strings.TrimSpace,
	}).Parse(textSource))
)

// numbers are the functions that the templates of all formats can call.
var numbers = map[string]any{
	"group":     Grouped,
	"count":     Counted,
	"percent":   Share,
	"similar":   resemblance,
	"contained": contained,
	"hostname":  hostName,
	"total":     Total[string],
	"problems":  func(byKind map[string]int64) string { return harmless.Line(Problems(byKind)) },
}

const (
	hostsShown   = 12  // number of hosts shown before the reader expands the rest; they fit on one screen
	membersShown = 500 // maximum number of members shown for a cluster in HTML; some clusters have 100,000
	clustersOpen = 3   // number of clusters that are expanded initially, as examples
	blockShown   = 300 // maximum number of runes shown of each block that the comparison ignored
	openRows     = 8   // a cluster with more members is not expanded initially
	titleWidth   = 100 // of a leader's title in text, in terminal columns
)

// A partPrinter writes a report by the templates begin, cluster, member, end cluster and end.
type partPrinter struct {
	w     *bufio.Writer
	parts interface {
		ExecuteTemplate(w io.Writer, name string, data any) error
	}
	rule     dedup.Rule
	hosts    int // maximum number of hosts listed, besides the first
	members  int // maximum number of members shown for a cluster
	pages    int64
	clusters int // number of clusters shown so far
}

func textPrinter(w *bufio.Writer, opt Options) *partPrinter {
	return &partPrinter{w: w, parts: text, rule: opt.Rule, hosts: math.MaxInt - hostsShown, members: max(opt.Top, textPages)}
}

func htmlPrinter(w *bufio.Writer, opt Options) *partPrinter {
	return &partPrinter{w: w, parts: page, rule: opt.Rule, hosts: opt.shown(), members: membersShown}
}

type summary struct {
	Report
	Heading     string
	AboutLines  []string
	Rule        dedup.Rule
	HostCount   int    // number of hosts; pages from files have no host
	FirstHosts  []Host // those shown before the reader expands FoldedHosts
	FoldedHosts []Host
	Led         []Host // hosts whose LedBy is not empty

	UncountedHosts int // number of hosts that the list omits because of its limit
}

func (p *partPrinter) begin(r Report) error {
	p.pages = r.Pages
	sum := summary{Report: r, Heading: "Duplicate report: " + Grouped(r.Pages) + " pages", Rule: p.rule}
	if r.About != nil {
		sum.AboutLines = append([]string{"Store " + harmless.Line(r.About.Store)}, r.About.Lines()...)
	}
	for _, h := range r.Hosts {
		if h.Host != "" {
			sum.HostCount++
		}
		if h.Led > 0 && len(sum.Led) < p.hosts {
			sum.Led = append(sum.Led, h)
		}
	}
	sum.FoldedHosts, sum.UncountedHosts = first(r.Hosts, p.hosts+hostsShown)
	sum.FirstHosts, _ = first(sum.FoldedHosts, hostsShown)
	sum.FoldedHosts = sum.FoldedHosts[len(sum.FirstHosts):]
	return p.execute("begin", sum)
}

// NearBars returns the near-duplicates by resemblance.
func (s summary) NearBars() []histogramBar { return s.near.bars(likenessLabel) }

// first returns at most the first n elements of a list, and the number of remaining elements.
func first[T any](all []T, n int) ([]T, int) {
	n = min(n, len(all))
	return all[:n], len(all) - n
}

// Row returns a line of the totals.
func (s summary) Row(label string, n int64, note string) string {
	width := len(Grouped(max(s.Pages, s.Other, s.Redirects, s.Errors, s.Blocked, s.Skipped, s.Sitemaps, s.Later, s.Unkept, s.Capped, s.Scripts, s.Unrendered, s.Pending, s.Outside)))
	return strings.TrimRight(fmt.Sprintf("%-11s %*s  %s", label, width, Grouped(n), note), " ") + "\n"
}

// Verdict returns a line with the number of pages with a verdict.
func (s summary) Verdict(kind dedup.VerdictKind, n int64) string {
	share := ""
	if s.Pages > 0 {
		share = fmt.Sprintf("%7s  %s", Share(n, s.Pages), s.Rule.Explain(kind))
	}
	return s.Row("  "+string(kind), n, share)
}

// hostTable returns the counts by host as a table in text.
func hostTable(hosts []Host) string {
	t := Table{Columns: []Column{
		{Title: "Host", Brief: true}, {Title: "Pages", Brief: true, Width: 9}, {Title: "Unique", Brief: true, Width: 9}, {Title: "Exact", Brief: true, Width: 9},
		{Title: "Near", Brief: true, Width: 9}, {Title: "Thin", Brief: true, Width: 9}, {Title: "Duplicates", Brief: true, Width: 11},
	}}
	for _, h := range hosts {
		t.Rows = append(t.Rows, Row{Cells: []any{hostCell(h.Host), h.Pages, h.Unique, h.Exact, h.Near, h.Thin, Percent(percent(h.Duplicates(), h.Pages))}})
	}
	var b strings.Builder
	t.WriteText(&b, "", " ")
	return b.String()
}

// hostName returns the display name of a host, which is "(files)" for "".
func hostName(host string) string {
	if host == "" {
		return "(files)"
	}
	return harmless.Line(host)
}

func (p *partPrinter) cluster(c Cluster) error {
	p.clusters++
	l := c.Leader
	err := p.execute("cluster", struct {
		Leader
		Name string
		Size int
		Open bool
	}{l, cmp.Or(plain(l.Title), plain(l.URL)), c.Size, p.clusters <= clustersOpen && c.Size <= openRows})
	if err != nil {
		return err
	}
	rest, err := c.each(p.members, func(m Member) error {
		if m.Title == c.Leader.Title {
			m.Title = ""
		}
		return p.execute("member", m)
	})
	if err != nil {
		return err
	}
	return p.execute("end cluster", rest)
}

func (p *partPrinter) end(shown, rest counted) error {
	all := counted{shown.Clusters + rest.Clusters, shown.Members + rest.Members, rest.sizes}
	return p.execute("end", struct {
		Alone     bool
		All, Rest counted
	}{p.pages > 0 && all.Clusters == 0, all, rest})
}

func (p *partPrinter) execute(name string, data any) error {
	return p.parts.ExecuteTemplate(p.w, name, data)
}

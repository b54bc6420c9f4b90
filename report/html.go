package report

import (
	"bufio"
	"cmp"
	_ "embed"
	"html/template"

	"skink/base/harmless"
	"skink/dedup"
)

// The HTML report is one file that opens from disk and loads nothing else: no script, font or
// image. Its Content-Security-Policy forbids all of these, so even text that slipped through the
// escaping could not run or load anything. Each part of the file is a separate template. A part is
// written as soon as its data has been read, so memory use does not grow with the number of
// clusters.
//
//go:embed report.html
var pageSource string

var page = template.Must(Templates().Funcs(template.FuncMap{
	"link":     LinkTo,
	"total":    Total[string],
	"problems": func(byKind map[string]int64) string { return harmless.Line(Problems(byKind)) },
	"clipped":  func(text string) string { return plain(Clip(text, blockShown)) },
	"rest":     func(all, shown int) int { return all - shown },
}).New("report.html").Parse(pageSource))

const (
	hostsShown   = 12  // number of hosts shown before the reader expands the rest; they fit on one screen
	membersShown = 500 // maximum number of members shown for a cluster; some clusters have 100,000
	clustersOpen = 3   // number of clusters that are expanded initially, as examples
	blockShown   = 300 // maximum number of runes shown of each block that the comparison ignored
	openRows     = 8   // a cluster with more members is not expanded initially
)

type htmlPrinter struct {
	w        *bufio.Writer
	top      int
	rule     dedup.Rule
	pages    int64
	clusters int // number of clusters shown so far
}

type summary struct {
	Report
	Heading     string
	AboutLines  []string
	Rule        dedup.Rule
	HostCount   int // number of hosts; pages from files have no host
	FoldedHosts []Host
	Led         []Host // hosts whose LedBy is not empty

	UncountedHosts int // number of hosts that the list omits because of its limit
}

func (p *htmlPrinter) begin(r Report) error {
	p.pages = r.Pages
	sum := summary{Report: r, Heading: "Duplicate report: " + Grouped(r.Pages) + " pages", Rule: p.rule}
	if r.About != nil {
		sum.AboutLines = append([]string{"Store " + harmless.Line(r.About.Store)}, r.About.Lines()...)
	}
	for _, h := range r.Hosts {
		if h.Host != "" {
			sum.HostCount++
		}
		if h.Led > 0 && len(sum.Led) < p.top {
			sum.Led = append(sum.Led, h)
		}
	}
	sum.Hosts, sum.UncountedHosts = first(r.Hosts, p.top+hostsShown)
	sum.FoldedHosts = sum.Hosts[min(len(sum.Hosts), hostsShown):]
	sum.Hosts = sum.Hosts[:len(sum.Hosts)-len(sum.FoldedHosts)]
	return p.execute("begin", sum)
}

// first returns at most the first n elements of a list, and the number of remaining elements.
func first[T any](all []T, n int) ([]T, int) {
	n = min(n, len(all))
	return all[:n], len(all) - n
}

func (p *htmlPrinter) cluster(c Cluster) error {
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
	rest, err := c.each(membersShown, func(m Member) error {
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

func (p *htmlPrinter) end(shown, rest counted) error {
	return p.execute("end", struct {
		Alone bool
		Rest  counted
	}{p.pages > 0 && shown.Clusters+rest.Clusters == 0, rest})
}

func (p *htmlPrinter) execute(name string, data any) error {
	return page.ExecuteTemplate(p.w, name, data)
}

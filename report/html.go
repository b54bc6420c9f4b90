package report

import (
	"bufio"
	"cmp"
	_ "embed"
	"html/template"

	"skink/dedup"
	"skink/internal/harmless"
)

// The HTML form is one file that opens from disk and loads nothing else: no script, font or image.
// Its Content-Security-Policy forbids all of these, so that even a page text that slipped through
// the escaping could not run or load anything. Each part of the file is a separate template,
// written as soon as its data is read, so that memory does not grow with the number of clusters.
//
//go:embed report.html
var pageSource string

var page = template.Must(Templates().Funcs(template.FuncMap{
	"link":     LinkTo,
	"total":    total,
	"problems": func(byKind map[string]int64) string { return harmless.Line(Problems(byKind)) },
	"clipped":  func(text string) string { return plain(Clip(text, blockShown)) },
	"rest":     func(all, shown int) int { return all - shown },
	"spared":   postponed,
	"lines":    func(l Learned) []line { return l.lines(patternsHTML) },
}).New("report.html").Parse(pageSource))

const (
	hostsShown   = 12  // hosts listed in full; the rest is folded, so that the summary fits on one screen
	membersShown = 500 // members shown of a cluster; a site with one template can have a cluster of 100,000
	clustersOpen = 3   // the first clusters, shown unfolded as examples
	blockShown   = 300 // columns shown, as [Clip] counts them, of a text block that was left out of the comparison
	openRows     = 8   // one of the first clusters is still folded if it has more members than this
	patternsHTML = 100 // URL patterns shown of each host, whose URLs were postponed
)

type htmlPrinter struct {
	w        *bufio.Writer
	top      int
	rule     dedup.Rule
	pages    int64
	clusters int
	rest     struct{ Clusters, Members int } // clusters and members beyond the limits, which are only counted
}

func newHTMLPrinter(w *bufio.Writer, top int, rule dedup.Rule) *htmlPrinter {
	if top <= 0 {
		top = DefaultTop
	}
	return &htmlPrinter{w: w, top: top, rule: rule}
}

// A summary is the data for the part of the HTML report that stands before its clusters.
type summary struct {
	head
	Heading     string // title of the browser window
	AboutLines  []string
	Rule        dedup.Rule
	HostCount   int // hosts in the report, except "", which stands for files
	FoldedHosts []Host
	Led         []Host // hosts of which another host leads more than half of the pages

	UncountedHosts, UncountedLeft, UncountedLearned int // how many hosts the three lists leave out because of their limits
}

func (p *htmlPrinter) begin(h head) error {
	p.pages = h.Pages
	sum := summary{head: h, Heading: "Duplicate report: " + Grouped(h.Pages) + " pages", Rule: p.rule}
	if h.About != nil {
		sum.AboutLines = append([]string{"Store " + harmless.Line(h.About.Store)}, h.About.Lines()...)
	}
	for _, h := range h.Hosts {
		if h.Host != "" {
			sum.HostCount++
		}
		if h.Led > 0 && len(sum.Led) < p.top {
			sum.Led = append(sum.Led, h)
		}
	}
	sum.Hosts, sum.UncountedHosts = first(h.Hosts, p.top+hostsShown)
	sum.FoldedHosts = sum.Hosts[min(len(sum.Hosts), hostsShown):]
	sum.Hosts = sum.Hosts[:len(sum.Hosts)-len(sum.FoldedHosts)]
	sum.LeftOut, sum.UncountedLeft = first(h.LeftOut, p.top)
	sum.Learned, sum.UncountedLearned = first(h.Learned, p.top)
	return p.execute("begin", sum)
}

// first returns the first n elements of all, and how many elements follow them.
func first[T any](all []T, n int) ([]T, int) {
	n = min(n, len(all))
	return all[:n], len(all) - n
}

func (p *htmlPrinter) cluster(c Cluster) error {
	if p.clusters == p.top {
		p.rest.Clusters++
		p.rest.Members += c.Size
		return nil
	}
	p.clusters++
	l, err := c.leader()
	if err != nil {
		return err
	}
	err = p.execute("cluster", struct {
		Leader
		Name string
		Size int
		Open bool
	}{l, cmp.Or(plain(l.Title), plain(l.URL)), c.Size, p.clusters <= clustersOpen && c.Size <= openRows})
	if err != nil {
		return err
	}
	shown, err := p.members(c)
	if err != nil {
		return err
	}
	return p.execute("end cluster", c.Size-shown)
}

func (p *htmlPrinter) members(c Cluster) (shown int, err error) {
	for m, err := range c.Members {
		if err != nil {
			return shown, err
		}
		if shown == membersShown {
			break
		}
		if m.Title == c.Leader.Title {
			m.Title = ""
		}
		if err := p.execute("member", m); err != nil {
			return shown, err
		}
		shown++
	}
	return shown, nil
}

func (p *htmlPrinter) end() error {
	return p.execute("end", struct {
		Alone bool
		Rest  struct{ Clusters, Members int }
	}{p.pages > 0 && p.clusters == 0, p.rest})
}

func (p *htmlPrinter) execute(name string, data any) error {
	return page.ExecuteTemplate(p.w, name, data)
}

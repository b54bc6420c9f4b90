package report

import (
	"bufio"
	"cmp"
	_ "embed"
	"html/template"
	"slices"

	"skink/dedup"
	"skink/internal/harmless"
)

// The HTML form is one file that opens from disk and asks for nothing: no script, no font, no
// image, and a policy that forbids them all, so that even a hole in the escaping would fetch and
// run nothing. Each part of it is a template of its own, executed when its turn comes: the file
// grows with the clusters shown, memory does not.
//
//go:embed report.html
var pageSource string

var page = template.Must(Templates().New("report.html").Parse(pageSource))

const (
	hostsShown   = 12  // unfolded: what leaves the summary on one screen
	membersShown = 500 // of a cluster; a site of one template can have 100,000
	clustersOpen = 3   // unfolded, to show what is inside
	blockShown   = 300 // runes of a block that was left out
	openRows     = 8   // a cluster that opens by itself has no more members
	patternsHTML = 100 // of a host, that led to copies
)

type htmlPrinter struct {
	w        *bufio.Writer
	top      int
	rule     dedup.Rule
	pages    int64
	clusters int
	rest     struct{ Clusters, Members int } // counted, not shown
}

func newHTMLPrinter(w *bufio.Writer, top int, rule dedup.Rule) *htmlPrinter {
	if top <= 0 {
		top = DefaultTop
	}
	return &htmlPrinter{w: w, top: top, rule: rule}
}

// A summary is what the page says before its clusters.
type summary struct {
	Totals
	Heading        string // of the window
	About          []string
	Rule           dedup.Rule
	Failed         ended
	GivenUp        ended
	HostCount      int // without files
	Hosts          []hostRow
	FoldedHosts    []hostRow
	UncountedHosts int
	Led            []ledRow
	LeftOut        []leftOutRow
	UncountedLeft  int // hosts that are not in LeftOut

	Canonicals       []canonicalRow
	Learned          []learnedRow
	UncountedLearned int // hosts that are not in Learned
}

// ended are the URLs without a page that ended in one way.
type ended struct {
	N    int64
	Kind string // how many of each kind
}

func endedOf(byKind map[string]int64) ended {
	return ended{total(byKind), harmless.Line(Problems(byKind))}
}

// A leftOutRow is what was left out on one host.
type leftOutRow struct {
	LeftOut
	Name string
	Rest int // blocks not shown
}

// A canonicalRow is one way in which pages name another that is not what they say.
type canonicalRow struct {
	Pages        int64
	Why          string
	Page, Target PageLink
}

// A learnedRow is what was learned of one host.
type learnedRow struct {
	Name   string
	Spared string // how many fetches were
	Lines  []learnedLine
}

type hostRow struct {
	Host
	Name string
}

// A ledRow is a host whose pages are mostly led by another host.
type ledRow struct {
	Host
	Name, By string
}

func (p *htmlPrinter) begin(h head) error {
	t, hosts := h.Totals, h.Hosts
	p.pages = t.Pages
	sum := summary{Totals: t, Heading: "Duplicate report: " + Grouped(t.Pages) + " pages", Rule: p.rule, Failed: endedOf(t.Failed()), GivenUp: endedOf(t.GivenUp)}
	if h.About != nil {
		sum.About = append([]string{"Store " + harmless.Line(h.About.Store)}, h.About.Lines()...)
	}
	rows := make([]hostRow, min(len(hosts), p.top+hostsShown))
	for i := range rows {
		rows[i] = hostRow{hosts[i], hostName(hosts[i].Host)}
	}
	for _, h := range hosts {
		if h.Host != "" {
			sum.HostCount++
		}
		if h.Led > 0 && len(sum.Led) < p.top {
			sum.Led = append(sum.Led, ledRow{h, hostName(h.Host), hostName(h.LedBy)})
		}
	}
	sum.Hosts = rows[:min(len(rows), hostsShown)]
	sum.FoldedHosts = rows[len(sum.Hosts):]
	sum.UncountedHosts = len(hosts) - len(rows)
	sum.LeftOut = leftOutRows(h.LeftOut[:min(len(h.LeftOut), p.top)])
	sum.UncountedLeft = len(h.LeftOut) - len(sum.LeftOut)
	for _, c := range h.Canonicals {
		sum.Canonicals = append(sum.Canonicals, canonicalRow{c.Pages, c.Why, LinkTo(c.URL), LinkTo(c.Target)})
	}
	for _, l := range h.Learned[:min(len(h.Learned), p.top)] {
		sum.Learned = append(sum.Learned, learnedRow{hostName(l.Host), postponed(l.Saved), l.lines(patternsHTML)})
	}
	sum.UncountedLearned = len(h.Learned) - len(sum.Learned)
	return p.execute("begin", sum)
}

func leftOutRows(all []LeftOut) (rows []leftOutRow) {
	for _, l := range all {
		top := slices.Clone(l.Top)
		for i := range top {
			top[i].Text = plain(Clip(top[i].Text, blockShown))
		}
		rest := l.Blocks - len(top)
		l.Top = top
		rows = append(rows, leftOutRow{l, hostName(l.Host), rest})
	}
	return rows
}

// A pageRow is one page of a cluster.
type pageRow struct {
	Verdict     string
	Resemblance string // "" for the leader
	PageLink
	Title       string
	Translation string // its language, of a page that names its leader as itself in another; "" of others
	Doubtful    bool
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
		Name, Why string
		Size      int
		Open      bool
		Leader    pageRow
	}{
		cmp.Or(plain(l.Title), plain(l.URL)), l.Why,
		c.Size, p.clusters <= clustersOpen && c.Size <= openRows,
		pageRow{Verdict: l.Verdict, PageLink: LinkTo(l.URL), Title: plain(l.Title)},
	})
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
		row := pageRow{m.Verdict, resemblance(m.Resemblance), LinkTo(m.URL), plain(m.Title), plain(m.Translation), m.Doubtful}
		if m.Title == c.Leader.Title {
			row.Title = ""
		}
		if err := p.execute("member", row); err != nil {
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

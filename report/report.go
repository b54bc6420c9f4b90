// Package report writes the duplicate report of a crawl: the numbers of unique and duplicate pages,
// in total and by host, and the clusters of duplicates.
//
//	err := report.Write(ctx, os.Stdout, report.FromStore(s), report.Options{Format: report.Text})
//
// [Write] keeps only totals and counts by host in memory. It streams the clusters from a [Source],
// so a report on millions of pages needs about as much memory as one on ten pages. The package
// reports the verdicts that the crawl stored, and does not judge pages itself. It escapes each
// crawled string as the output format requires.
package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"skink/dedup"
	"skink/store"
)

// A Report is the Go type of a report in JSON, for programs that read reports. [Write] streams its
// output and never builds a Report.
type Report struct {
	Totals
	About *About `json:"about,omitempty"` // description of the store; nil if the store has no name
	Hosts []Host `json:"hosts"`           // counts by host, in descending order of duplicates

	Clusters []Group `json:"clusters"` // largest cluster first

	near histogram // near-duplicates by likeness
}

// Totals counts the URLs of a crawl. Pages is the sum of Unique, Exact, Near and Thin.
type Totals struct {
	Pages int64 `json:"pages"` // URLs whose text got a verdict
	store.Tally
	Pending int64 `json:"pending,omitempty"` // URLs that have not been fetched yet
	Outside int64 `json:"outside,omitempty"` // linked URLs outside the scope of the crawl
}

// Duplicates returns the number of exact and near duplicates.
func (t Totals) Duplicates() int64 { return t.Exact + t.Near }

// A Host counts the judged pages of one host by verdict.
type Host struct {
	Host   string `json:"host"` // name, with the port unless it is the scheme's default; "" for pages from files
	Pages  int64  `json:"pages"`
	Unique int64  `json:"unique"`
	Exact  int64  `json:"exact"`
	Near   int64  `json:"near"`
	Thin   int64  `json:"thin"`

	Alone string `json:"left_alone,omitempty"` // why the last run stopped fetching from the host before all URLs were fetched; "" if it did not

	LedBy string `json:"led_by,omitempty"` // another host that has the leaders of more than half of this host's pages; "" if there is none
	Led   int64  `json:"led,omitempty"`    // pages of this host whose leader is on the host LedBy
}

// Duplicates returns the number of the host's pages that duplicate another page, on this or another host.
func (h Host) Duplicates() int64 { return h.Exact + h.Near }

// A Leader is the page that the other pages of a cluster duplicate.
type Leader struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Why     string `json:"why"`               // why this page leads its cluster, such as "first seen"
	Private bool   `json:"private,omitempty"` // see [store.Record.Private]

	Verdict string `json:"-"`
}

// A Member is a page of a cluster that duplicates the cluster's leader.
type Member struct {
	URL         string  `json:"url"`
	Verdict     string  `json:"verdict"`
	Resemblance float64 `json:"resemblance"`           // exact resemblance of the compared texts of the member and the leader, 0 to 1
	Containment float64 `json:"containment,omitempty"` // see [store.Record.Containment]
	Excerpt     bool    `json:"excerpt,omitempty"`     // the leader contains enough of the member for the verdict near, but their resemblance is below --similarity
	Translation string  `json:"translation,omitempty"` // the member's language, if it declares the leader to be its version in another language (hreflang); otherwise ""
	Doubtful    bool    `json:"doubtful,omitempty"`    // see [store.Record.Doubtful]
	Private     bool    `json:"private,omitempty"`     // see [store.Record.Private]

	Title string `json:"-"`
}

// A Group is a cluster with all its members in memory.
type Group struct {
	Leader  Leader   `json:"leader"`
	Members []Member `json:"members"` // highest resemblance first
}

// A Cluster is a cluster whose members are read from the store while Members is iterated. They can
// be read only once, and only before the next cluster is read.
type Cluster struct {
	Leader  Leader
	Why     func() (string, error) // returns the value of Leader.Why; nil if Leader.Why is already set
	Size    int                    // number of members, not counting the leader
	Members iter.Seq2[Member, error]
}

// each calls do for the first n members, and returns how many members it did not reach.
func (c *Cluster) each(n int, do func(Member) error) (rest int, err error) {
	shown := 0
	for m, err := range c.Members {
		if err != nil {
			return 0, err
		}
		if shown == n {
			break
		}
		if err := do(m); err != nil {
			return 0, err
		}
		shown++
	}
	return c.Size - shown, nil
}

// A counted is a number of clusters, and of their members.
type counted struct {
	Clusters, Members int
	sizes             histogram // clusters by size; it is shared by all counts of a report
}

// Sizes returns the clusters by size.
func (n counted) Sizes() []histogramBar { return n.sizes.bars(sizeLabel) }

func (n *counted) add(c Cluster) {
	n.Clusters, n.Members = n.Clusters+1, n.Members+c.Size
	n.sizes[size(c.Size+1)]++
}

// These are the default limits for formats that people read.
const (
	DefaultTop = 1000 // clusters in HTML: more than anyone reads, but few enough for a browser to open the page quickly
	textTop    = 50   // clusters in text, which fill a few screens
	textPages  = 20   // pages of each cluster in text
)

// Options control how a report is written. The zero value writes text with default limits.
type Options struct {
	Format Format     // default: Text
	Top    int        // maximum number of clusters to show; the others are only counted. 0 means all in JSON and CSV, 1,000 in HTML, 50 in text
	About  About      // description of the store, shown if it has a name; Write adds the times of the visits
	Rule   dedup.Rule // rule by which pages were judged, to explain the verdicts; the zero value means the default rule
}

// A printer writes one report in one format: begin is called first, with the report without its
// clusters, then cluster for each cluster that is shown, then end.
type printer interface {
	begin(Report) error
	cluster(Cluster) error
	end(shown, rest counted) error
}

// Write writes the report of src to w. It returns an error if the source, the writer or the context
// fails. The output is then incomplete.
func Write(ctx context.Context, w io.Writer, src Source, opt Options) error {
	guard := Guard(opt.Format, w)
	out := bufio.NewWriterSize(guard, 64<<10)
	if opt.Rule.Similarity == 0 {
		opt.Rule.Similarity, opt.Rule.MinWords = dedup.DefaultSimilarity, dedup.DefaultMinWords
	}
	p, err := newPrinter(out, opt)
	if err != nil {
		return err
	}
	if err := stream(ctx, p, src, opt); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := cmp.Or(out.Flush(), guard.Flush()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func stream(ctx context.Context, p printer, src Source, opt Options) error {
	r, err := src.Head(ctx)
	if err != nil {
		return err
	}
	sortHosts(r.Hosts)
	r.About = opt.described(r.About)
	if err := p.begin(r); err != nil {
		return err
	}
	sizes := histogram{}
	shown, rest := counted{sizes: sizes}, counted{sizes: sizes}
	for c, err := range src.Clusters(ctx, opt.shown()) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if shown.Clusters == opt.shown() {
			if opt.Format.All() {
				break // the totals already include the duplicates
			}
			rest.add(c)
			continue
		}
		if c.Why != nil && opt.Format != CSV { // CSV has no column for the reason
			if c.Leader.Why, err = c.Why(); err != nil {
				return err
			}
		}
		if err := p.cluster(c); err != nil {
			return err
		}
		shown.add(c)
	}
	return p.end(shown, rest)
}

// shown returns the maximum number of clusters that a report shows.
func (opt *Options) shown() int {
	switch {
	case opt.Top > 0:
		return opt.Top
	case opt.Format == HTML:
		return DefaultTop
	case opt.Format.All():
		return math.MaxInt
	}
	return textTop
}

// described returns the description of the store with the times of the visits, or nil if the store
// has no name.
func (opt *Options) described(visits *About) *About {
	if opt.About.Store == "" {
		return nil
	}
	about := opt.About
	if visits != nil {
		about.First, about.Last = visits.First, visits.Last
	}
	return &about
}

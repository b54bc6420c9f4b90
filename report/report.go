// Package report writes the duplicate report of a crawl: how many pages are unique, how many
// duplicate another page, on which hosts, and the clusters of duplicates.
//
//	err := report.Write(ctx, os.Stdout, report.FromStore(s), report.Options{Format: report.Text})
//
// [Write] keeps only totals and counts by host in memory. It streams the clusters from a [Source],
// so that a report on millions of pages needs about as much memory as a report on ten. The package
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
	"slices"

	"skink/dedup"
	"skink/store"
)

// A Report is the Go type of a report in JSON, for programs that read reports. [Write] never makes
// a Report, because it streams its output.
type Report struct {
	Totals
	About   *About    `json:"about,omitempty"`    // description of the store; nil if the store has no name
	Hosts   []Host    `json:"hosts"`              // counts of each host, the host with the most duplicates first
	LeftOut []LeftOut `json:"left_out,omitempty"` // the blocks that the comparison ignored, the host with the most shortened pages first; nil if whole texts were compared
	Learned []Learned `json:"learned,omitempty"`  // findings about hosts, the host with the most postponed URLs first

	Canonicals []Canonical `json:"false_canonicals,omitempty"` // wrong canonical URLs
	Clusters   []Group     `json:"clusters"`                   // the clusters, the largest first
}

// Totals counts the URLs of a crawl. Pages is the sum of Unique, Exact, Near and Thin.
type Totals struct {
	Pages     int64 `json:"pages"` // number of URLs whose text got a verdict
	Unique    int64 `json:"unique"`
	Exact     int64 `json:"exact"`
	Near      int64 `json:"near"`
	Thin      int64 `json:"thin"`  // number of pages whose text is too short to be compared, not counting exact copies
	Other     int64 `json:"other"` // number of URLs whose response was not text
	Redirects int64 `json:"redirects"`
	Errors    int64 `json:"errors"`
	Skipped   int64 `json:"skipped"`                // number of files and records without text, which have no verdict
	Unkept    int64 `json:"unkept"`                 // number of duplicates whose text was not stored
	Capped    int64 `json:"capped"`                 // number of pages that were not compared with every candidate, because there were too many
	Scripts   int64 `json:"need_scripts,omitempty"` // number of pages that show their text only if scripts run, which a crawl does not do
	Blocked   int64 `json:"blocked"`                // number of URLs that were not fetched because of robots.txt
	Sitemaps  int64 `json:"sitemaps,omitempty"`     // number of sitemaps that were read
	Later     int64 `json:"postponed,omitempty"`    // number of URLs that were not fetched, because URLs of their patterns kept returning duplicates

	Pending int64 `json:"pending,omitempty"` // number of URLs that the crawl has not fetched yet
	Outside int64 `json:"outside,omitempty"` // number of linked URLs that the crawl excludes

	Problems map[string]int64 `json:"problems,omitempty"` // number of errors by kind
	GivenUp  map[string]int64 `json:"given_up,omitempty"` // number of errors by kind, for URLs that were retried without success
}

// Failed returns the number of errors after which the URL was not retried, by kind.
func (t Totals) Failed() map[string]int64 {
	tally := store.Tally{Problems: t.Problems, GivenUp: t.GivenUp}
	return tally.Failed()
}

// Duplicates returns the number of pages that are exact or near duplicates of another.
func (t Totals) Duplicates() int64 { return t.Exact + t.Near }

// A Host counts the judged pages of one host by their verdict.
type Host struct {
	Host   string `json:"host"` // name, with the port unless it is the default of the scheme; "" for pages from files
	Pages  int64  `json:"pages"`
	Unique int64  `json:"unique"`
	Exact  int64  `json:"exact"`
	Near   int64  `json:"near"`
	Thin   int64  `json:"thin"`

	Alone string `json:"left_alone,omitempty"` // reason why the last run stopped fetching from the host before all its URLs were fetched; "" if there is no such reason

	LedBy string `json:"led_by,omitempty"` // another host with the leaders of more than half of this host's pages; "" if there is none
	Led   int64  `json:"led,omitempty"`    // number of the host's pages whose leader is on the host LedBy
}

// Duplicates returns the number of the host's pages that duplicate another page, on this or another host.
func (h Host) Duplicates() int64 { return h.Exact + h.Near }

// A LeftOut describes the blocks of text of a host that were left out of the comparison, because
// they recur on many of its pages, such as a footer. A block is left out on all hosts, so a host
// may have shortened pages although none of its own blocks recur. The stored texts are not changed.
type LeftOut struct {
	Host      string  `json:"host"`      // name of the host, as in Host.Host
	Pages     int     `json:"pages"`     // number of different pages of the host on which blocks were counted
	Blocks    int     `json:"blocks"`    // number of different blocks that recur on the host and are left out
	Shortened int     `json:"shortened"` // number of the host's pages that were compared without some of their blocks
	Top       []Block `json:"top"`       // the most frequent of the blocks, most pages first
}

// A Block is a piece of text that recurs on many pages of a host.
type Block struct {
	Text  string `json:"text"`
	Pages int    `json:"pages"` // number of different pages that contain the block
}

// A Leader is the page of a cluster that its members duplicate.
type Leader struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Why   string `json:"why"` // reason why this page leads its cluster, such as "first seen"

	Verdict string `json:"-"`
}

// A Member is a page of a cluster that duplicates the cluster's leader.
type Member struct {
	URL         string  `json:"url"`
	Verdict     string  `json:"verdict"`
	Resemblance float64 `json:"resemblance"`           // exact resemblance of the compared texts of member and leader, 0 to 1
	Containment float64 `json:"containment,omitempty"` // see [store.Record.Containment]
	Excerpt     bool    `json:"excerpt,omitempty"`     // the leader contains enough of the member, but resembles it less than --similarity
	Translation string  `json:"translation,omitempty"` // the member's language, if the member declares that the leader is its version in another language (hreflang); otherwise ""
	Doubtful    bool    `json:"doubtful,omitempty"`    // see [store.Record.Doubtful]

	Title string `json:"-"`
}

// A Group is a cluster with all its members in memory.
type Group struct {
	Leader  Leader   `json:"leader"`
	Members []Member `json:"members"` // the members, the one with the highest resemblance first
}

// A Cluster is a cluster whose members are read from the store during an iteration over Members.
// They can be read only once, and only before the next cluster is read.
type Cluster struct {
	Leader  Leader
	Why     func() (string, error) // returns the value for Leader.Why; nil if Leader.Why is already set
	Size    int                    // number of members, without the leader
	Members iter.Seq2[Member, error]
}

// leader returns the leader with the field Why set. It may be called before or after Members is
// read.
func (c *Cluster) leader() (Leader, error) {
	if c.Why == nil {
		return c.Leader, nil
	}
	l := c.Leader
	var err error
	l.Why, err = c.Why()
	return l, err
}

// These are the default numbers of clusters and pages in the formats that people read.
const (
	DefaultTop = 1000 // number of clusters in HTML: more than a person reads, but few enough for a browser to open the page at once
	textTop    = 50   // number of clusters in text, which fill a few screens
	textPages  = 20   // number of pages of each cluster in text
)

// Options control how a report is written. The zero value writes text with default limits.
type Options struct {
	Format Format     // default: Text
	Top    int        // number of clusters to show; the others are only counted. 0 means all in JSON and CSV, 1,000 in HTML, 50 in text
	About  About      // description of the store, which is shown if it has a name; Write adds the times of visits
	Rule   dedup.Rule // rule with which pages were judged, needed to explain verdicts; the zero value means the default rule
}

// A printer writes one report in one format. begin is called first, then cluster for each cluster,
// then end.
type printer interface {
	begin(head) error
	cluster(Cluster) error
	end() error
}

// A head is the part of a report that comes before its clusters.
type head struct {
	Totals
	About   *About    // description of the store; nil if there is none
	Hosts   []Host    // counts of each host, the host with the most duplicates first
	LeftOut []LeftOut // the blocks that the comparison ignored, the host with the most shortened pages first; nil if whole texts were compared
	Learned []Learned // findings about hosts, the host with the most postponed URLs first

	Canonicals []Canonical // wrong canonical URLs
}

// Write writes the report of src to w. It returns an error if the source, the writer or the context
// fails. In that case, the output is incomplete.
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
	h, err := readHead(ctx, src)
	if err != nil {
		return err
	}
	if about := opt.About; about.Store != "" {
		if from, ok := src.(VisitsSource); ok {
			from.Visits(ctx, &about)
		}
		h.About = &about
	}
	if err := p.begin(h); err != nil {
		return err
	}
	n := 0
	for c, err := range src.Clusters(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if n++; opt.Top > 0 && n > opt.Top && (opt.Format == JSON || opt.Format == CSV) {
			break // the totals already include the number of duplicates
		}
		if err := p.cluster(c); err != nil {
			return err
		}
	}
	return p.end()
}

func readHead(ctx context.Context, src Source) (h head, err error) {
	if h.Totals, err = src.Totals(ctx); err != nil {
		return h, err
	}
	if h.Hosts, err = src.Hosts(ctx); err != nil {
		return h, err
	}
	sortHosts(h.Hosts)
	if left, ok := src.(LeftOutSource); ok {
		if h.LeftOut, err = left.LeftOut(ctx); err != nil {
			return h, err
		}
		sortLeftOut(h.LeftOut)
	}
	if learned, ok := src.(LearnedSource); ok {
		if h.Learned, err = learned.Learned(ctx, h.Hosts); err != nil {
			return h, err
		}
	}
	if named, ok := src.(CanonicalSource); ok {
		h.Canonicals, err = named.Canonicals(ctx)
	}
	return h, err
}

func sortLeftOut(all []LeftOut) {
	slices.SortFunc(all, func(a, b LeftOut) int {
		return cmp.Or(cmp.Compare(b.Shortened, a.Shortened), cmp.Compare(a.Host, b.Host))
	})
}

// Package report writes the duplicate report of a crawl: how many pages have a text of their own,
// how many repeat another page, on which hosts, and which page repeats which.
//
//	err := report.Write(ctx, os.Stdout, report.FromStore(s), report.Options{Format: report.Text})
//
// [Write] holds only totals and counts by host. It streams the clusters from a [Source], so that a
// report over millions of pages needs about as much memory as one over ten. The package reports the
// verdicts that the crawl stored, and judges no page itself. It escapes each crawled string as the
// output format requires.
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

// A Report is the JSON form of a report as a Go type, for programs that read one back. [Write]
// never makes a Report, because it streams its output.
type Report struct {
	Totals
	About   *About    `json:"about,omitempty"`    // which store and crawl; nil: the store has no name
	Hosts   []Host    `json:"hosts"`              // most duplicates first
	LeftOut []LeftOut `json:"left_out,omitempty"` // text blocks that were not compared, by host; most shortened pages first; nil: texts were compared whole
	Learned []Learned `json:"learned,omitempty"`  // what the crawl learned about hosts; those with the most postponed URLs first

	Canonicals []Canonical `json:"false_canonicals,omitempty"` // pages whose canonical URL is wrong, by the kind of mistake
	Clusters   []Group     `json:"clusters"`                   // clusters of duplicates, largest first
}

// Totals counts the URLs of a crawl. Pages is the sum of Unique, Exact, Near and Thin.
type Totals struct {
	Pages     int64 `json:"pages"` // URLs whose text got a verdict
	Unique    int64 `json:"unique"`
	Exact     int64 `json:"exact"`
	Near      int64 `json:"near"`
	Thin      int64 `json:"thin"`  // pages whose text is too short to be compared, except for exact copies
	Other     int64 `json:"other"` // URLs that were answered with something other than text
	Redirects int64 `json:"redirects"`
	Errors    int64 `json:"errors"`
	Skipped   int64 `json:"skipped"`                // files and records without text, which have no verdict
	Unkept    int64 `json:"unkept"`                 // duplicates whose text was not stored
	Capped    int64 `json:"capped"`                 // pages that were compared with some of their candidates only, because there were too many
	Scripts   int64 `json:"need_scripts,omitempty"` // pages whose text is only drawn by scripts, which the crawl did not run
	Blocked   int64 `json:"blocked"`                // URLs that robots.txt forbids to fetch
	Sitemaps  int64 `json:"sitemaps,omitempty"`     // URLs that are sitemaps, which list other URLs for crawlers
	Later     int64 `json:"postponed,omitempty"`    // URLs not fetched because other URLs of the same pattern kept returning duplicates

	Problems map[string]int64 `json:"problems,omitempty"` // how many errors there are of each kind
	GivenUp  map[string]int64 `json:"given_up,omitempty"` // of Problems, the errors that were tried again until the crawl gave up
}

// Failed counts by kind the errors that were not tried again: Problems without GivenUp.
func (t Totals) Failed() map[string]int64 {
	tally := store.Tally{Problems: t.Problems, GivenUp: t.GivenUp}
	return tally.Failed()
}

// Duplicates returns how many pages repeat another page.
func (t Totals) Duplicates() int64 { return t.Exact + t.Near }

// A Host counts the judged pages of one host by their verdict.
type Host struct {
	Host   string `json:"host"` // name, with the port unless it is the default of the scheme; "": pages that were read from files
	Pages  int64  `json:"pages"`
	Unique int64  `json:"unique"`
	Exact  int64  `json:"exact"`
	Near   int64  `json:"near"`
	Thin   int64  `json:"thin"`

	Alone string `json:"left_alone,omitempty"` // why the last run of the crawl stopped fetching from the host; "": it did not

	LedBy string `json:"led_by,omitempty"` // another host, whose pages lead more than half of this host's pages; "": there is none
	Led   int64  `json:"led,omitempty"`    // how many pages of this host are led by pages of LedBy
}

// Duplicates returns how many of the host's pages repeat another page, on this or another host.
func (h Host) Duplicates() int64 { return h.Exact + h.Near }

// A LeftOut says which text blocks of a host, such as menus, were left out when pages were
// compared. They are left out because they are on many pages of the host. A block of one host is
// also left out on all other hosts, so a host may have shortened pages but no blocks of its own.
// The stored texts still contain the blocks.
type LeftOut struct {
	Host      string  `json:"host"`      // name of the host, as in [Host]
	Pages     int     `json:"pages"`     // pages with different texts on which blocks were counted
	Blocks    int     `json:"blocks"`    // different blocks of this host that were left out
	Shortened int     `json:"shortened"` // pages that were compared without at least one block
	Top       []Block `json:"top"`       // some of the blocks, those on the most pages first
}

// A Block is a line of text that is on many pages of a host.
type Block struct {
	Text  string `json:"text"`
	Pages int    `json:"pages"` // pages with different texts that contain the line
}

// A Leader is the page that the members of a cluster repeat.
type Leader struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Why   string `json:"why"` // why this page leads its cluster, such as "first seen"

	Verdict string `json:"-"`
}

// A Member is a page that repeats its leader.
type Member struct {
	URL         string  `json:"url"`
	Verdict     string  `json:"verdict"`
	Resemblance float64 `json:"resemblance"`           // to the leader, 0 to 1, computed exactly on the text that was compared
	Translation string  `json:"translation,omitempty"` // language of the page if it names its leader as the same page in another language (hreflang), else ""
	Doubtful    bool    `json:"doubtful,omitempty"`    // whether the verdict is doubtful because of text left out of the page, see [store.Record.Doubtful]

	Title string `json:"-"`
}

// A Group is a cluster with all its members in memory.
type Group struct {
	Leader  Leader   `json:"leader"`
	Members []Member `json:"members"` // highest resemblance first
}

// A Cluster is a cluster whose members are read while they are iterated. Members can be iterated
// once only, and only before the caller asks for the next cluster.
type Cluster struct {
	Leader  Leader
	Why     func() (string, error) // returns why the leader leads; nil: Leader.Why says it
	Size    int                    // members, without the leader
	Members iter.Seq2[Member, error]
}

// leader returns c.Leader with its field Why set. It may be called before or after c.Members is
// iterated.
func (c *Cluster) leader() (Leader, error) {
	if c.Why == nil {
		return c.Leader, nil
	}
	l := c.Leader
	var err error
	l.Why, err = c.Why()
	return l, err
}

// These limit how much the formats for people, HTML and text, show by default.
const (
	DefaultTop = 1000 // clusters in HTML: more than a person reads, and few enough for a browser to open the file at once
	textTop    = 50   // clusters in text: a few screens
	textPages  = 20   // members in text, of each cluster
)

// Options says how a report is written. The zero value writes text with default limits.
type Options struct {
	Format Format     // default Text
	Top    int        // clusters shown; 0: all in JSON and CSV, DefaultTop in HTML, textTop in text
	About  About      // store and settings that the report names; ignored if About.Store is ""; [Write] adds the times of the visits
	Rule   dedup.Rule // rule by which pages were judged, which explains the verdicts to the reader; zero: the default
}

// A printer writes one report in one format: begin, each cluster, end.
type printer interface {
	begin(head) error
	cluster(Cluster) error
	end() error
}

// A head is what a report says before its clusters.
type head struct {
	Totals
	About   *About    // nil: the store has no name
	Hosts   []Host    // most duplicates first
	LeftOut []LeftOut // most shortened pages first; nil: texts were compared whole
	Learned []Learned // those with the most postponed URLs first

	Canonicals []Canonical // pages whose canonical URL is wrong, by the kind of mistake
}

// Write writes the report of src to w. It stops at the first error of src or w, or when ctx is
// done. The output is incomplete then.
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
			break // their totals say how many pages are duplicates
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

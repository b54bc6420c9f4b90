// Package report turns what a crawl remembers into its duplicate report: how many pages say
// something of their own, how many repeat another, on which hosts, and who repeats whom.
//
//	err := report.Write(ctx, os.Stdout, report.FromStore(s), report.Options{Format: report.Text})
//
// Totals and hosts are small and held; clusters are streamed from a [Source] to the writer, so that
// a report over millions of pages needs no more memory than one over ten. The package judges
// nothing: it repeats the verdicts it is given, and it never writes a crawled string without making
// it harmless for the format at hand.
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

// A Report is the whole report as its JSON form spells it, for programs that read one back. [Write]
// never holds a Report: it streams.
type Report struct {
	Totals
	About   *About    `json:"about,omitempty"`    // nil: it is of no store that has a name
	Hosts   []Host    `json:"hosts"`              // most duplicates first
	LeftOut []LeftOut `json:"left_out,omitempty"` // most pages compared without first; nil: texts were compared whole
	Learned []Learned `json:"learned,omitempty"`  // of hosts, those with most postponed URLs first

	Canonicals []Canonical `json:"false_canonicals,omitempty"` // what pages name as their URL and is not
	Clusters   []Group     `json:"clusters"`                   // largest first
}

// Totals counts URLs. Pages = Unique + Exact + Near + Thin.
type Totals struct {
	Pages     int64 `json:"pages"` // judged
	Unique    int64 `json:"unique"`
	Exact     int64 `json:"exact"`
	Near      int64 `json:"near"`
	Thin      int64 `json:"thin"`  // too short to compare
	Other     int64 `json:"other"` // answered, but not with text
	Redirects int64 `json:"redirects"`
	Errors    int64 `json:"errors"`
	Skipped   int64 `json:"skipped"`                // files and records without text, which have no verdict
	Unkept    int64 `json:"unkept"`                 // duplicates whose text was not kept
	Capped    int64 `json:"capped"`                 // pages not compared with every candidate
	Scripts   int64 `json:"need_scripts,omitempty"` // pages whose text is drawn by scripts that were not run
	Blocked   int64 `json:"blocked"`                // by robots.txt
	Sitemaps  int64 `json:"sitemaps,omitempty"`     // lists of URLs for crawlers
	Later     int64 `json:"postponed,omitempty"`    // URLs not fetched: URLs of these patterns kept returning duplicates

	Problems map[string]int64 `json:"problems,omitempty"` // errors by kind
	GivenUp  map[string]int64 `json:"given_up,omitempty"` // those of them that were tried until they were given up
}

// Failed are the errors by kind that were not tried again.
func (t Totals) Failed() map[string]int64 {
	tally := store.Tally{Problems: t.Problems, GivenUp: t.GivenUp}
	return tally.Failed()
}

// Duplicates is how many pages repeat another.
func (t Totals) Duplicates() int64 { return t.Exact + t.Near }

// A Host counts the judged pages of one host.
type Host struct {
	Host   string `json:"host"` // with its port, if that is not the scheme's own; "" for files
	Pages  int64  `json:"pages"`
	Unique int64  `json:"unique"`
	Exact  int64  `json:"exact"`
	Near   int64  `json:"near"`
	Thin   int64  `json:"thin"`

	Alone string `json:"left_alone,omitempty"` // why the last run left the host alone; "": it did not

	LedBy string `json:"led_by,omitempty"` // another host that leads more than half of the host's pages; "": none does
	Led   int64  `json:"led,omitempty"`    // pages that it leads
}

// Duplicates is how many of the host's pages repeat another, here or elsewhere.
func (h Host) Duplicates() int64 { return h.Exact + h.Near }

// A LeftOut says which blocks of text were left out of what was compared, because they return on
// many pages of a host. They are left out on all hosts: one without blocks of its own has pages
// with those of others. Pages keep their texts.
type LeftOut struct {
	Host      string  `json:"host"`      // as in Host
	Pages     int     `json:"pages"`     // different ones on which blocks were counted
	Blocks    int     `json:"blocks"`    // different ones left out
	Shortened int     `json:"shortened"` // pages compared without some block
	Top       []Block `json:"top"`       // some of the blocks, most pages first
}

// A Block is a line of text that returns.
type Block struct {
	Text  string `json:"text"`
	Pages int    `json:"pages"` // different ones that have it
}

// A Leader is the page that the members of a cluster repeat.
type Leader struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Why   string `json:"why"` // why this page leads, such as "first seen"

	Verdict string `json:"-"`
}

// A Member is a page that repeats its leader.
type Member struct {
	URL         string  `json:"url"`
	Verdict     string  `json:"verdict"`
	Resemblance float64 `json:"resemblance"`           // exact, to the leader, of what was compared
	Translation string  `json:"translation,omitempty"` // its language, if it names the leader as itself in another (hreflang); "": it does not
	Doubtful    bool    `json:"doubtful,omitempty"`    // see [store.Record.Doubtful]

	Title string `json:"-"`
}

// A Group is a cluster with its members at hand.
type Group struct {
	Leader  Leader   `json:"leader"`
	Members []Member `json:"members"` // highest resemblance first
}

// A Cluster is a group whose members are yet to be read. They can be read once, before the next
// cluster is asked for.
type Cluster struct {
	Leader  Leader
	Why     func() (string, error) // why the leader leads; nil: Leader says it
	Size    int                    // members, without the leader
	Members iter.Seq2[Member, error]
}

// leader is the leader with the reason why it leads. It may be asked for before or after Members.
func (c *Cluster) leader() (Leader, error) {
	if c.Why == nil {
		return c.Leader, nil
	}
	l := c.Leader
	var err error
	l.Why, err = c.Why()
	return l, err
}

// These are how many clusters a form shows that is for people.
const (
	DefaultTop = 1000 // HTML: more than a person reads, and still a page that a browser opens at once
	textTop    = 50   // text: some screens
	textPages  = 20   // pages of each of those clusters
)

// Options says how a report is written. The zero value is good: text.
type Options struct {
	Format Format     // default Text
	Top    int        // clusters that are shown before the rest is only counted; 0: all in JSON and CSV, else what a person reads
	About  About      // what the report says of itself, if that has the name of a store; the source adds the visits
	Rule   dedup.Rule // by which pages were judged, to say what verdicts mean; zero: the default
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
	About   *About    // nil: nothing is said
	Hosts   []Host    // most duplicates first
	LeftOut []LeftOut // most pages first; nil: texts were compared whole
	Learned []Learned // those with most postponed URLs first

	Canonicals []Canonical // that do not hold
}

// Write writes the report of src to w. An error of the source, the writer or the context ends it in
// the middle: what w has got by then is no report.
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

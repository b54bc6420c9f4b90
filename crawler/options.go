package crawler

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"time"

	"skink/crawler/folder"
	"skink/crawler/wire"
	"skink/frontier"
)

// Options is how to crawl. Begin with [Defaults]. What a crawl cannot do without (Parallel,
// PerHost, Timeout, MaxSize, UserAgent) has its default where it is left zero.
type Options struct {
	Worker      string        // name under which hosts are claimed; "": this machine's and process's
	Parallel    int           // pages worked on at once
	Connections int           // URLs under way at once, most of which wait for an answer; 0: 1024
	PerHost     int           // fetches at once from one host that is known to answer
	PerIP       int           // fetches at once from an address that several hosts share, loopback excepted; 0: any number
	Delay       time.Duration // least time between the starts of two requests to one host; 0: none, however slow it answers
	MaxDelay    time.Duration // the longest of what robots.txt or slow answers make of it; 0: any
	Timeout     time.Duration // for one whole exchange, from the look-up of the name to the last byte
	MaxSize     int64         // bytes of a decoded body that are read
	Bodies      int64         // bytes of bodies on their way, of all together; more wait; 0: 64 MiB
	Retries     int           // further tries after a transient problem
	Grace       time.Duration // for what is in flight when the crawl is stopped
	UserAgent   string        // as sent; robots.txt is asked for its product token

	IgnoreRobots bool           // do not ask robots.txt
	AllowHosts   []string       // hosts (name, or name:port) that may have private addresses
	AllowNets    []netip.Prefix // private addresses that may be connected to
	SeedHosts    []string       // hosts (name:port) that a person named: they may have private addresses, if they had nothing else when they were first looked up
	Folders      []folder.Site  // sites that are folders on disk
	OpenFolders  bool           // pages of other hosts, and of other folders, may lead into Folders
	Away         []string       // hosts that are not asked; what is pending of them stays so
	Hidden       []string       // files and folders that no such site shows: what the crawl itself writes

	Scope          *Scope                                         // of the URLs to follow; nil: none are followed
	MaxDepth       int                                            // links from a seed that are followed; 0: any number
	IgnoreNoFollow bool                                           // follow the links of pages that ask to follow none
	ObeyNoFollow   bool                                           // leave links alone that say rel=nofollow
	Sitemaps       bool                                           // read those of seeds that are hosts
	CheckAssets    bool                                           // ask whether the files are there that pages are made of, see [frontier.Check]
	CheckOthers    bool                                           // ask whether the pages of other sites are there that pages lead to
	Learned        Lessons                                        // what is known of sites, to spare them fetches; nil: nothing
	OnDated        func(ctx context.Context, pages []Dated) error // told of pages of which a sitemap says when they changed, some at a time; nil: nobody is
	OnSeed         func(from, to string) error                    // told of an address to which a seed's site moved, and of the seed's own; nil: nobody is
	OnListed       func(ctx context.Context, urls []string) error // told of pages that a sitemap lists, before they are queued; nil: nobody is

	MaxPages   int64            // pages in the store after which the crawl stops; 0: never
	MaxBytes   int64            // of bodies, fetched by this crawl, after which it stops; 0: never
	HostBudget Budget           // of each host
	OnPage     func(*Page)      // told of every fetch, also of one to be tried again; nil: nobody is
	Spent      map[string]Spent // by host, of HostBudget, before this crawl

	// OnAnswer is given each answer that comes as no page to the handler: of a robots.txt, and of a
	// URL that is to be tried again. With it, pages have their Raw. It is called from several
	// goroutines. nil: answers are not kept as they came.
	OnAnswer func(*wire.Raw)

	resolver *net.Resolver  // of a test; nil: the system's
	roots    *x509.CertPool // the same
}

// leads says whether a page leads to a URL of the crawl, both canonical.
func (o *Options) leads(from, to string) bool { return o.Scope.Contains(to) && !o.trespasses(from, to) }

// Admits says whether a canonical URL belongs to the crawl whoever leads to it: it is in scope, and
// in no folder that only its own pages lead into.
func (o *Options) Admits(url string) bool { return o.leads("", url) }

// trespasses says whether a URL leads into a folder from elsewhere. Those that are away are folders
// too, for as long as nobody knows where they are.
func (o *Options) trespasses(from, to string) bool {
	if o.OpenFolders || len(o.Folders)+len(o.Away) == 0 {
		return false
	}
	host := frontier.HostOf(to)
	isFolder := slices.Contains(o.Away, host) || slices.ContainsFunc(o.Folders, func(f folder.Site) bool { return f.Host == host })
	return isFolder && host != frontier.HostOf(from)
}

// orDefaults fills in what a crawl cannot do without.
func (o Options) orDefaults() Options {
	d := Defaults()
	o.Parallel, o.PerHost = positive(o.Parallel, d.Parallel), positive(o.PerHost, d.PerHost)
	o.Timeout, o.MaxSize = positive(o.Timeout, d.Timeout), positive(o.MaxSize, d.MaxSize)
	o.Bodies = positive(o.Bodies, d.Bodies)
	o.UserAgent = cmp.Or(o.UserAgent, d.UserAgent)
	return o
}

// positive is n if it is, else another number.
func positive[N int | int64 | time.Duration](n, other N) N {
	if n > 0 {
		return n
	}
	return other
}

// Defaults are the options of a polite crawl.
func Defaults() Options {
	return Options{
		Parallel:    16,
		Connections: 1024,
		PerHost:     1,
		PerIP:       4,
		Delay:       time.Second,
		MaxDelay:    time.Minute,
		Timeout:     30 * time.Second,
		MaxSize:     10 << 20,
		Bodies:      64 << 20,
		Retries:     2,
		Sitemaps:    true,
		Grace:       10 * time.Second,
		UserAgent:   "skink/0.1 (near-duplicate detection crawler)",
	}
}

package crawler

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"time"

	"skink/crawler/access"
	"skink/crawler/folder"
	"skink/crawler/signature"
	"skink/crawler/wire"
	"skink/frontier"
)

// Options configures a crawl. Begin with [Defaults]. If Parallel, PerHost, Timeout, MaxSize, Bodies
// or UserAgent is zero, its default is used.
type Options struct {
	Worker      string        // name under which hosts are claimed; "": a unique one
	Parallel    int           // pages processed at the same time
	Connections int           // URLs that are fetched or processed at the same time, most of which wait for an answer; 0: 1024
	PerHost     int           // requests at the same time to one host, once it has answered
	PerIP       int           // requests at the same time to one IP address that several hosts share, except loopback; 0: no limit
	Delay       time.Duration // least time between the starts of two requests to one host; 0: none, however slow it answers
	MaxDelay    time.Duration // longest delay that robots.txt or slow answers can cause; 0: no limit
	Timeout     time.Duration // for one whole request, from the DNS look-up to the last byte of the answer
	MaxSize     int64         // bytes after which a decoded body is cut
	Bodies      int64         // bytes of all bodies in memory together; further answers wait until there is room; 0: 64 MiB
	Retries     int           // how often a URL is tried again after a transient problem
	Grace       time.Duration // how long requests that are under way may continue after the crawl is stopped
	UserAgent   string        // as sent; its product token selects the rules in robots.txt

	Render       string             // which pages a browser renders: RenderOff, RenderAuto or RenderAlways
	IgnoreRobots bool               // ignore robots.txt
	AllowHosts   []string           // hosts (name, or name:port) that may have private addresses
	AllowNets    []netip.Prefix     // private addresses that may be connected to
	SeedHosts    []string           // hosts (name:port) that the user named as seeds: they may have private addresses if the first look-up returned no others
	Folders      []folder.Site      // sites that are folders on disk
	Hosts        access.Table       // settings of single hosts, which override those of the crawl; see also [Scope.Obey]
	Proxies      access.ProxyChoice // of hosts whose settings name no proxy
	Roots        *x509.CertPool     // authorities that may sign the certificates of hosts; nil: those of the system
	Cookies      bool               // keep the cookies of all hosts during the crawl; else those of hosts whose settings have cookies
	KeptCookies  []KeptCookie       // of an earlier run
	Signer       *signature.Signer  // signs requests, except to hosts whose settings exclude it; nil: requests are not signed
	Away         []string           // hosts that get no requests; their URLs stay pending
	Hidden       []string           // files and folders that are not served as part of Folders, because the crawl itself writes them

	Scope          *Scope                                         // which links are followed; nil: none
	MaxDepth       int                                            // number of links from a seed up to which links are followed; 0: no limit
	IgnoreNoFollow bool                                           // follow the links of pages that ask crawlers not to
	ObeyNoFollow   bool                                           // do not follow links with rel=nofollow
	Sitemaps       bool                                           // read the sitemaps of hosts whose home page is a seed
	CheckAssets    bool                                           // check that pictures, scripts and style sheets exist, see [frontier.Check]
	Requisites     bool                                           // fetch what pages need to look right, see [frontier.Requisite]
	CheckOthers    bool                                           // check that linked pages of other sites exist
	Learned        Advisor                                        // rules learned about sites, which save fetches; nil: none
	OnDated        func(ctx context.Context, pages []Dated) error // called with pages whose last change a sitemap names, in batches; may be nil
	OnSeed         func(from, to string) error                    // called with the old and the new URL when a seed redirects within its site; may be nil
	OnListed       func(ctx context.Context, urls []string) error // called with pages that a sitemap lists, before they are queued; may be nil

	MaxPages   int64            // the crawl stops when the store has so many pages; 0: no limit
	MaxBytes   int64            // the crawl stops when it has fetched so many bytes of bodies; 0: no limit
	HostBudget Budget           // limits for each host
	OnPage     func(*Page)      // called after every fetch, also if the URL will be tried again; may be nil
	Spent      map[string]Spent // what earlier crawls fetched from each host, which counts against HostBudget

	// OnAnswer is called with each answer that the handler does not get as a page: those for
	// robots.txt, and those of URLs that will be tried again. If OnAnswer is set, the handler's
	// pages have their raw answer in Raw. Several goroutines call it. nil: raw answers are not
	// kept.
	OnAnswer func(*wire.Raw)

	resolver *net.Resolver  // set by tests; nil: the system's
	jitter   func() float64 // set by tests; returns values from 0 to 1; nil: random
	tabs     int            // pages of one host that may be rendered at the same time
}

// Spent counts what was fetched: answers with a page or a file, and the bytes of their decoded
// bodies.
type Spent = frontier.Spent

// Budget limits what is fetched from a host; 0 means no limit. Answers that are in flight when
// Bytes is reached are still kept, so Bytes may be exceeded by their size. Pages is never exceeded.
type Budget Spent

// allows reports whether another request may start if s was fetched already and open requests are
// in flight.
func (b Budget) allows(s Spent, open int) bool {
	return (b.Pages <= 0 || s.Pages+int64(open) < b.Pages) && (b.Bytes <= 0 || s.Bytes < b.Bytes)
}

// leads reports whether a link from one canonical URL to another should be followed: the target is
// in scope, and not in a folder into which this page may not link.
func (o *Options) leads(from, to string) bool {
	return o.Scope.Contains(to) && !o.trespasses(from, to) && !o.logsOut(to)
}

// Admits reports whether a canonical URL belongs to the crawl, whatever page links to it: it is in
// scope, and not in a folder that only its own pages may link into.
func (o *Options) Admits(url string) bool { return o.leads("", url) }

// trespasses reports whether a link leads into a folder on disk from a page outside the folder.
// Only pages of a folder may link into it. Missing folders, whose hosts are in Away, are protected,
// too.
func (o *Options) trespasses(from, to string) bool {
	if len(o.Folders)+len(o.Away) == 0 {
		return false
	}
	host := frontier.HostOf(to)
	return host != frontier.HostOf(from) && (o.isFolder(host) || slices.Contains(o.Away, host))
}

// isFolder reports whether a host is a folder on disk.
func (o *Options) isFolder(host string) bool {
	return slices.ContainsFunc(o.Folders, func(f folder.Site) bool { return f.Host == host })
}

// orDefaults fills in the required options that are zero.
func (o Options) orDefaults() Options {
	d := Defaults()
	o.Parallel, o.PerHost = positive(o.Parallel, d.Parallel), positive(o.PerHost, d.PerHost)
	o.Timeout, o.MaxSize = positive(o.Timeout, d.Timeout), positive(o.MaxSize, d.MaxSize)
	o.Bodies = positive(o.Bodies, d.Bodies)
	o.UserAgent = cmp.Or(o.UserAgent, d.UserAgent)
	return o
}

// positive returns n if it is positive, else other.
func positive[N int | int64 | time.Duration](n, other N) N {
	if n > 0 {
		return n
	}
	return other
}

// Defaults returns the options of a polite crawl.
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
		Render:      RenderOff,
		Grace:       10 * time.Second,
		UserAgent:   "skink/0.1 (near-duplicate detection crawler)",
	}
}

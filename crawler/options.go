package crawler

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"skink/crawler/access"
	"skink/crawler/folder"
	"skink/crawler/learn"
	"skink/crawler/wire"
	"skink/frontier"
)

// Options configures a crawl. Start with the result of [Defaults]. If Parallel, PerHost, Timeout,
// MaxSize, Bodies or UserAgent is zero, its default is used.
type Options struct {
	Worker      string        // name under which hosts are claimed; "" means a unique name
	Parallel    int           // maximum number of pages processed at the same time
	Connections int           // maximum number of URLs fetched or processed at the same time, including those waiting for a response; 0 means 1024
	PerHost     int           // maximum number of simultaneous requests to one host, after its first response
	PerIP       int           // maximum number of simultaneous requests to one IP address that several hosts share, except loopback; 0 means no limit
	Delay       time.Duration // minimum time between the starts of two requests to one host; 0 means no delay, even if the host answers slowly
	MaxDelay    time.Duration // maximum delay that robots.txt or slow responses can cause; 0 means no limit
	Timeout     time.Duration // maximum time for a request, from the DNS lookup to the last byte of the response
	MaxSize     int64         // maximum size of the decoded body of a page in bytes; longer bodies are cut
	MaxFileSize int64         // the same for files that are no pages, such as images; 0 means MaxSize
	Bodies      int64         // maximum total size in bytes of the bodies in memory, beyond which responses wait; 0 means 64 MiB
	Retries     int           // maximum number of times that a URL is retried after temporary problems
	Grace       time.Duration // how long requests under way may continue after the crawl is stopped
	UserAgent   string        // value of the User-Agent header; its product token selects the rules in robots.txt

	Render       string // which pages a browser renders: RenderOff, RenderAuto or RenderAlways
	IgnoreRobots bool
	AllowHosts   []string           // hosts (name, or name:port) that may have private addresses
	AllowNets    []netip.Prefix     // private addresses that the crawl may connect to
	SeedHosts    []string           // hosts (name:port) of the user's seeds, which may have private addresses if their names say so, or their first lookup returns no others
	Folders      []folder.Site      // sites that are folders on disk
	Hosts        access.Table       // settings of individual hosts, which override those of the crawl; see also [Scope.Obey]
	Proxies      access.ProxyChoice // proxies for hosts whose settings name no proxy
	Roots        *x509.CertPool     // trusted certificate authorities; nil means those that the system trusts
	Insecure     []string           // hosts (name, or name:port) whose certificates are not checked; they get no secrets
	Control      *Control           // orders of users; nil means that they give none
	Cookies      bool               // keep the cookies of all hosts during the crawl; false means only those of hosts whose settings contain cookies or a login
	Sites        Sites              // stores what is known of sites; nil means that it is forgotten when the process ends
	Hidden       []string           // files and folders that are not served as part of Folders, because the crawl itself writes them

	// ReadOrders reads the orders for Control and Scope again. It is called before a queued URL counts as out of scope.
	ReadOrders func(context.Context) error

	Scope          *Scope                                      // decides which links are followed; nil means that none are
	MaxDepth       int                                         // maximum distance from a seed, in links; 0 means no limit
	IgnoreNoFollow bool                                        // follow the links of pages that ask crawlers not to
	ObeyNoFollow   bool                                        // do not follow links with rel=nofollow
	Sitemaps       bool                                        // read the sitemaps of hosts whose home page is a seed
	CheckAssets    bool                                        // check that images, scripts and style sheets exist; see [frontier.Check]
	Screenshots    bool                                        // take a picture of each page that a browser renders
	Requisites     bool                                        // fetch the files that pages need to look right; see [frontier.Requisite]
	CheckOthers    bool                                        // check that linked pages of other sites exist
	Learned        *learn.Book                                 // rules learned about sites, which save fetches; nil means no rules
	MayConfirm     func(context.Context, string) (bool, error) // reports whether a response may confirm what the store has of a URL; otherwise the page is read; nil means always
	Rules          uint64                                      // the current [frontier.Validators.Rules]; pages that were read by other rules are read again
	OnSeed         func(from, to string) error                 // called with the old and new URLs when a seed redirects within its site; may be nil

	MaxPages   int64            // number of pages in the store at which the crawl stops; 0 means no limit
	MaxBytes   int64            // number of bytes of fetched bodies at which the crawl stops; 0 means no limit
	HostBudget Budget           // limits for each host
	Rate       access.Rate      // budget of requests for all workers and runs together
	HostRate   access.Rate      // the same for each host
	OnPage     func(*Page)      // called after every fetch, even if the URL will be tried again; may be nil
	Referrers  bool             // keep in [frontier.Item].From where each URL was found
	OnRefused  func(*Page)      // called with the reason for each URL that was not requested; may be nil
	Spent      map[string]Spent // number of pages and bytes that earlier crawls fetched from each host; they count against HostBudget

	// OnAnswer is called with each response that is not passed to the handler as a page, such as
	// robots.txt responses and responses for URLs that will be tried again. If OnAnswer is set, the
	// handler's pages have their raw response in Raw. Several goroutines call it. If it is nil, raw
	// responses are not kept.
	OnAnswer func(*wire.Raw)

	// Posted returns the archived response to a POST request of a script, given its [wire.Raw.Posted], so
	// that the request is not sent again. It returns nil if there is none. Posted may be nil.
	Posted func(ctx context.Context, key string) *wire.Answer

	// OnReused is called with the URL of a file, and the depth of an item for it, when a browser has fetched the file for
	// one page and uses it for another. It may be nil.
	OnReused func(ctx context.Context, url string, depth int) error

	// SharedFiles queues the requisites of archived pages that were fetched before one of their pages, and returns
	// their number. The crawl calls it once, when nothing else is left to fetch; see requisites.go. It may be nil.
	SharedFiles func(context.Context) (queued int, err error)

	resolver *net.Resolver  // set by tests; nil means the system's resolver
	jitter   func() float64 // set by tests; returns values from 0 to 1; nil means random values
	tabs     int            // maximum number of pages of one host rendered at the same time
	limited  bool           // MaxPages has been reached, so only requisites are fetched; guarded by the mutex of the schedule
}

// Spent counts the pages and files fetched from a host, and the bytes of their decoded bodies.
type Spent = frontier.Spent

// Budget limits the pages and bytes fetched from a host; 0 means no limit. Responses in flight when
// Bytes is reached are still kept, so Bytes may be exceeded by their size. Pages is never exceeded.
type Budget Spent

// allows reports whether another request may start. The argument s counts the pages and bytes
// fetched so far, and open is the number of requests in flight.
func (b Budget) allows(s Spent, open int) bool {
	return (b.Pages <= 0 || s.Pages+int64(open) < b.Pages) && (b.Bytes <= 0 || s.Bytes < b.Bytes)
}

// orDefaults returns the options with defaults for those that are required but not set.
func (o Options) orDefaults() Options {
	d := Defaults()
	o.Parallel, o.PerHost = cmp.Or(max(o.Parallel, 0), d.Parallel), cmp.Or(max(o.PerHost, 0), d.PerHost)
	o.Timeout, o.MaxSize = cmp.Or(max(o.Timeout, 0), d.Timeout), cmp.Or(max(o.MaxSize, 0), d.MaxSize)
	o.MaxFileSize = cmp.Or(max(o.MaxFileSize, 0), o.MaxSize)
	o.Bodies = cmp.Or(max(o.Bodies, 0), d.Bodies)
	o.UserAgent = cmp.Or(o.UserAgent, d.UserAgent)
	return o
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

// limit returns how much of a response to read: fixed bytes, or if fixed is 0, Options.MaxFileSize
// for files and Options.MaxSize for pages.
func (o *Options) limit(p purpose, fixed int64) wire.Limit {
	return func(h http.Header) int64 {
		switch {
		case fixed > 0:
			return fixed
		case isFile(p, h.Get("Content-Type")):
			return o.MaxFileSize
		}
		return o.MaxSize
	}
}

// LimitOf returns the size in bytes at which a response for an item is cut, if it has a media type.
func (o *Options) LimitOf(item frontier.Item, contentType string) int64 {
	set := o.orDefaults()
	return set.limit(purposeOf(item), 0)(http.Header{"Content-Type": {contentType}})
}

// isFile reports whether a response is no page, judging by the purpose of its request and by its
// media type.
func isFile(p purpose, contentType string) bool {
	if isHTML(contentType) {
		return false
	}
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	top, _, _ := strings.Cut(media, "/")
	return p == forRequisite || p == forPart || slices.Contains(fileKinds, top) || slices.Contains(fileTypes, media)
}

// Media types of files that contain no text to read. Types that are not listed may contain text.
var (
	fileKinds = []string{"audio", "font", "image", "video"}
	fileTypes = strings.Fields(`text/css text/javascript application/javascript application/x-javascript application/wasm
		application/octet-stream application/zip application/gzip application/x-gzip application/x-tar application/x-bzip2
		application/x-xz application/zstd application/x-7z-compressed application/vnd.rar application/x-rar-compressed
		application/java-archive application/vnd.android.package-archive application/x-iso9660-image
		application/x-msdownload application/vnd.debian.binary-package application/font-woff application/vnd.ms-fontobject`)
)

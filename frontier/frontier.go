// Package frontier defines a queue of URLs to fetch: its types and its contract, and the canonical
// form that identifies a URL.
//
// The contract follows crawler-commons URLFrontier. URLs are discovered, taken by workers and
// finished. Requests to a host can be delayed or blocked. A frontier stores state and makes no
// decisions. Every store is a frontier; see package store.
//
//	front, err := badger.Open("dir", badger.Options{Create: true})
//	url, err := frontier.Canonical("HTTP://Example.com/%7Ejo#top") // http://example.com/~jo
//	n, err := front.Discover(ctx, []frontier.Item{{URL: url}})     // 1: the URL is new
//	grant, err := front.Claim(ctx, "me", 1, time.Minute)           // a host that no other worker requests in the meantime
//	items, err := front.Take(ctx, grant.Hosts[0].Claim, 10)
//
// # Hosts are claimed, not URLs
//
// Only one worker at a time can claim a host, so many workers together are as polite as one. The
// worker takes URLs of the host, and returns the host with the information that the next worker
// needs to be as polite. A claim ends when its host is returned, or when it is not renewed in time,
// because the worker has died or is too slow. Later writes by that worker fail with [ErrLost], and
// other workers may take its unfinished URLs.
//
// The scheduler decides when a host may get its next request; see package crawler. The scheduler's
// caller decides which URLs belong to a crawl.
//
// # Revisits
//
// A finished URL can be queued again ([Frontier].Requeue), to be retried or revisited. An item that
// is due later is pending, but its host cannot be claimed for it before that time, and no crawl
// waits for it. A crawl that is still running at that time fetches it. A crawl that runs out of
// other work ends without fetching it.
package frontier

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"
)

// ErrLost means that a claim has ended, or that another worker has claimed its host.
var ErrLost = errors.New("the claim on the host has expired")

// An Item is one URL to fetch, with the facts about its discovery that its record needs.
type Item struct {
	URL   string // canonical URL; see [Canonical]
	Via   string // first URL of the chain of redirects that led to URL; "" if there was no redirect
	Depth int    // number of links from the nearest seed; 0 for a seed and the target of its redirect
	Hops  int    // number of redirects in a row that led to URL; for a Requisite, number of redirects and style sheets in a row
	Tries int    // number of fetches of URL that failed before this one

	Kind       ItemKind
	Priority   int       // from -128 to 127, usually 0; within a host, URLs with lower numbers are fetched sooner
	Due        time.Time // the URL must not be fetched before this time; zero means immediately; for a revisit, this is the time at which the revisit was requested
	Validators           // of the previous visit; zero means that the page must be read

	// Place is the place of the URL's record in the order of commits, if the item has been made from the
	// record by [skink/store.Revisit]. A store may then keep the place instead of the other fields. 0 means
	// that the item is from elsewhere. Items that a frontier returns have no place.
	Place uint64 `json:"-"`

	From string `json:",omitempty"` // URL of the page, redirect, sitemap or style sheet that named URL; "" for a seed, and if the crawl does not keep it
}

// Validators are what a visit leaves for the next one, which can then find the page unchanged without reading it.
type Validators struct {
	ETag     string `json:"etag,omitempty"`     // ETag of the last response with a body, exactly as sent
	Modified string `json:"modified,omitempty"` // Last-Modified of the last response with a body
	Same     uint64 `json:"same,omitempty"`     // hash of this response, as far as a page is read from it; 0 if another response with the same text had another hash
	Rules    uint64 `json:"rules,omitempty"`    // hash of the rules that decided what was read from the page, and which links were followed
}

// The lowest and highest priorities. Values outside this range are stored as the nearer limit. A seed may come
// seven times SeedPriority before others, and among its pages those that change come first.
const (
	SoonestPriority = -128
	LatestPriority  = 127
	SeedPriority    = 16
)

// An ItemKind is the purpose for which an item is fetched. The numbers are stored and must not
// change.
type ItemKind uint8

const (
	Page    ItemKind = 0 // a page or any other file
	Sitemap ItemKind = 1 // a list of URLs for crawlers
	Check   ItemKind = 2 // the URL is fetched only to find out whether it works

	Requisite ItemKind = 3 // a file, such as an image, that an archived page needs to be shown correctly; it is not judged
)

// A State is the progress of a URL. The numbers are stored and must not change.
type State uint8

const (
	Unknown    State = 0 // the URL was never discovered
	Pending    State = 1 // waiting to be fetched, or being fetched
	Fetched    State = 2 // the server sent a page or a file
	Redirected State = 3 // the server sent a redirect
	Blocked    State = 4 // robots.txt forbids the URL
	Failed     State = 5 // the URL has no page; its record states the reason
	GivenUp    State = 6 // all permitted attempts failed; the URL's record states the reason
	Outside    State = 7 // a page links to the URL, but the crawl excludes it; Discover queues the URL if it is included later
	Postponed  State = 8 // URLs of the same pattern kept returning known texts
)

// Leave returns the form in which frontiers keep a URL outside the crawl, with the reason.
func Leave(canonicalURL, why string) string { return canonicalURL + " " + why }

// Left splits a URL outside the crawl from the reason. The reason is empty if it is not known, or
// if the URL has a record.
func Left(outside string) (canonicalURL, why string) {
	canonicalURL, why, _ = strings.Cut(outside, " ")
	return canonicalURL, why
}

// Ends reports whether the crawl is done with a URL in state s, that is, whether s is not Unknown,
// Pending or Outside.
func (s State) Ends() bool { return s > Pending && s != Outside }

// New reports whether Discover queues a URL in state s.
func (s State) New() bool { return s == Unknown || s == Outside }

// A Host is one authority, such as "example.com" or "example.com:8080", with pending URLs. Delays
// between requests apply to each host.
type Host struct {
	Name    string
	Pending int // number of URLs waiting to be fetched, now or later, or being fetched
	Depth   int // depth of the URL to fetch next; 0 if unknown
	Rest    Rest
}

// A Rest is the information that the next worker needs to be polite to a host. The zero value means
// that nothing is known about the host.
type Rest struct {
	Next    time.Time     // the host must not get a request, and cannot be claimed, before this time
	Idle    bool          // no crawl waits for this host: its URLs may stay pending when a crawl ends
	Blocked time.Time     // the host asked for no requests before this time; see MaxBlocked
	Delay   time.Duration // minimum time between requests, as requested by the host; 0 if it asked for none
	Took    time.Duration // moving average of the host's response time; 0 means unknown
	Last    LastSlot      // the last slot of the host, as far as it is known when the host is claimed
	Trouble Trouble       // recent failures of the host
	Spent   Spent         // amount of data fetched from the host in this crawl; zero if the crawl does not limit it
}

// MaxBlocked is the longest pause that a host can ask for. If it asks for more, its clock is
// probably wrong, and the crawl must not wait that long.
const MaxBlocked = time.Hour

// Due returns the time before which the host must not get a request.
func (r Rest) Due() time.Time { return Latest(r.Next, r.Blocked) }

// Latest returns the later of two times.
func Latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Bounded returns r with Blocked at most [MaxBlocked] after now.
func (r Rest) Bounded(now time.Time) Rest {
	if most := now.Add(MaxBlocked); r.Blocked.After(most) {
		r.Blocked = most
	}
	return r
}

// Lasting returns r with only the fields that are kept after a run.
func (r Rest) Lasting() Rest { return Rest{Blocked: r.Blocked, Delay: r.Delay, Spent: r.Spent} }

// A LastSlot is the last time that [Frontier].Slot reserved for a host.
type LastSlot struct {
	At    time.Time     // zero if there is none
	Delay time.Duration // the delay before the next request
}

// slotsAhead is the number of slots of a host that may be reserved at the same time. A last slot
// that is further away does not count, because the clock was set back.
const slotsAhead = 64

// Next reserves the next time as Slot does.
func (l *LastSlot) Next(now time.Time, least, most time.Duration) (wait time.Duration) {
	if !l.At.After(now.Add(slotsAhead * l.Delay)) {
		wait = max(l.At.Add(max(least, min(l.Delay, most))).Sub(now), 0)
	}
	*l = LastSlot{now.Add(wait).Round(0).UTC(), least}
	return wait
}

// Trouble describes the failed requests to a host since the last request that succeeded.
type Trouble struct {
	Answered bool      // whether the host has responded to a request in this crawl
	Fails    int       // number of failures in a row; failures of requests that were in flight at the same time count as one
	Since    time.Time // time at which the first of these requests failed
	Last     time.Time // time at which the last of these requests failed
}

// Spent is the amount of data fetched from a host.
type Spent struct {
	Pages      int64 `json:"pages"`                // number of responses with a page or a file
	Bytes      int64 `json:"bytes"`                // total size of the bodies of all responses except requisites
	Requisites int64 `json:"requisites,omitempty"` // total size of the bodies of requisites, which are not counted in Pages or Bytes
}

// A Claim is the right of one worker to fetch from one host for a limited time.
type Claim struct {
	Host   string
	Worker string
	Token  uint64 // unique among the claims on a host
}

// A Held is a host that a worker has just claimed.
type Held struct {
	Claim Claim
	Host  Host // state of the host as the last worker returned it
}

// A Grant is the result of [Frontier].Claim: the claimed hosts, and facts about the other hosts.
type Grant struct {
	Hosts   []Held
	Others  int       // number of hosts that other workers have claimed
	Waiting int       // number of unclaimed hosts with URLs that can be taken; hosts with Rest.Idle are not counted
	Next    time.Time // time at which the next unclaimed host can be claimed; the current time if one can be claimed already; zero if no unclaimed host has URLs

	// Workers is the number of workers that asked for hosts within the last [Present], including
	// the caller.
	Workers int

	// Share is the number of hosts that each worker would have if all claimed and waiting hosts
	// were divided evenly, rounded up, and at least 1. It is only advice: a worker may claim more.
	// It is 0 if no other worker has asked for hosts within the last [Present].
	Share int
}

// Present is how long a worker counts as active after asking for hosts. It is longer than the pause
// before a worker asks again, and much shorter than a claim. When a worker dies, its claimed hosts
// stay locked until their claims expire, but the other workers soon get its share of the unclaimed
// hosts.
const Present = 5 * time.Second

// ShareOf returns the number of hosts that each worker should claim (see [Grant]): hosts divided by
// workers, rounded up, and at least 1. It returns 0 for fewer than two workers.
func ShareOf(hosts, workers int) int {
	if workers < 2 {
		return 0
	}
	return max((hosts+workers-1)/workers, 1)
}

// Counts contains the number of URLs in each state.
type Counts struct {
	Pending, Fetched, Redirected, Blocked, Failed, GivenUp, Outside, Postponed int64
}

// A PerState contains the number of URLs in each state, indexed by State.
type PerState [Postponed + 1]int64

// Counts returns the numbers as a [Counts].
func (n *PerState) Counts() Counts {
	return Counts{n[Pending], n[Fetched], n[Redirected], n[Blocked], n[Failed], n[GivenUp], n[Outside], n[Postponed]}
}

// Frontier is the contract that every frontier fulfills. Its methods may be called from several
// goroutines at once. Package internal/tools/storetest tests the contract. The record of a page, the final
// state of its URL and the URLs it leads to are written together, by the Commit method of a store.
type Frontier interface {
	Reader

	// Discover queues the URLs that are unknown or outside the crawl, and returns their number.
	// Known URLs are ignored. If two calls discover the same URL at the same time, exactly one
	// counts it. The URLs of a host are ordered by priority, then depth, then arrival. An item that
	// is due later counts as arriving when it is due.
	Discover(ctx context.Context, items []Item) (int, error)

	// Requeue queues the items whose URLs are finished, unknown or outside the crawl, and returns
	// their number. Pending URLs are left alone. Each URL's record stays until a commit with
	// Revisit replaces it.
	Requeue(ctx context.Context, items []Item) (int, error)

	// Claim gives the worker up to n hosts for ttl. These hosts have URLs that can be taken, may get
	// requests now, and are not claimed. They are chosen by the priority and then the depth of their
	// first URL. Among equal hosts, those that have been due the longest come first. The preferred
	// hosts come before all others. A host whose URLs are all due later cannot be claimed before the
	// first of them is due. With n = 0, Claim only reports the state of the frontier, and counts the
	// worker as present.
	Claim(ctx context.Context, worker string, n int, ttl time.Duration, preferred ...string) (Grant, error)

	// Renew makes claims last until ttl from now, and returns those that were lost.
	Renew(ctx context.Context, claims []Claim, ttl time.Duration) (lost []Claim, err error)

	// Take takes up to n pending URLs of a claimed host that are due and not taken, in the host's
	// order. No other call returns these URLs until they are released or the claim ends. If Take
	// returns neither URLs nor an error, the host has no such URL.
	Take(ctx context.Context, c Claim, n int) ([]Item, error)

	// Release gives back a URL that was taken but not finished. The URL is queued again as item,
	// behind the other URLs with the same priority and depth.
	Release(ctx context.Context, c Claim, item Item) error

	// Slot reserves the time of the next request to a host, and returns how long the caller must
	// wait before it sends the request. The time after the last reserved one is at least least, and
	// at least the delay of the last one, but that delay counts as at most most. The new delay is
	// least. The caller need not have claimed the host. A persistent frontier stores the time.
	Slot(ctx context.Context, host string, least, most time.Duration) (wait time.Duration, err error)

	// Spend records what was fetched from a claimed host so far. The next worker gets it as
	// Rest.Spent if the claim expires. Return replaces it.
	Spend(ctx context.Context, c Claim, spent Spent) error

	// Return ends a claim. The host's taken but unfinished URLs return to their old positions in
	// the queue. The next worker that claims the host gets rest. A persistent frontier stores the
	// fields Blocked, Delay and Spent. The other fields of Rest are lost when the run ends.
	Return(ctx context.Context, c Claim, rest Rest) error
}

// A Reader reads the contents of a frontier.
type Reader interface {
	// State returns the state of a URL.
	State(ctx context.Context, url string) (State, error)

	// URLs yields the URLs that are Pending, or those that are Outside, in no particular order. For
	// URLs that are Outside, call [Left].
	// URLs in another state have a record.
	URLs(ctx context.Context, state State) iter.Seq2[string, error]

	// Hosts yields every host with pending URLs, in no particular order.
	Hosts(ctx context.Context) iter.Seq2[Host, error]

	// Counts returns the number of URLs in each state.
	Counts(ctx context.Context) (Counts, error)
}

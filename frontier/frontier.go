// Package frontier is what is still to fetch: the types and the contract of a queue of URLs, and
// the canonical form by which a URL is known.
//
// The contract follows crawler-commons URLFrontier: URLs are discovered, taken and ended; hosts
// rest and are blocked. A frontier remembers; it does not decide. [NewMemory] makes one that lives
// as long as the process; those that outlive it are the stores' (package store).
//
//	front := frontier.NewMemory()
//	url, err := frontier.Canonical("HTTP://Example.com/%7Ejo#top") // http://example.com/~jo
//	n, err := front.Discover(ctx, []frontier.Item{{URL: url}})     // 1: it was not known
//	grant, err := front.Claim(ctx, "me", 1, time.Minute)           // a host that nobody else asks meanwhile
//	items, err := front.Take(ctx, grant.Hosts[0].Claim, 10)
//
// # Hosts are claimed, not URLs
//
// One host has one holder at a time, so that politeness holds over many workers. The holder takes
// the host's URLs, and returns the host with what the next holder has to know to be as polite. A
// claim ends when its host is returned, or when it was not renewed in time: then the holder is
// dead, or so slow that it must be taken for dead. What it writes after that is refused with
// [ErrLost], and the URLs that it took are free.
//
// The scheduler decides when a host may be asked again, see package crawler, and its caller decides
// which URLs belong to a crawl.
//
// # Coming back
//
// A URL that has ended can be put back ([Frontier].Requeue), to be tried or visited again. An item
// that is due later is pending, but its host is not due for it, and nobody waits for it: a crawl
// that runs when the time comes fetches it, a crawl that has nothing else left ends.
package frontier

import (
	"context"
	"errors"
	"iter"
	"time"
)

// ErrLost: a claim has ended, or another worker has its host.
var ErrLost = errors.New("the host is no longer held by this worker")

// An Item is one URL to fetch, with what its record will need to know of the way that led to it.
type Item struct {
	URL   string // canonical, see [Canonical]
	Via   string // where the chain of redirects that led here began; "" for none
	Depth int    // links from the nearest seed; 0 for a seed and what it redirects to
	Hops  int    // redirects in a row before this URL
	Tries int    // fetches that failed before this one

	Kind     Kind
	Priority int       // 0 usually; higher ones come later in their host's queue, lower ones sooner: -128 to 127
	Due      time.Time // not to be taken before; zero: at once. Of a revisit: when it was asked for
	ETag     string    // validators of the visit before, as the server sent them; "": none
	Modified string
}

// Priorities are kept between these; those beyond count as the nearest.
const (
	SoonestPriority = -128
	LatestPriority  = 127
)

// A Kind says what an item is to be fetched as. The numbers are stored: they do not change.
type Kind uint8

const (
	Page    Kind = 0 // whatever the URL answers
	Sitemap Kind = 1 // a list of URLs for crawlers
	Check   Kind = 2 // what is only asked whether it is there
)

// A State says how far a URL has come. The numbers are stored: they do not change.
type State uint8

const (
	Unknown    State = 0 // never discovered
	Pending    State = 1 // queued or taken
	Fetched    State = 2 // answered, and a record says what
	Redirected State = 3 // answered with another URL
	Blocked    State = 4 // robots.txt says no
	Failed     State = 5 // no page there; its record says why
	GivenUp    State = 6 // tried as often as is allowed; its record says why
	Outside    State = 7 // linked to, but outside the crawl; Discover still takes it
)

// Ends says whether a URL in that state has been dealt with: it is neither unknown, nor to be
// fetched, nor left out.
func (s State) Ends() bool { return s > Pending && s < Outside }

// New says whether Discover takes a URL in that state: nobody has dealt with it, or is to.
func (s State) New() bool { return s == Unknown || s == Outside }

// A Host is one authority, such as "example.com" or "example.com:8080", with URLs waiting.
// Politeness is counted by host.
type Host struct {
	Name    string
	Pending int // URLs queued, now or for later, or taken
	Depth   int // of the first URL to take, as far as is known
	Rest    Rest
}

// A Rest is what the next holder of a host has to know of it. The zero value is a host of which
// nothing is known.
type Rest struct {
	Next    time.Time     // not to be asked before; nobody can claim the host before
	Idle    bool          // nobody need wait for it: its URLs may stay pending when a crawl ends
	Blocked time.Time     // left alone until then because it asked for it, see MostBlocked
	Delay   time.Duration // least time between two requests, as it asked for; 0: it did not
	Took    time.Duration // an answer takes, smoothed; 0: none yet
	Trouble Trouble       // with it lately
	Spent   Spent         // on it in this crawl
}

// MostBlocked is the longest that a host can ask to be left alone. What would be longer was written
// by a clock that was wrong, and must not silence a crawl.
const MostBlocked = time.Hour

// Due is the time before which the host is not to be asked.
func (r Rest) Due() time.Time { return later(r.Next, r.Blocked) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Bounded is a rest in which nobody is blocked for longer than [MostBlocked] from now.
func (r Rest) Bounded(now time.Time) Rest {
	if most := now.Add(MostBlocked); r.Blocked.After(most) {
		r.Blocked = most
	}
	return r
}

// Trouble is what a host's failures in a row amount to.
type Trouble struct {
	Answered bool      // something, in this crawl
	Fails    int       // in a row; those in flight together are one
	Since    time.Time // when the first of them ended
	Last     time.Time // when the last of them ended
}

// Spent is what a host has cost.
type Spent struct {
	Pages int64 // pages and other things it answered with
	Bytes int64 // of their bodies
}

// A Claim is one worker's hold on one host.
type Claim struct {
	Host   string
	Worker string
	Token  uint64 // no two claims of a host have the same
}

// A Held host is one that was claimed.
type Held struct {
	Claim Claim
	Host  Host // as the last holder returned it
}

// A Grant is the answer to a wish for hosts.
type Grant struct {
	Hosts   []Held
	Others  int       // hosts that other workers hold
	Waiting int       // hosts with URLs free that nobody holds, but for those that are idle
	Next    time.Time // when the first host is due that nobody holds, now if one is; zero: there is none with URLs

	// Workers is how many asked for hosts within the last [Present], with the one that is told.
	Workers int

	// Share is how many hosts each of them would hold if those that are held and those that wait
	// were dealt out evenly, rounded up; at least 1. It is advice: a claim may ask for more. 0: no
	// other worker asks.
	Share int
}

// Present is for how long a worker that has asked for hosts counts as one of those that share them.
// It is longer than workers wait before they ask again, and much shorter than claims last: of a
// worker that died, what it held is locked, but what it would have claimed is free for others soon.
const Present = 5 * time.Second

// ShareOf is the share of each of some workers in some hosts, see [Grant].
func ShareOf(hosts, workers int) int {
	if workers < 2 {
		return 0
	}
	return max((hosts+workers-1)/workers, 1)
}

// Counts is how many URLs are in each state.
type Counts struct {
	Pending, Fetched, Redirected, Blocked, Failed, GivenUp, Outside int64
}

// PerState is the number of URLs in each state, indexed by it.
type PerState [Outside + 1]int64

// Counts gives the numbers their names.
func (n *PerState) Counts() Counts {
	return Counts{n[Pending], n[Fetched], n[Redirected], n[Blocked], n[Failed], n[GivenUp], n[Outside]}
}

// Frontier is the contract. Every method may be called from several goroutines. Package
// store/storetest holds these promises as tests. URLs end, and those that a page leads to are
// written, with the page's record: in a store by its Commit, in a [Memory] by its End.
type Frontier interface {
	Reader

	// Discover queues the URLs that were never discovered before, or only left out, and returns how
	// many those were. Known URLs are dropped, and of two concurrent calls with one URL exactly one
	// counts it. Order within a host: by priority, then depth, then arrival. An item that is due
	// later arrives when its time comes.
	Discover(ctx context.Context, items []Item) (int, error)

	// Requeue puts URLs back that have ended, and queues those that are unknown or were left out,
	// with the items given, and returns how many. Pending ones stay as they are. Their records stay
	// until a commit with Revisit takes their place.
	Requeue(ctx context.Context, items []Item) (int, error)

	// Claim gives up to n hosts that have URLs free, are due, and that nobody holds, for ttl: those
	// whose first URL comes first, by priority and then depth, before others, then those that are
	// due the longest. A host all of whose free URLs are due later is not due before the first of
	// them. With n = 0 it only tells how things stand, and that the worker is there.
	Claim(ctx context.Context, worker string, n int, ttl time.Duration) (Grant, error)

	// Renew lets claims last for ttl from now on, and returns those that were lost.
	Renew(ctx context.Context, claims []Claim, ttl time.Duration) (lost []Claim, err error)

	// Take takes up to n URLs of a claimed host, in the host's order, that are free. They stay
	// taken until they end, are released, or the claim ends. No URLs and no error: nothing is
	// waiting.
	Take(ctx context.Context, c Claim, n int) ([]Item, error)

	// Release gives back a URL that was taken, without an answer: it goes to the end of its
	// priority and depth in its host's queue, as the item given.
	Release(ctx context.Context, c Claim, item Item) error

	// Return ends a claim: the host's URLs that were taken and have not ended are free, in their
	// old places, and the next holder will know rest. A host's Blocked and Delay and Spent outlive
	// the process where the frontier does; the rest of Rest ends with a run.
	Return(ctx context.Context, c Claim, rest Rest) error
}

// A Reader is asked what a frontier holds.
type Reader interface {
	// State says how far a URL has come.
	State(ctx context.Context, url string) (State, error)

	// URLs yields the URLs that are Pending, or those that are Outside, in no promised order. Those
	// in another state have a record.
	URLs(ctx context.Context, state State) iter.Seq2[string, error]

	// Hosts yields every host with URLs pending, in no promised order.
	Hosts(ctx context.Context) iter.Seq2[Host, error]

	// Counts is how many URLs are in each state.
	Counts(ctx context.Context) (Counts, error)
}

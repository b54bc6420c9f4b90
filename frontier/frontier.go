// Package frontier is what is still to fetch: the types and the contract of a
// queue of URLs, and the canonical form by which a URL is known.
//
// The contract follows crawler-commons URLFrontier: URLs are discovered, leased,
// and done; hosts can be blocked. A frontier remembers; it does not decide.
// [NewMemory] makes one that lives as long as the process; those that outlive it are
// the stores' (package store).
//
//	front := frontier.NewMemory()
//	url, err := frontier.Canonical("HTTP://Example.com/%7Ejo#top") // http://example.com/~jo
//	n, err := front.Discover(ctx, []frontier.Item{{URL: url}})     // 1: it was not known
//	items, err := front.Lease(ctx, "example.com", 10, time.Hour)
//
// When a host may be asked again is the scheduler's question (package crawler),
// which URLs belong to a crawl is its caller's.
package frontier

import (
	"context"
	"iter"
	"time"
)

// An Item is one URL to fetch, with what its record will need to know of the
// way that led to it.
type Item struct {
	URL   string // canonical, see [Canonical]
	Via   string // where the chain of redirects that led here began; "" for none
	Depth int    // links from the nearest seed; 0 for a seed and what it redirects to
	Hops  int    // redirects in a row before this URL
	Tries int    // fetches that failed before this one
}

// A State says how far a URL has come. The numbers are stored: they do not change.
type State uint8

const (
	Unknown    State = 0 // never discovered
	Pending    State = 1 // queued or leased
	Fetched    State = 2 // answered, and a record says what
	Redirected State = 3 // answered with another URL
	Blocked    State = 4 // robots.txt says no
	Failed     State = 5 // no page there; its record says why
	GivenUp    State = 6 // tried as often as is allowed; its record says why
	Outside    State = 7 // linked to, but outside the crawl; Discover still takes it
)

// Ends says whether a URL in that state has been dealt with: it is neither
// unknown, nor to be fetched, nor left out.
func (s State) Ends() bool { return s > Pending && s < Outside }

// A Host is one authority, such as "example.com" or "example.com:8080", with
// URLs waiting. Politeness is counted by host.
type Host struct {
	Name    string
	Pending int           // URLs queued or leased
	Depth   int           // of the first URL to lease, as far as is known
	Until   time.Time     // blocked until then; zero: not blocked
	Delay   time.Duration // least time between two requests, as set; 0: never set
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

// Frontier is the contract. Every method may be called from several goroutines.
// Package store/storetest holds these promises as tests.
type Frontier interface {
	// Discover queues the URLs that were never discovered before, or only left
	// out, and returns how many those were. Known URLs are dropped, and of two
	// concurrent calls with one URL exactly one counts it. Order within a host:
	// by depth, then by arrival.
	Discover(ctx context.Context, items []Item) (int, error)

	// Exclude notes URLs that were met and are outside the crawl. Those that are
	// known stay what they are.
	Exclude(ctx context.Context, urls []string) error

	// Lease takes up to n URLs of host, in the host's order, that no one else
	// holds. A lease ends with Done or Release, after ttl, or when an embedded
	// store is opened again; a store that only one process can open may ignore
	// ttl. No URLs and no error: nothing is waiting.
	Lease(ctx context.Context, host string, n int, ttl time.Duration) ([]Item, error)

	// Release ends a lease without an answer: the URL goes to the end of its
	// depth in its host's queue, with the Via, Depth, Hops and Tries given.
	Release(ctx context.Context, item Item) error

	// Done ends a URL in a state that [State.Ends]. Doing so twice, or for a URL
	// never discovered, is no error: the first state stays.
	Done(ctx context.Context, url string, state State) error

	// State says how far a URL has come.
	State(ctx context.Context, url string) (State, error)

	// Block keeps a host's URLs where they are until then. The frontier only
	// remembers it, for [Host]; it does not make Lease refuse.
	Block(ctx context.Context, host string, until time.Time) error

	// SetDelay remembers the least time between two requests to host.
	SetDelay(ctx context.Context, host string, delay time.Duration) error

	// URLs yields the URLs that are Pending, or those that are Outside, in no
	// promised order. Those in another state have a record.
	URLs(ctx context.Context, state State) iter.Seq2[string, error]

	// Hosts yields every host with URLs pending, in no promised order.
	Hosts(ctx context.Context) iter.Seq2[Host, error]

	// Counts is how many URLs are in each state.
	Counts(ctx context.Context) (Counts, error)
}

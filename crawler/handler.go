package crawler

import (
	"context"
	"errors"
)

// A Handler processes the pages that a crawl fetches.
type Handler interface {
	// Handle stores the result of fetching a URL. It passes the page's links to leads. It writes
	// the items of leads first, then the page, and finally marks the URL as done, so no URL is lost
	// if the process is killed. Several goroutines call it. An error ends the crawl. There are
	// three exceptions, which Handle may return only if it has written nothing for the page:
	// [frontier.ErrLost] if another worker has claimed the page's host in the meantime,
	// [ErrLookAgain] if the URL must be fetched again, and [ErrRender] if a browser must render the
	// page first.
	Handle(ctx context.Context, p *Page, leads *Leads) error

	// Pages returns the number of pages in the store, for Options.MaxPages.
	Pages() int64
}

// lookAgainPriority is the priority of URLs to be fetched again because of [ErrLookAgain]. They
// come after all other URLs of their host, and are fetched when no other URL of the host is being
// fetched or processed. So all earlier pages of the host have been handled by then.
const lookAgainPriority = 96

// ErrLookAgain is returned by a [Handler] that cannot judge a page until it has seen other pages of
// the host. The URL is put at the end of its host's queue and fetched again.
var ErrLookAgain = errors.New("the page cannot be judged until other pages of its host have been judged: fetch it again later")

// A Leaver is a [Handler] that can end the crawl of a host.
type Leaver interface {
	// LeaveAlone is called after each page of the host has been handled. It returns the reason why
	// the host must get no more requests, or "" if it may get more.
	LeaveAlone(host string) (why string)
}

// A Prober is a [Handler] that needs to know how hosts respond to URLs that cannot exist. For
// example, it can then recognize error pages that have status 200.
type Prober interface {
	// Probe is called after the page at url has been handled. It returns a URL of the same host
	// that cannot exist and should be requested, or "" if there is none. A URL outside the scope is
	// not requested. Handle gets the result, whose item has the kind [Probing].
	Probe(ctx context.Context, url string) (string, error)
}

// A Sweeper is a [Handler] that may queue more URLs when nothing is left to fetch.
type Sweeper interface {
	// Sweep queues URLs, and returns their number. It is called whenever the frontier is empty,
	// until it returns 0. It is not called if a limit ends the crawl.
	Sweep(ctx context.Context) (queued int, err error)
}

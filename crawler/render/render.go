// Package render runs the scripts of a page in a Chromium browser on this machine, and returns the
// HTML of the result.
//
//	b, err := render.New(render.Options{Path: path})
//	defer b.Close()
//	drawing, err := b.Draw(ctx, render.Page{URL: url, Header: header, Body: body}, fetch)
//
// # The browser has no network
//
// The browser pauses every request of a page, and of its frames and workers. The caller's [Fetch]
// answers the request. The browser itself is started so that it cannot reach any address; see
// flags. So the caller can treat the requests of a page like its own: with robots.txt, delays,
// address checks, limits and archives. This package does none of that.
//
// # Requests that are answered
//
// A page gets its scripts, and the data that scripts request with GET, and with POST if Page.MayPost allows it. Requests for style sheets
// get an empty one. Frames of the page's own origin are fetched. Requests for other frames, images,
// fonts and media are refused. If Options.Screenshots is set, style sheets, images and fonts are fetched, too.
// Requests to hosts that only count visitors (see trackers) are refused, and requests with other methods. A page
// cannot navigate to another URL, but [Drawing.Goes] contains the first URL to which a script tried
// to navigate.
//
// # When a page is complete
//
// A page is complete when it has been loaded, no request is open, and it has neither requested
// anything nor changed for a quarter of a second. A timer in the page measures this time. So the
// page gets the time that it needs even if the machine is busy. Page.Wait and Page.WaitFor make it wait
// for longer. If a page is never quiet, its HTML is taken after Options.Time and Page.Wait, not counting the time spent waiting for responses, and after
// Options.Most at the latest.
//
// # Bounds
//
// A page gets responses to at most maxRequests or maxShown requests, with about maxBytes in total. If a browser
// process needs more memory than Options.Memory, the system ends it, and its page fails. Each page
// has its own browser context, so the next page does not see its cookies, storage or cache. The
// browser is replaced when it has rendered maxDrawn pages, needs too much memory, or stops
// responding. If it ends while rendering pages, the next browser renders them again. If this
// process is killed, the browser ends too: its pipe closes, and on Linux the kernel kills it. The
// next browser removes the profile. The profile is in the folder for temporary files, and holds all
// temporary files of the browser.
//
// Known weaknesses: The HTML of frames from other origins is not returned. On systems other than
// Linux, only the heap of scripts is bounded, not the whole memory.
package render

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// Options configures a browser.
type Options struct {
	Path   string        // path of the browser; see [Find]
	Tabs   int           // maximum number of pages rendered at the same time; 0 means two, or the number of processors if that is more
	Time   time.Duration // maximum time for rendering a page, not counting the time spent waiting for responses; 0 means 10 s
	Most   time.Duration // maximum total time for rendering a page; 0 means 2 min
	Memory int64         // memory limit for each browser process, in bytes; 0 means 1 GiB
	Size   int64         // size limit for the HTML of a rendered page, in bytes; 0 means 10 MiB

	Screenshots bool // take a picture of each page, and load the style sheets, images and fonts for it
}

func (o Options) orDefaults() Options {
	o.Tabs = cmp.Or(o.Tabs, max(2, runtime.NumCPU()))
	o.Time, o.Most = cmp.Or(o.Time, 10*time.Second), cmp.Or(o.Most, 2*time.Minute)
	o.Memory, o.Size = cmp.Or(o.Memory, 1<<30), cmp.Or(o.Size, 10<<20)
	return o
}

// A Page is a server response to be rendered.
type Page struct {
	URL    string
	Header http.Header
	Body   []byte

	Wait    time.Duration // time that the page gets after loading, even if it is quiet
	WaitFor string        // CSS selector of an element without which the page is not complete; "" for none

	MayPost func(host string) bool // reports whether scripts may send POST requests to a host; nil means to none

	Behaviors []string // what to do in the page when it is complete: any of [skink/crawler/access.Behaviors]; afterwards, the page gets as much time again
}

// A Request is a request from a page.
type Request struct {
	Method string      // GET or POST
	URL    string      // URL as the browser writes it, without a fragment
	Header http.Header // header fields on which the response may depend, such as Accept, Origin, and those set by a script
	Body   []byte
}

// An Answer is the response to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // the body without its content coding
}

// A Fetch answers the requests of a page. It must be safe for concurrent use.
type Fetch func(ctx context.Context, r Request) (Answer, error)

// A Drawing is a page after a browser has rendered it and run its scripts.
type Drawing struct {
	HTML []byte // HTML of the rendered page in UTF-8
	Goes string // the first URL to which a script tried to navigate; "" if none did

	View, Thumbnail []byte // pictures in PNG and JPEG format; nil if none were taken

	Cut bool // the page was still changing or loading when its time was up
}

// These are reasons why a page could not be rendered.
var (
	ErrCrashed = errors.New("the browser process for the page exited, perhaps because the page needs too much memory")
	ErrHangs   = errors.New("the page stopped responding")
	ErrLarge   = errors.New("the rendered page is too large")
)

// A Browser renders pages. Several goroutines may use it.
type Browser struct {
	opt  Options
	tabs chan struct{} // contains one element for each page being rendered

	mu     sync.Mutex
	now    *instance // guarded by mu: the process that gets the next page; nil if none is running
	closed bool      // guarded by mu
}

// New returns a browser. Its process is started when the first page is rendered.
func New(opt Options) *Browser {
	opt = opt.orDefaults()
	return &Browser{opt: opt, tabs: make(chan struct{}, opt.Tabs)}
}

// Tabs returns the number of pages that can be rendered at the same time.
func (b *Browser) Tabs() int { return b.opt.Tabs }

// Close shuts down the browser. Pages being rendered fail.
func (b *Browser) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed = true; b.now != nil {
		b.now.process.end()
		b.now = nil
	}
}

// tries is the maximum number of attempts to render a page if the browser crashes.
const tries = 3

// Draw renders a page. If ctx ends first, the error is the cause of ctx.
func (b *Browser) Draw(ctx context.Context, page Page, fetch Fetch) (*Drawing, error) {
	select {
	case b.tabs <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-b.tabs }()
	for try := 1; ; try++ {
		in, err := b.enter()
		if err != nil {
			return nil, err
		}
		drawing, err := in.draw(ctx, b.opt, page, fetch)
		b.leave(in)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, errGone):
			return drawing, err
		case try == tries:
			return nil, in.process.why()
		}
	}
}

type instance struct {
	process *process
	open    int // guarded by Browser.mu: number of pages being rendered
	drawn   int // guarded by Browser.mu: number of pages rendered so far
}

// maxDrawn is the number of pages that one browser process renders before it is replaced, because
// a browser uses more and more memory over time.
const maxDrawn = 500

// enter returns a running browser for one more page, and starts one if necessary.
func (b *Browser) enter() (*instance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errGone
	}
	if b.now != nil && (b.now.isGone() || b.now.drawn >= maxDrawn || b.now.drawn > 0 && b.now.process.resident() > b.bound()) {
		if b.now.open == 0 { // otherwise the process ends when its last page has been rendered
			b.now.process.end()
		}
		b.now = nil
	}
	if b.now == nil {
		p, err := start(b.opt)
		if err != nil {
			return nil, err
		}
		b.now = &instance{process: p}
	}
	b.now.open++
	return b.now, nil
}

// bound returns how much memory, in bytes, a browser may use before it is replaced.
func (b *Browser) bound() int64 { return b.opt.Memory * int64(1+b.opt.Tabs) / 2 }

// leave records that a page of an instance is finished. It ends an instance that enter has replaced after its last
// page.
func (b *Browser) leave(in *instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in.drawn++
	if in.open--; in.open == 0 && in != b.now {
		in.process.end()
	}
}

func (in *instance) isGone() bool {
	select {
	case <-in.process.gone:
		return true
	default:
		return false
	}
}

// Package render draws pages that scripts fill, with a Chromium of this machine, and returns the HTML
// of what was drawn.
//
//	b, err := render.New(render.Options{Path: path})
//	defer b.Close()
//	drawing, err := b.Draw(ctx, render.Page{URL: url, Header: header, Body: body}, fetch)
//
// # The browser has no network
//
// Every request of a page, and of its frames and workers, is stopped by the browser and answered by
// the caller's [Fetch]. The browser itself is started so that it can reach no address, see flags. So
// all that holds for the caller's own requests holds for those of a page: robots.txt, delays, guarded
// addresses, limits, archives. The package knows of none of these.
//
// # What is loaded
//
// Scripts, and data that scripts ask for by GET. A style sheet is answered by an empty one. Pictures,
// fonts, media, frames, and hosts that only count visitors (see trackers) are refused, and so is every
// request that would send something. A page cannot leave: where its scripts would go is in
// [Drawing.Goes].
//
// # When a page is drawn
//
// A page is drawn when it was loaded, no request is under way, and in some hundred milliseconds of its
// own time it neither asked for anything nor changed. That is not measured here but by a timer in the
// page, so that a busy machine gives a page the time it needs. A page that is never quiet is taken as
// it is after Options.Time without an answer to wait for, or after Options.Most in all.
//
// # Bounds
//
// A page makes at most mostRequests requests, and gets at most mostBytes. A process of the browser that
// takes more than Options.Memory is ended by the system, and its page fails. Each page has a browser
// context of its own: no cookie, storage or cache is left for the next. One browser has a bounded
// number of tabs. It is replaced when it has grown or does not answer; pages that were in it are drawn
// again by the next. If this process is killed, the browser ends too: its pipe closes, and on Linux the
// kernel kills it. Its profile is a folder for temporary files, and the next browser removes it.
//
// Known weaknesses: the HTML of frames, and of closed shadow roots, is not returned. Elsewhere than on
// Linux only the heap of scripts is bounded, not all memory.
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
	Path   string        // of the browser, see [Find]
	Tabs   int           // pages rendered at the same time; 0: two, or the number of processors if that is more
	Time   time.Duration // how long rendering a page may take, without the time in which it waits for answers; 0: 10 s
	Most   time.Duration // how long rendering a page may take in all; 0: 2 min
	Memory int64         // limit for each process of the browser, in bytes; 0: 1 GiB
	Size   int64         // limit for the HTML of a rendered page, in bytes; 0: 10 MiB
}

func (o Options) orDefaults() Options {
	o.Tabs = cmp.Or(o.Tabs, max(2, runtime.NumCPU()))
	o.Time, o.Most = cmp.Or(o.Time, 10*time.Second), cmp.Or(o.Most, 2*time.Minute)
	o.Memory, o.Size = cmp.Or(o.Memory, 1<<30), cmp.Or(o.Size, 10<<20)
	return o
}

// A Page is the answer of a server that is to be rendered.
type Page struct {
	URL    string
	Header http.Header
	Body   []byte
}

// A Request is what a page asks for, by GET.
type Request struct {
	URL    string      // as the browser writes it, without a fragment
	Header http.Header // what the answer may depend on: Accept, Origin, and fields that a script set
}

// An Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // decoded
}

// A Fetch answers the requests of a page. Several goroutines call it.
type Fetch func(ctx context.Context, r Request) (Answer, error)

// A Drawing is a page after a browser has rendered it and run its scripts.
type Drawing struct {
	HTML []byte // in UTF-8
	Goes string // the first URL to which a script tried to navigate; "": none did
	Cut  bool   // the page was still changing or loading when its time was over
}

// These are the reasons why a page was not drawn.
var (
	ErrCrashed = errors.New("the browser's process for the page ended, perhaps because the page needs too much memory")
	ErrHangs   = errors.New("the page stopped responding")
	ErrLarge   = errors.New("the rendered page is too large")
)

// A Browser draws pages. Several goroutines may use it.
type Browser struct {
	opt  Options
	tabs chan struct{} // one for each page that is drawn

	mu     sync.Mutex
	now    *instance // guarded by mu: gets the pages; nil: none
	closed bool      // guarded by mu
}

// New returns a browser. It is started when the first page is drawn.
func New(opt Options) *Browser {
	opt = opt.orDefaults()
	return &Browser{opt: opt, tabs: make(chan struct{}, opt.Tabs)}
}

// Tabs returns how many pages are drawn at once.
func (b *Browser) Tabs() int { return b.opt.Tabs }

// Close ends the browser. Pages that are being drawn fail.
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

// tries is how often a page is drawn whose browser ended.
const tries = 3

// Draw draws a page. The error says why it could not be drawn, or is that of ctx.
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

// An instance is a browser that runs.
type instance struct {
	process *process
	open    int // guarded by Browser.mu: pages that are being drawn
	drawn   int // guarded by Browser.mu: pages that were
}

// mostDrawn is how many pages one browser process renders before it is replaced, because browsers
// use more and more memory.
const mostDrawn = 500

// enter returns a running browser for one more page, and starts one if needed.
func (b *Browser) enter() (*instance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errGone
	}
	if b.now != nil && (b.now.isGone() || b.now.drawn >= mostDrawn || b.now.drawn > 0 && b.now.process.resident() > b.bound()) {
		b.retire()
	}
	if b.now == nil {
		p, err := start(b.opt.Path, b.opt.Memory)
		if err != nil {
			return nil, err
		}
		b.now = &instance{process: p}
	}
	b.now.open++
	return b.now, nil
}

// bound returns how large a browser may be before it is replaced.
func (b *Browser) bound() int64 { return b.opt.Memory * int64(1+b.opt.Tabs) / 2 }

// retire gives a browser no more pages. It ends with its last page.
func (b *Browser) retire() {
	if b.now.open == 0 {
		b.now.process.end()
	}
	b.now = nil
}

// leave says that a page of a browser ended.
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

package view

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skink/report"
	"skink/store"
)

// A Crawl controls a crawl that runs in the same process as the view. Its methods may be called
// concurrently.
type Crawl interface {
	// Pages returns the number of pages that this run has added to the store. It must be fast,
	// because the view calls it every second.
	Pages() int64
	// Now returns the state of the crawl.
	Now() Moment
	// Order gives one of formOrders. The host is "" if the order is about the whole crawl.
	Order(verb, host string)
}

// formOrders are the orders that users can give on the page "Now".
var formOrders = []string{store.OrderPause, store.OrderResume, store.OrderStop, store.OrderBlock, store.OrderUnblock}

// A Moment is the state of a crawl at one time.
type Moment struct {
	Tally    store.Tally // counts of all records in the store
	Ends     []End       // number of URLs in each state
	InFlight int         // number of URLs being fetched
	Hosts    []HostNow   // hosts that the crawl has in memory
	Saved    []Saving    // number of URLs not fetched, for each reason
	Orders   []store.Order
	Limits   []string // what is spent and left of budgets, and when a crawl that sleeps goes on

	Memory, MaxMemory int64         // memory of the process and its limit, in bytes
	Disk, Free        int64         // size of the store and free space on its disk, in bytes; 0 means unknown
	Left              time.Duration // estimated time until all known URLs are fetched; 0 means unknown
	Paused, Stopping  bool
}

// An End is the number of URLs in one state.
type End struct {
	Name string
	URLs int64
	Note string
}

// A Saving is the number of URLs left unfetched for one reason.
type Saving struct {
	Why     string
	Fetches int64
}

// A HostNow is the state of one host in a crawl.
type HostNow struct {
	Name     string
	State    HostState
	Why      string // why the host is in that state
	Requests int
	Took     time.Duration // average response time
	Rest     time.Duration // pause between requests
}

// A HostState says whether the crawl is sending requests to a host.
type HostState string

const (
	Works HostState = "active"  // gets requests as often as its limits allow
	Rests HostState = "waiting" // gets no requests for a while
	Fails HostState = "failing" // did not respond to the last request
	Done  HostState = "done"    // has no URLs left to fetch
)

// A pulse records the number of pages of a crawl over time, for a graph. It keeps at most
// maxSamples samples. When it is full, it drops every other sample and doubles the interval.
type pulse struct {
	mu      sync.Mutex
	samples []sample      // guarded by mu
	every   time.Duration // interval between samples; guarded by mu
	recent  []sample      // samples from the last few seconds; guarded by mu
}

type sample struct {
	at    time.Time
	pages int64
}

const (
	maxSamples    = 240
	recentSamples = 10
)

func (p *pulse) beat(at time.Time, pages int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = max(p.every, time.Second)
	s := sample{at, pages}
	p.recent = append(p.recent[max(len(p.recent)-recentSamples, 0):], s)
	if n := len(p.samples); n > 0 && at.Sub(p.samples[n-1].at) < p.every-p.every/10 {
		return
	}
	if len(p.samples) == maxSamples {
		for i := range maxSamples / 2 {
			p.samples[i] = p.samples[2*i]
		}
		p.samples = p.samples[:maxSamples/2]
		p.every *= 2
	}
	p.samples = append(p.samples, s)
}

// A line is a chart of a rate over time, with the rates for its heading.
type line struct {
	chart
	Last, Middle, Most string // pages per second: in the last few seconds, average, and maximum
}

// idle reports whether the number of pages has been the same since the first sample.
func (p *pulse) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.samples)
	return n > 1 && p.samples[0].pages == p.samples[n-1].pages && p.recent[len(p.recent)-1].pages == p.samples[n-1].pages
}

func (p *pulse) line() (l line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.samples)
	if n < 2 {
		return l
	}
	all := p.samples
	took := all[n-1].at.Sub(all[0].at)
	rates, at, most := make([]float64, 0, n), make([]float64, 0, n), 0.0
	for i := 1; i < n; i++ {
		r := rate(all[i-1], all[i])
		rates, at, most = append(rates, r), append(at, share(all[i].at.Sub(all[0].at), took)), max(most, r)
	}
	rates, at = append(rates[:1:1], rates...), append([]float64{0}, at...) // draw the first rate over the whole first interval
	top := roundUp(most)
	l.Last, l.Middle, l.Most = number(rate(p.recent[0], p.recent[len(p.recent)-1])), number(rate(all[0], p.recent[len(p.recent)-1])), number(most)
	l.Curves = []curve{newCurve("pages per second", "first", at, rates, top)}
	l.Y = [3]string{number(top), number(top / 2), "0"}
	l.X = [3]string{report.Duration(took) + " ago", report.Duration(took/2) + " ago", "now"}
	l.Label = fmt.Sprintf("Pages per second over %s: %s in the last few seconds, %s on average, %s at most", report.Duration(took), l.Last, l.Middle, l.Most)
	return l
}

func share(part, whole time.Duration) float64 {
	return part.Seconds() / max(whole.Seconds(), 1e-3)
}

func rate(a, b sample) float64 {
	return max(float64(b.pages-a.pages)/max(b.at.Sub(a.at).Seconds(), 1e-3), 0)
}

// number formats a rate, with one decimal place if it is below 10.
func number(x float64) string {
	if x < 10 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

type nowView struct {
	Moment
	Running  bool // whether a crawl is running in this process
	Idle     bool // whether no crawl is running in this process and no other process is adding pages to the store
	Line     line
	States   map[string]int // number of hosts in each state
	Shown    []HostNow
	Problems []End
}

const hostsShown = 12

// moment returns the data for the page "Now": the state of the crawl, or of the store if no crawl
// is running in this process.
func (v *View) moment(ctx context.Context) (*nowView, error) {
	n := &nowView{Running: v.opt.Crawl != nil, States: map[string]int{}}
	err := v.opt.Store.Read(ctx, func(s store.Reader) (err error) {
		if v.opt.Crawl != nil {
			n.Moment = v.opt.Crawl.Now()
		} else {
			n.Moment, err = v.opt.Moment(ctx, s)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if v.opt.Crawl == nil {
		v.pulse.beat(time.Now(), n.Tally.Pages())
	}
	if n.Idle = !n.Running && v.pulse.idle(); !n.Idle {
		n.Line = v.pulse.line()
	}
	for _, h := range n.Hosts {
		n.States[string(h.State)]++
	}
	order := []HostState{Fails, Rests, Works, Done}
	slices.SortStableFunc(n.Hosts, func(a, b HostNow) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State)), cmp.Compare(b.Requests, a.Requests))
	})
	n.Shown = n.Hosts[:min(len(n.Hosts), hostsShown)]
	for kind, urls := range n.Tally.Problems {
		n.Problems = append(n.Problems, End{Name: cmp.Or(kind, "unknown"), URLs: urls})
	}
	slices.SortFunc(n.Problems, func(a, b End) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Name, b.Name)) })
	return n, nil
}

func (v *View) nowPage(ctx context.Context, r *http.Request) (*screen, error) {
	n, err := v.moment(ctx)
	return &screen{name: "now", title: "Now", live: true, Content: n}, err
}

// control handles a form that gives an order.
func (v *View) control(r *http.Request) (next string) {
	verb, host := r.PathValue("order"), r.PostFormValue("host")
	if !slices.Contains(formOrders, verb) || (host != "") != strings.HasSuffix(verb, "block") {
		return ""
	}
	v.opt.Crawl.Order(verb, host)
	return "/now"
}

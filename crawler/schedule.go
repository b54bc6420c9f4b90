package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/base/priority"
	"skink/frontier"
)

// # The states of a host
//
// A host that the schedule has claimed is in one of these states. offer updates the state after
// every change to the host.
//
//	state     the next turn (the fetch of one URL) begins
//	ready     when next chooses the host
//	resting   when the delay since the last request has passed: the host is then ready
//	parked    when a request to its address ends; see address.go
//	blocked   when something else happens: its request ends, URLs are found, or the host is returned
//
// claim adds a host. letGo removes a host that is returned to the frontier, or whose claim was
// lost. A turn of the host may then still be under way. The schedule uses these types:
//
//   - a standing decides when a host may get a request, based on its earlier responses
//     (standing.go, backoff.go);
//   - a turn is the fetch of one URL, from begin to done (turn.go);
//   - claims decides which hosts to claim and to return (claims.go);
//   - capacity decides how many turns may be under way (capacity.go).
//
// Many goroutines report the progress of their turns, but only the goroutine that calls next makes
// decisions. The mutex guards all these types. It is never locked during a call to the frontier,
// because a slow disk would then block the reports. So next decides with the mutex locked, and
// calls the frontier without it.

// next returns one of these errors when the crawl is over.
var (
	errFinished = errors.New("nothing is left to fetch")
	errLimit    = errors.New("the crawl has reached one of its limits")
)

const (
	takeBatch   = 128     // maximum number of URLs of one host that one call takes from the frontier
	maxTaken    = 1 << 16 // maximum number of URLs in memory for all hosts together; they take some 10 MB
	takenAtOnce = 32      // maximum number of hosts whose URLs are taken at the same time; several, because a call may be slow
	firstSweep  = 4096    // number of hosts in memory at which sweep first removes idle hosts
	maxNamed    = 1000    // maximum number of hosts listed in the final report
)

// A schedule decides which URL is fetched next. Hosts waiting for their delay to end are queued by
// the time of their next request, so they never delay others. Hosts that are due are ordered by the
// priority number of their next URL, then by its depth, and then by how long they have waited.
// There are three exceptions. The hosts that the user prefers come first. A host whose robots.txt has
// just been requested comes before them, while the file is still in the cache. Hosts whose last request failed come last.
type schedule struct {
	front frontier.Frontier
	opt   *Options
	pages func() int64 // returns the number of pages in the store

	mu        sync.Mutex // guards the fields below, all hosts, and all turns (fetches of URLs)
	hosts     map[string]*host
	sweepAt   int // number of hosts at which sweep removes idle hosts
	claims    claims
	addresses map[netip.Addr]*address
	resting   *priority.Queue[*host]        // waiting hosts, by the time at which they are due
	ready     [paces]*priority.Queue[*host] // hosts that may get a request now, by pace
	capacity  capacity
	bytes     int64                    // total size of the bodies fetched
	demanding map[string]time.Duration // the Crawl-delay of hosts that ask for more than MaxDelay
	sent      int64                    // number of requests that count against Options.Rate
	total     time.Time                // if there is a budget of requests for the whole crawl, when the next one may begin
	wake      chan struct{}            // closed and replaced by a new channel when something changes
	broken    error                    // the frontier failed, so the crawl ends
}

func newSchedule(front frontier.Frontier, opt Options, pages func() int64) *schedule {
	if opt.jitter == nil {
		opt.jitter = rand.Float64
	}
	s := &schedule{
		front: front, opt: &opt, pages: pages,
		hosts: map[string]*host{}, sweepAt: firstSweep, addresses: map[netip.Addr]*address{},
		claims:   claims{worker: WorkerName(opt.Worker), held: map[*host]bool{}, doubted: map[*host]bool{}, stale: true},
		resting:  newLine(func(a, b *host) bool { return a.due().Before(b.due()) }),
		capacity: newCapacity(&opt), demanding: map[string]time.Duration{}, wake: make(chan struct{}),
	}
	for p := range s.ready {
		s.ready[p] = newLine(nearer)
	}
	for name, spent := range opt.Spent {
		s.host(name).spent = spent
	}
	return s
}

func newLine(before func(a, b *host) bool) *priority.Queue[*host] {
	return priority.New(before, func(h *host) *priority.Spot[*host] { return &h.spot })
}

func nearer(a, b *host) bool {
	switch {
	case a.first != b.first:
		return a.first
	case a.preferred != b.preferred:
		return a.preferred
	}
	return cmp.Or(cmp.Compare(a.nextPriority(), b.nextPriority()), cmp.Compare(a.nextDepth(), b.nextDepth()), a.asked.Compare(b.asked)) < 0
}

// host returns the state of the named host, and creates it if it does not exist.
func (s *schedule) host(name string) *host {
	h := s.hosts[name]
	if h == nil {
		s.sweep()
		h = &host{name: name, standing: newStanding(s.opt, name)}
		s.hosts[name] = h
	}
	return h
}

// sweep removes idle hosts when the number of hosts has doubled since the last sweep.
func (s *schedule) sweep() {
	if len(s.hosts) < s.sweepAt {
		return
	}
	now := time.Now()
	for name, h := range s.hosts {
		if h.idle(now) {
			s.forgetAddress(h)
			delete(s.hosts, name)
		}
	}
	s.sweepAt = max(firstSweep, 2*len(s.hosts))
}

// offer puts a host into the queue that fits its state: ready, resting, parked, or none. It must be
// called after every change to a host.
func (s *schedule) offer(h *host) {
	full := h.at.full(s.opt.PerIP)
	if !full {
		h.parked = false // vacate will skip the host's entry
	}
	switch {
	case !h.askable():
		h.spot.Leave()
	case full:
		h.park()
	case h.due().After(time.Now()):
		s.resting.Put(h)
	default:
		s.ready[h.pace()].Put(h)
	}
}

// changed wakes the goroutine waiting in next, because another fetch may now be able to begin.
func (s *schedule) changed() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// moved is offer and changed, but wakes no one if the host can get no request now or later and no
// aside waits for it. Most changes during a request are of this kind, and each wake costs two switches
// between goroutines.
func (s *schedule) moved(h *host) {
	if s.offer(h); h.spot.Queue() != nil || h.asides > 0 {
		s.changed()
	}
}

// next waits for a URL that may be fetched now, and begins its turn (the fetch of the URL). It
// returns errFinished or errLimit when the crawl is over, and fails if ctx ends. Only one goroutine
// may call it.
func (s *schedule) next(ctx context.Context) (*turn, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, act, err := s.step()
		if t != nil || err != nil {
			return t, err
		}
		if err := act(ctx); err != nil {
			return nil, err
		}
	}
}

// An action is a call that next makes without holding the mutex, before it tries again to begin a
// turn. It claims hosts, returns hosts, takes URLs from the frontier, or waits.
type action func(context.Context) error

// step begins a turn (the fetch of one URL) if a host is due. Otherwise it returns the action that
// next must do first, or errFinished or errLimit.
func (s *schedule) step() (*turn, action, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if back := s.goingBack(now); len(back) > 0 {
		return nil, s.giveBack(back...), nil
	}
	if s.opt.Control.orders().Paused {
		return nil, s.wait(0), nil
	}
	room := s.room()
	// If MaxPages alone ends the crawl, the requisites of its pages may still be fetched.
	if s.limit(s.opt.Requisites && s.opt.MaxPages > 0 && s.pages() >= s.opt.MaxPages && !s.hasAllBytes()); s.opt.limited {
		room = math.MaxInt32
	}
	if room <= s.capacity.begun {
		if s.capacity.begun == 0 {
			return nil, nil, errLimit
		}
		return nil, s.wait(0), nil
	}
	if n, ask := s.claims.wanted(true, now); ask {
		return nil, s.claim(n), nil
	}
	for s.resting.Len() > 0 && !s.resting.First().due().After(now) {
		s.offer(s.resting.First())
	}
	var takes []taking
	for h := s.firstReady(room); h != nil && len(takes) < takenAtOnce; h = s.firstReady(room) {
		switch now := time.Now(); { // read the clock again, because offer, which also reads it, must agree that the host is not due
		case h.at.full(s.opt.PerIP), h.due().After(now):
			s.offer(h)
		case h.mustTake() && !s.claims.mustReturn(h, now):
			h.supply, h.taking = dry, true // if URLs are found during the call, found sets supply again
			takes = append(takes, taking{h, h.claim, min(max(maxTaken/len(s.claims.held), 1), takeBatch)})
			s.offer(h)
		case len(takes) > 0: // take URLs from the frontier before a fetch begins
			return nil, s.take(takes), nil
		case len(h.urls) > 0 && s.total.After(now):
			return nil, s.wait(s.total.Sub(now)), nil
		case len(h.urls) > 0:
			return s.begin(h, now), nil, nil
		default:
			return nil, s.giveBack(s.letGo(h)), nil
		}
	}
	if len(takes) > 0 {
		return nil, s.take(takes), nil
	}
	if n, ask := s.claims.wanted(false, now); ask {
		return nil, s.claim(n), nil
	}
	hope := s.capacity.begun > 0 || s.resting.Has(func(h *host) bool { return !h.hopeless })
	if !hope && s.claims.nothingLeft() {
		if s.opt.limited {
			return nil, nil, errLimit
		}
		return nil, nil, errFinished
	}
	most := s.claims.askAgain(now)
	if s.resting.Len() > 0 {
		most = min(most, max(s.resting.First().due().Sub(now), 1))
	}
	return nil, s.wait(most), nil
}

// goingBack removes from the schedule the hosts that must be returned to the frontier, and returns
// their claims. It checks only the hosts for which doubt was called.
func (s *schedule) goingBack(now time.Time) (back []returning) {
	for h := range s.claims.doubted {
		if s.claims.mustReturn(h, now) {
			back = append(back, s.letGo(h))
		}
	}
	clear(s.claims.doubted)
	return back
}

// firstReady returns the host whose URL is fetched next. It returns nil if no host is due, or if
// too many URLs are being fetched or processed. The argument room limits the number of these URLs.
func (s *schedule) firstReady(room int) *host {
	var first *host
	for p := range s.ready {
		ready := s.ready[p]
		if ready.Len() == 0 || !s.capacity.free(pace(p), room) {
			continue
		}
		if h := ready.First(); first == nil || pace(p) < failing && nearer(h, first) {
			first = h
		}
	}
	return first
}

// wait returns an action that waits until the schedule changes, or until limit has passed. A limit
// of 0 means no time limit.
func (s *schedule) wait(limit time.Duration) action {
	wake := s.wake
	return func(ctx context.Context) error { return sleep(ctx, wake, limit) }
}

// sleep waits until wake is closed, or until limit has passed. A limit of 0 means no time limit. It
// fails if ctx ends.
func sleep(ctx context.Context, wake <-chan struct{}, limit time.Duration) error {
	var timer <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-wake:
	case <-timer:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

type taking struct {
	host  *host
	claim frontier.Claim // claim on the host when the call began
	most  int            // maximum number of URLs
}

func (s *schedule) take(all []taking) action {
	return func(ctx context.Context) error {
		var group errgroup.Group
		for _, t := range all {
			group.Go(func() error {
				urls, err := s.front.Take(ctx, t.claim, t.most)
				lost := errors.Is(err, frontier.ErrLost)
				s.addTaken(t, urls, lost)
				if err != nil && !lost {
					return fmt.Errorf("take URLs of host %s from the queue: %w", t.host.name, err)
				}
				return nil
			})
		}
		return group.Wait()
	}
}

// addTaken adds the URLs taken from the frontier to their host, unless the claim on the host was
// lost in the meantime.
func (s *schedule) addTaken(t taking, urls []frontier.Item, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	h.taking = false
	switch {
	case h.claim != t.claim: // the claim was lost during the call
		return
	case lost:
		s.letGo(h)
		s.changed()
		return
	case len(urls) > 0:
		h.supply = max(h.supply, maybe)
		if urls[len(urls)-1].Kind == frontier.Requisite {
			h.supply = urgent // the frontier may have more requisites
		}
	}
	h.urls = append(h.urls, urls...)
	slices.SortStableFunc(h.urls, func(a, b frontier.Item) int { // URLs that have failed come last; see backoff.go
		return cmp.Or(cmp.Compare(a.Tries, b.Tries), cmp.Compare(a.Priority, b.Priority))
	})
	s.claims.doubt(h)
	s.offer(h)
}

// stir makes the schedule ask the frontier for hosts and URLs again, because the handler has added
// URLs.
func (s *schedule) stir() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims.stale = true
	for h := range s.claims.held {
		h.supply = max(h.supply, maybe)
		s.offer(h)
	}
	s.changed()
}

package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/crawler/folder"
	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/line"
)

// errFinished: nothing is left to fetch.
var errFinished = errors.New("crawl is finished")

// takeBatch is how many URLs of one host are taken from the frontier at a time: enough to spare it
// a call a page. takenMost is how many are to be in memory of all hosts together, some 10 MB.
const (
	takeBatch = 32
	takenMost = 1 << 16
)

// A schedule decides which URL is fetched next. Hosts that must rest wait in a line by the time
// they may next be asked, so that a host that rests never makes others wait. Of those that are due
// the one whose next URL has the lowest priority number, or is nearest to a seed, comes first, and
// among equals the one that waited longest. A host that was asked for its robots.txt comes before
// all, so that the answer is still known; hosts that did not answer the last time come after all.
// How many of each pace may be asked at once is the business of places.go.
//
// Many goroutines say what became of their turns; one alone calls next. No call of the frontier is
// made under the lock, or a slow disk would hold up those who only want to say that they are done.
type schedule struct {
	front  frontier.Frontier
	worker string // under which hosts are claimed
	opt    Options
	pages  func() int64   // pages in the store
	jitter func() float64 // from 0 to 1

	mu        sync.Mutex
	hosts     map[string]*host         // guarded by mu, with all they hold
	held      map[*host]bool           // guarded by mu: those that are claimed
	unheld    unheld                   // guarded by mu
	addresses map[netip.Addr]*address  // guarded by mu, with all they hold
	resting   *line.Line[*host]        // guarded by mu: hosts that may have URLs and a free connection, by when they are due
	ready     [paces]*line.Line[*host] // guarded by mu: those of them that are due, by pace
	places    places                   // guarded by mu
	parked    int                      // guarded by mu: hosts that wait for a place at their address
	busy      map[*host]bool           // guarded by mu: hosts with a request in flight
	bytes     int64                    // guarded by mu: of the bodies fetched
	sweepAt   int                      // guarded by mu: hosts at which those that are idle are looked for
	demanding map[string]time.Duration // guarded by mu: hosts that ask for more than MaxDelay, and what they ask for
	doubted   map[*host]bool           // guarded by mu: those that may have to be returned
	wake      chan struct{}            // guarded by mu: closed and renewed when something changed
	paused    bool                     // guarded by mu: nothing is begun
}

// A turn is a host's leave to be asked for one URL.
type turn struct {
	item   frontier.Item
	host   *host
	claim  frontier.Claim // of the host
	began  time.Time
	before time.Time // when the host had been asked before
	placed bool      // its host was located when it began
	sent   bool      // its request, or one for robots.txt on its behalf
	place  place     // what it holds

	requests, robots int // of the host, when the turn began
}

func newSchedule(front frontier.Frontier, opt Options, pages func() int64) *schedule {
	s := &schedule{
		front: front, opt: opt, pages: pages, jitter: rand.Float64, worker: WorkerName(opt.Worker),
		hosts: map[string]*host{}, held: map[*host]bool{}, doubted: map[*host]bool{}, unheld: unheld{stale: true}, addresses: map[netip.Addr]*address{}, busy: map[*host]bool{},
		demanding: map[string]time.Duration{}, sweepAt: firstSweep, wake: make(chan struct{}),
		places: newPlaces(opt),
	}
	s.resting = newLine(func(a, b *host) bool { return s.due(a).Before(s.due(b)) })
	for p := range s.ready {
		s.ready[p] = newLine(nearer)
	}
	return s
}

// nearer says whether host a, both being due, is to be asked before b.
func nearer(a, b *host) bool {
	if a.first != b.first {
		return a.first
	}
	return cmp.Or(cmp.Compare(a.priority(), b.priority()), cmp.Compare(a.next(), b.next()), a.asked.Compare(b.asked)) < 0
}

// load takes up what is known of hosts before any is held.
func (s *schedule) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, spent := range s.opt.Spent {
		s.host(name).spent = spent
	}
}

// host returns what is known of a host, which may be nothing yet.
func (s *schedule) host(name string) *host {
	h := s.hosts[name]
	if h == nil {
		s.sweep()
		h = &host{name: name, most: s.opt.PerHost, delay: s.opt.Delay, dry: true}
		if slices.ContainsFunc(s.opt.Folders, func(f folder.Site) bool { return f.Host == name }) {
			h.folder, h.delay = true, 0
		}
		h.away = slices.Contains(s.opt.Away, name)
		s.hosts[name] = h
	}
	return h
}

// due is when a host's next URL may be started. A host of which nobody knows whether it has one is
// due at once: asking the frontier costs the host nothing, and the crawl may be over.
func (s *schedule) due(h *host) time.Time {
	if len(h.urls) == 0 && !h.sure {
		return time.Time{}
	}
	return h.rested(s.opt.MaxDelay)
}

// offer puts a host where it belongs: among those that are due, those that rest, those that wait
// for a place at their address, or nowhere if it cannot be asked. It is called after every change
// of a host.
func (s *schedule) offer(h *host) {
	full := h.at.full(s.opt.PerIP)
	if h.parked && !full {
		h.parked = false // its place in the line is passed over when it is reached
		s.parked--
	}
	switch {
	case h.claim == frontier.Claim{}, h.away, h.alone != "", h.leaving, h.taking, h.open >= h.atOnce(), h.unsent > 0 && h.delay > 0, h.turns > 0 && h.priority() >= lookAgainPriority, len(h.urls) == 0 && h.dry, !s.opt.HostBudget.allows(h.spent, h.open):
		h.spot.Leave()
	case full:
		s.park(h)
	case s.due(h).After(time.Now()):
		s.resting.Put(h)
	default:
		s.ready[h.pace()].Put(h)
	}
}

// firstSweep is how many hosts are known before any is forgotten.
const firstSweep = 4096

// sweep forgets the hosts that are idle, when there are twice as many as were left the last time.
func (s *schedule) sweep() {
	if len(s.hosts) < s.sweepAt {
		return
	}
	now := time.Now()
	for name, h := range s.hosts {
		if h.idle(now, s.opt.MaxDelay) {
			s.leaveAddress(h)
			delete(s.hosts, name)
		}
	}
	s.sweepAt = max(firstSweep, 2*len(s.hosts))
}

// changed wakes all who wait in next.
func (s *schedule) changed() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// next waits for a URL that may be fetched now, and begins its turn. The turn ends its request with
// one of answered, failed and unused, and then itself with finish; or both at once with putBack.
// next returns errFinished when nothing is left, and the error of ctx when that ends. One goroutine
// calls it.
func (s *schedule) next(ctx context.Context) (*turn, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		switch step := s.step(); {
		case step.turn != nil:
			return step.turn, nil
		case step.finished:
			return nil, errFinished
		case step.ask:
			err = s.claim(ctx, step.claim)
		case len(step.back) > 0:
			err = s.giveBack(ctx, step.back...)
		case len(step.takes) > 0:
			err = s.takeAll(ctx, step.takes)
		default:
			err = step.wait.sleep(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// A pause ends when something changed, or after a time if there is one.
type pause struct {
	wake <-chan struct{}
	most time.Duration // 0: any time
}

func (p pause) sleep(ctx context.Context) error {
	var timer <-chan time.Time
	if p.most > 0 {
		t := time.NewTimer(p.most)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-p.wake:
	case <-timer:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// rest lasts as long as the pause may, whatever changes.
func (p pause) rest(ctx context.Context) error {
	if p.most <= 0 {
		return ctx.Err()
	}
	return p.sleep(ctx)
}

// A taking is URLs of a host that are to be taken.
type taking struct {
	host  *host
	claim frontier.Claim // of the host
	urls  int
}

// takenAtOnce is of how many hosts URLs are taken at the same time, for the frontier may be far
// away.
const takenAtOnce = 32

// A step is what next has to do: hand out a turn, say that the crawl is over, claim hosts, return
// some, take URLs of one, or wait.
type step struct {
	turn     *turn
	finished bool
	ask      bool // the frontier for hosts
	claim    int  // how many
	back     []returning
	takes    []taking
	wait     pause
}

// step decides what next has to do, and begins the turn that is due if there is one.
func (s *schedule) step() step {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if back := s.goingBack(now); len(back) > 0 {
		return step{back: back}
	}
	if s.paused {
		return step{wait: pause{wake: s.wake}}
	}
	room := s.room()
	if room <= s.places.begun {
		return step{finished: s.places.begun == 0, wait: pause{wake: s.wake}}
	}
	if n, ask := s.claims(true, now); ask {
		return step{ask: true, claim: n}
	}
	for s.resting.Len() > 0 && !s.due(s.resting.First()).After(now) {
		s.offer(s.resting.First())
	}
	var takes []taking
	for h := s.firstReady(room); h != nil && len(takes) < takenAtOnce; h = s.firstReady(room) {
		switch now := time.Now(); { // offer looks at the clock too, and must not put back what is not due here
		case h.at.full(s.opt.PerIP), s.due(h).After(now):
			s.offer(h)
		case len(h.urls) == 0 && !s.toReturn(h, now):
			h.sure, h.stirred, h.taking = false, false, true
			takes = append(takes, taking{h, h.claim, min(max(takenMost/len(s.held), 1), takeBatch)})
			s.offer(h)
		case len(takes) > 0: // these come first
			return step{takes: takes}
		case len(h.urls) > 0:
			return step{turn: s.begin(h, now)}
		default:
			return step{back: []returning{s.letGo(h)}}
		}
	}
	if len(takes) > 0 {
		return step{takes: takes}
	}
	if n, ask := s.claims(false, now); ask {
		return step{ask: true, claim: n}
	}
	return s.wait(now)
}

// goingBack lets go of the hosts that may have to be returned since something changed.
func (s *schedule) goingBack(now time.Time) (back []returning) {
	for h := range s.doubted {
		if s.toReturn(h, now) {
			back = append(back, s.letGo(h))
		}
	}
	clear(s.doubted)
	return back
}

// firstReady is the host to be asked next, nil if there is none or no place for it when room turns
// may be under way.
func (s *schedule) firstReady(room int) *host {
	var first *host
	for p := range s.ready {
		ready := s.ready[p]
		if ready.Len() == 0 || !s.places.free(pace(p), room) {
			continue
		}
		if h := ready.First(); first == nil || pace(p) < failing && nearer(h, first) {
			first = h
		}
	}
	return first
}

// wait pauses as long as anything is under way or hoped for, here or elsewhere; else all is done.
func (s *schedule) wait(now time.Time) step {
	most := s.lookAgain(now)
	hope := s.places.begun > 0 || s.resting.Has((*host).hopeful)
	if s.resting.Len() > 0 {
		if rest := max(s.due(s.resting.First()).Sub(now), 1); most == 0 || rest < most {
			most = rest
		}
	}
	return step{finished: !hope && s.nothingLeft(), wait: pause{s.wake, most}}
}

// begin starts the first URL of a host.
func (s *schedule) begin(h *host, now time.Time) *turn {
	t := &turn{item: h.urls[0], host: h, claim: h.claim, began: now, before: h.asked, robots: h.robots, placed: h.located, place: s.places.take(h.pace())}
	h.urls, h.first = h.urls[1:], false
	h.ask(now)
	h.requests++
	t.requests = h.requests
	h.open++
	h.turns++
	h.unsent++
	if h.at != nil {
		h.at.open++
	}
	s.busy[h] = true
	s.offer(h)
	return t
}

// takeAll fills the lists of some hosts.
func (s *schedule) takeAll(ctx context.Context, takes []taking) error {
	var group errgroup.Group
	for _, t := range takes {
		group.Go(func() error { return s.take(ctx, t.host, t.claim, t.urls) })
	}
	return group.Wait()
}

// take fills a host's list from the frontier. While it asks, pages may lead to more URLs of the
// host, of which the frontier did not know yet.
func (s *schedule) take(ctx context.Context, h *host, c frontier.Claim, n int) error {
	urls, err := s.front.Take(ctx, c, n)
	s.mu.Lock()
	h.taking = false
	s.mu.Unlock()
	if errors.Is(err, frontier.ErrLost) {
		s.lose(c)
		return nil
	}
	if err != nil {
		return fmt.Errorf("take URLs of %s: %w", h.name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.claim != c {
		return nil // lost meanwhile
	}
	h.urls = append(h.urls, urls...)
	slices.SortStableFunc(h.urls, func(a, b frontier.Item) int { return cmp.Compare(a.Tries, b.Tries) }) // see backoff.go
	h.dry = len(urls) == 0 && !h.stirred
	s.doubt(h)
	s.offer(h)
	return nil
}

// doubt makes next ask whether a host is to be returned.
func (s *schedule) doubt(h *host) {
	if h.claim != (frontier.Claim{}) {
		s.doubted[h] = true
	}
}

// sent says that a request of a turn is on the wire. To look up a name, connect and shake hands can
// take longer than a rest, and if that counted from the beginning of the turn, the next request
// would follow at once on the same connection.
func (s *schedule) sent(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	h.asked, h.awaited = time.Now().Add(h.onTheWay(s.opt.MaxDelay)), t
	s.send(t)
	s.offer(h)
	s.changed()
}

// heard says that the answer to a request of a turn begins: it was there before.
func (s *schedule) heard(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, now := t.host, time.Now()
	if h.awaited != t || h.asked.Before(now) {
		return
	}
	h.ask(now)
	s.offer(h)
	s.changed()
}

func (s *schedule) send(t *turn) {
	if !t.sent {
		t.sent = true
		t.host.unsent--
	}
}

// free ends the request of a turn, so that its host can have another.
func (s *schedule) free(t *turn) {
	h := t.host
	h.spot.Leave() // what it is ordered by may have changed; others move before it has its new place
	s.send(t)
	s.places.answered(&t.place)
	h.open--
	if h.open == 0 {
		delete(s.busy, h)
	}
	s.vacate(h.at)
	s.offer(h)
	s.changed()
}

// answered ends the request of a turn: its host is well.
func (s *schedule) answered(t *turn, page *Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.host.well(page.Took)
	s.free(t)
}

// arrived says that what came of a turn is to be worked on.
func (s *schedule) arrived(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places.arrive(&t.place)
}

// unused ends a turn that made no request. Its host can be asked as if the turn had not begun.
func (s *schedule) unused(t *turn, _ *Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.unasked()
	s.free(t)
}

// unasked takes back that the host of a turn was asked, unless it was asked for something else
// since.
func (t *turn) unasked() {
	if t.host.requests == t.requests {
		t.host.asked = t.before
	}
}

// drop ends a turn whose host was lost before its request.
func (s *schedule) drop(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo(t)
}

// putBack undoes a turn if its host was asked for robots.txt, or answered that, since the turn
// began. Then the moment that the turn was given has passed, as has that of all others who waited
// for the same answer. putBack says whether it did.
func (s *schedule) putBack(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	if h.delay == 0 || h.robots == t.robots {
		return false
	}
	h.first = true
	s.undo(t)
	return true
}

// undo ends a turn as if it had not begun: its URL is the host's next.
func (s *schedule) undo(t *turn) {
	h := t.host
	if t.claim == h.claim {
		h.urls = append([]frontier.Item{t.item}, h.urls...)
	}
	t.unasked()
	s.free(t)
	s.leave(t)
}

// leave ends a turn.
func (s *schedule) leave(t *turn) {
	s.places.leave(&t.place)
	t.host.turns--
	s.doubt(t.host)
	s.offer(t.host)
}

// finish ends a turn when all that came of it is stored. hosts are those that may have got new URLs
// of that depth by it.
func (s *schedule) finish(t *turn, depth int, hosts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(t)
	for _, name := range hosts {
		h := s.hosts[name]
		if h == nil || h.claim == (frontier.Claim{}) {
			s.unheld.stale = true
			continue
		}
		if h.dry || depth < h.depth {
			h.depth = depth
		}
		h.dry, h.stirred = false, true
		s.offer(h)
	}
	s.changed()
}

// askRobots says that a request for robots.txt starts: what comes next from that host has to wait
// for its turn.
func (s *schedule) askRobots(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(name)
	h.ask(time.Now())
	h.requests++
	h.robots++
	s.offer(h)
}

// gotRobots says that the request for robots.txt has ended: with an answer, and how long that took,
// or without one.
func (s *schedule) gotRobots(name string, answered bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(name)
	h.robots++
	if answered && !h.answered {
		h.answered, h.robotsTook = true, took
	}
	s.offer(h)
}

// slow makes a host's delay what a robots.txt of it asks for, up to MaxDelay. A host can have two
// of them, of http and of https. The one that asks for more counts, and may later ask for less.
func (s *schedule) slow(h *host, origin string, asked time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.bounded(asked)
	if d < asked && !h.folder && len(s.demanding) < mostNamed {
		s.demanding[h.name] = asked
	}
	if d >= h.crawlDelay || h.teller == origin || h.teller == "" {
		h.teller = origin
		h.told(d, s.opt.Delay)
		s.offer(h)
	}
}

// bounded is a delay that a host asks for, as far as it is granted.
func (s *schedule) bounded(asked time.Duration) time.Duration {
	if s.opt.MaxDelay > 0 {
		return min(asked, s.opt.MaxDelay)
	}
	return asked
}

// hop waits until a host may be asked for a robots.txt that another URL redirected to, and counts
// that request.
func (s *schedule) hop(ctx context.Context, name string) error {
	s.mu.Lock()
	h := s.host(name)
	at := latest(h.rested(s.opt.MaxDelay), time.Now())
	if s.opt.Timeout > 0 && time.Until(at) > s.opt.Timeout {
		s.mu.Unlock()
		return &wire.TimeoutError{Limit: s.opt.Timeout} // others can use its place
	}
	h.ask(at) // those who come meanwhile wait after this one
	h.requests++
	h.robots++
	s.offer(h)
	s.mu.Unlock()
	return pause{most: time.Until(at)}.rest(ctx)
}

// mostNamed bounds the hosts that are remembered only to be named at the end.
const mostNamed = 1000

// waiting is how many hosts have URLs to fetch, now or later, or one in flight.
func (s *schedule) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.resting.Len() + s.parked + s.unheld.waiting
	for p := range s.ready {
		n += s.ready[p].Len()
	}
	for h := range s.busy {
		if h.spot.Line() == nil && !h.parked {
			n++
		}
	}
	return n
}

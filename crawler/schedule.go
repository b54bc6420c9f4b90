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
	"skink/internal/priority"
)

// errFinished: nothing is left to fetch.
var errFinished = errors.New("crawl is finished")

// takeBatch is how many URLs of one host are taken from the frontier in one call: enough to save a
// call for each page. takenMost bounds the URLs of all hosts in memory, some 10 MB.
const (
	takeBatch = 32
	takenMost = 1 << 16
)

// A schedule decides which URL is fetched next. Hosts that must rest wait in a line, ordered by the
// time of their next request, so that a resting host never delays others. Among the hosts that are
// due, the lowest priority number of the next URL comes first, then the smallest depth, then the
// host that has waited longest. Two kinds are exceptions. A host whose robots.txt was just
// requested comes first, so that the cache still has the answer. Hosts that did not answer the last
// time come last. See places.go for how many hosts of each pace may have requests at once.
//
// Many goroutines report the results of their turns; only one calls next. The lock is never held
// during a call of the frontier, because a slow disk would then block these reports.
type schedule struct {
	front  frontier.Frontier
	worker string // under which hosts are claimed
	opt    Options
	pages  func() int64   // pages in the store
	jitter func() float64 // from 0 to 1

	mu        sync.Mutex
	hosts     map[string]*host              // guarded by mu, with all they hold
	held      map[*host]bool                // guarded by mu: claimed by this schedule
	unheld    unheld                        // guarded by mu
	addresses map[netip.Addr]*address       // guarded by mu, with all they hold
	resting   *priority.Queue[*host]        // guarded by mu: hosts that may have URLs and a free connection, by the time they are due
	ready     [paces]*priority.Queue[*host] // guarded by mu: such hosts that are due, by pace
	places    places                        // guarded by mu
	parked    int                           // guarded by mu: hosts that wait for a place at their address
	busy      map[*host]bool                // guarded by mu: hosts with a request in flight
	bytes     int64                         // guarded by mu: total size of the bodies fetched
	sweepAt   int                           // guarded by mu: number of hosts at which sweep removes idle ones
	demanding map[string]time.Duration      // guarded by mu: the Crawl-delay of hosts that ask for more than MaxDelay
	doubted   map[*host]bool                // guarded by mu: hosts that may have to be returned
	wake      chan struct{}                 // guarded by mu: closed and renewed when something changed
	paused    bool                          // guarded by mu: no turn begins
}

// A turn is the permission to fetch one URL of a host.
type turn struct {
	item   frontier.Item
	host   *host
	claim  frontier.Claim // of the host
	began  time.Time
	before time.Time // the host's asked before this turn
	placed bool      // the host's address was known when the turn began
	sent   bool      // its request was sent, or one for its robots.txt
	place  place     // which places it holds

	requests, robots int // the host's counts when the turn began
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

// nearer reports whether host a comes before host b, when both are due.
func nearer(a, b *host) bool {
	if a.first != b.first {
		return a.first
	}
	return cmp.Or(cmp.Compare(a.priority(), b.priority()), cmp.Compare(a.next(), b.next()), a.asked.Compare(b.asked)) < 0
}

// load sets what each host has spent of its budget before this crawl.
func (s *schedule) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, spent := range s.opt.Spent {
		s.host(name).spent = spent
	}
}

// host returns the state of a host, and creates it if it does not exist.
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

// due returns when the next URL of a host may start. A host that may or may not have URLs is due at
// once: asking the frontier costs the host nothing, and the crawl may be over.
func (s *schedule) due(h *host) time.Time {
	if len(h.urls) == 0 && !h.sure {
		return time.Time{}
	}
	return h.rested(s.opt.MaxDelay)
}

// offer puts a host into the right line: hosts that are due, hosts that rest, or hosts that wait
// for a place at their address. A host that cannot be asked leaves its line. Call offer after every
// change of a host.
func (s *schedule) offer(h *host) {
	full := h.at.full(s.opt.PerIP)
	if h.parked && !full {
		h.parked = false // vacate skips its entry in the line
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

// firstSweep is the number of hosts in memory at which sweep first removes idle ones.
const firstSweep = 4096

// sweep removes idle hosts when the number of hosts has doubled since the last sweep.
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

// changed wakes the goroutine that waits in next.
func (s *schedule) changed() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// next waits for a URL that may be fetched now, and begins its turn. The caller ends the request of
// the turn with answered, failed or unused, and then the turn itself with finish; putBack does
// both. next returns errFinished when nothing is left, and the error of ctx when that ends. Only
// one goroutine may call it.
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

// A pause ends when the schedule changes, or after the time most.
type pause struct {
	wake <-chan struct{}
	most time.Duration // 0: no limit
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

// rest waits for the time most, or until ctx ends. The caller leaves wake nil.
func (p pause) rest(ctx context.Context) error {
	if p.most <= 0 {
		return ctx.Err()
	}
	return p.sleep(ctx)
}

// A taking is a call that fetches URLs of a host from the frontier.
type taking struct {
	host  *host
	claim frontier.Claim // of the host
	urls  int
}

// takenAtOnce is for how many hosts URLs are taken at the same time, because a call of the frontier
// may be slow.
const takenAtOnce = 32

// A step is one action of next: hand out a turn, say that the crawl is over, claim hosts, return
// hosts, take URLs, or wait.
type step struct {
	turn     *turn
	finished bool
	ask      bool // ask the frontier for hosts
	claim    int  // how many
	back     []returning
	takes    []taking
	wait     pause
}

// step decides what next does, and begins a turn if one is due.
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
		switch now := time.Now(); { // read the clock again, so that offer agrees on which hosts are due
		case h.at.full(s.opt.PerIP), s.due(h).After(now):
			s.offer(h)
		case len(h.urls) == 0 && !s.toReturn(h, now):
			h.sure, h.stirred, h.taking = false, false, true
			takes = append(takes, taking{h, h.claim, min(max(takenMost/len(s.held), 1), takeBatch)})
			s.offer(h)
		case len(takes) > 0: // take URLs before a turn begins
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

// goingBack checks the doubted hosts and lets go of those that must be returned.
func (s *schedule) goingBack(now time.Time) (back []returning) {
	for h := range s.doubted {
		if s.toReturn(h, now) {
			back = append(back, s.letGo(h))
		}
	}
	clear(s.doubted)
	return back
}

// firstReady returns the next host to ask. It returns nil if there is none, or if no place is free
// for it when at most room turns may be under way.
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

// wait returns a step that waits, or one that ends the crawl if nothing is under way and nothing is
// worth waiting for, here or at other workers.
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

// takeAll takes URLs for several hosts at once.
func (s *schedule) takeAll(ctx context.Context, takes []taking) error {
	var group errgroup.Group
	for _, t := range takes {
		group.Go(func() error { return s.take(ctx, t.host, t.claim, t.urls) })
	}
	return group.Wait()
}

// take adds up to n URLs from the frontier to a host's list. During the call, stored pages may add
// more URLs of the host to the frontier; h.stirred says so.
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
		return nil // the claim was lost during the call
	}
	h.urls = append(h.urls, urls...)
	slices.SortStableFunc(h.urls, func(a, b frontier.Item) int { return cmp.Compare(a.Tries, b.Tries) }) // see backoff.go
	h.dry = len(urls) == 0 && !h.stirred
	s.doubt(h)
	s.offer(h)
	return nil
}

// doubt makes next check whether a host must be returned.
func (s *schedule) doubt(h *host) {
	if h.claim != (frontier.Claim{}) {
		s.doubted[h] = true
	}
}

// sent records that a request of a turn was written to the connection. A DNS look-up, connecting
// and the TLS handshake can take longer than the host's rest. If the rest counted from the
// beginning of the turn, the next request would follow at once on the same connection.
func (s *schedule) sent(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := t.host
	h.asked, h.awaited = time.Now().Add(h.onTheWay(s.opt.MaxDelay)), t
	s.send(t)
	s.offer(h)
	s.changed()
}

// heard records that the answer to a request of a turn begins, so the request had arrived.
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

// free ends the request of a turn, so that its host can have another request.
func (s *schedule) free(t *turn) {
	h := t.host
	h.spot.Leave() // its key in the line may have changed, and vacate moves other hosts before it is put back
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

// answered ends the request of a turn that the host answered.
func (s *schedule) answered(t *turn, page *Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.host.well(page.Took)
	s.free(t)
}

// arrived counts the page of a turn among those that wait for a worker.
func (s *schedule) arrived(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places.arrive(&t.place)
}

// unused ends the request of a turn that made none. The host's rest counts as if the turn had not
// begun.
func (s *schedule) unused(t *turn, _ *Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.unasked()
	s.free(t)
}

// unasked resets the time of the host's last request to that before the turn, unless another
// request has started since.
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
// began. The time slot of the turn has then passed, as have those of other turns that waited for
// the same answer. putBack reports whether it undid the turn.
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

// undo ends a turn as if it had not begun: its URL is the host's next one again.
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

// finish ends a turn when its results are stored. Its page may have added URLs of the given depth
// to the given hosts.
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

// askRobots records that a request for robots.txt starts: the next request to that host must wait
// for its rest.
func (s *schedule) askRobots(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(name)
	h.ask(time.Now())
	h.requests++
	h.robots++
	s.offer(h)
}

// gotRobots records that a request for robots.txt has ended, whether it was answered, and how long
// it took.
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

// slow sets a host's delay to that in its robots.txt, up to MaxDelay. A host can have two such
// files, for http and for https. The longer delay counts, and only the file that set it can reduce
// it.
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

// bounded returns the delay that a host asks for, at most MaxDelay.
func (s *schedule) bounded(asked time.Duration) time.Duration {
	if s.opt.MaxDelay > 0 {
		return min(asked, s.opt.MaxDelay)
	}
	return asked
}

// hop waits until a host may have a request that does not come from a turn, such as the target of a
// redirected robots.txt, and counts that request. It fails if the wait would take longer than
// Options.Timeout, or when ctx ends.
func (s *schedule) hop(ctx context.Context, name string) error {
	s.mu.Lock()
	h := s.host(name)
	at := latest(h.rested(s.opt.MaxDelay), time.Now())
	if s.opt.Timeout > 0 && time.Until(at) > s.opt.Timeout {
		s.mu.Unlock()
		return &wire.TimeoutError{Limit: s.opt.Timeout} // do not hold the place on the network for so long
	}
	h.ask(at) // later requests wait until after this one
	h.requests++
	h.robots++
	s.offer(h)
	s.mu.Unlock()
	return pause{most: time.Until(at)}.rest(ctx)
}

// mostNamed bounds the hosts that are kept only for the report at the end.
const mostNamed = 1000

// waiting returns the number of hosts that have URLs to fetch, now or later, or one in flight.
func (s *schedule) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.resting.Len() + s.parked + s.unheld.waiting
	for p := range s.ready {
		n += s.ready[p].Len()
	}
	for h := range s.busy {
		if h.spot.Queue() == nil && !h.parked {
			n++
		}
	}
	return n
}

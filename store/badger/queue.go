package badger

import (
	"cmp"
	"slices"
	"time"

	"skink/base/priority"
	"skink/frontier"
)

// A queue is the part of the frontier that is in memory. For each host and level, it records how
// many URLs can be handed out and the position of the first of them. It also records which worker
// has claimed each host. The URLs themselves are on disk, in the order in which they will be
// fetched.
//
// A URL that is new or released is added at the end of its level, and workers get URLs from the
// front. So each level has a border: the URLs before the border have been handed out or are
// finished, and the URLs after it are available. To hand out URLs, the store seeks to the border,
// so it does not read the deleted keys of finished URLs. When a claim ends, each border moves back
// to the first URL that was handed out and is not finished.
//
// URLs that are due later are under different keys on disk, ordered by time. After such a URL has
// become due, [Store.ripen] moves it to the end of its level. It does so when hosts are claimed,
// and when URLs of that host are handed out. A queue knows how many such URLs a host has, and when
// the first of them is due.
//
// Claims exist only in memory. A single process has the store open, so claims end with the process.
type queue struct {
	hosts map[string]*waitingHost // hosts that have pending URLs, are claimed, or must not be sent requests yet, by name
	seq   uint64                  // number of the last URL queued; numbers ascend in order of arrival

	runs runQueue

	claims  frontier.Claims
	due     *priority.Queue[*waitingHost] // hosts that can be claimed, nearest to a seed first
	resting *priority.Queue[*waitingHost] // hosts with URLs that cannot be claimed yet, ordered by the time at which they can be claimed
	cooling *priority.Queue[*waitingHost] // hosts without URLs, kept because no request may be sent to them yet
	waiting int                           // number of unclaimed hosts that have URLs to hand out and are not idle; see frontier.Rest
	later   map[*waitingHost]bool
	ripens  int64 // earliest due time of the hosts in later, or a time before it, in nanoseconds since 1970; 0 means that there are none
}

// A position is where a URL stands in its host's queue.
type position struct {
	level level
	seq   uint64 // number of the URL in order of arrival
	due   int64  // time before which the URL must not be fetched, in nanoseconds since 1970; 0 means now
}

// A level combines a priority and a depth in one number, with the signed priority in the upper
// half.
type level int64

const usualPrio = -frontier.SoonestPriority

func levelOf(it *frontier.Item) level {
	prio := min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority)
	return levelAt(byte(prio+usualPrio), uint64(max(it.Depth, 0)))
}

// levelAt returns the level of a depth and a priority. prio is the byte that represents the
// priority in keys.
func levelAt(prio byte, depth uint64) level {
	return (level(prio)-usualPrio)<<32 | level(uint32(depth))
}

func (l level) priority() int { return int(l >> 32) }
func (l level) prio() byte    { return byte(l.priority() + usualPrio) }
func (l level) depth() int    { return int(uint32(l)) }

type waitingHost struct {
	name    string
	pending int // URLs that are available, due later, or handed out to a worker
	lanes   []lane
	later   int
	first   int64 // time before which none of the later URLs is due, in nanoseconds since 1970
	taken   map[position]bool
	rest    frontier.Rest
	held    bool // whether a worker has claimed the host

	spot    priority.Spot[*waitingHost]
	counted bool // whether queue.waiting counts the host
}

// A lane is the queue of the URLs of one host that have the same level.
type lane struct {
	level   level
	waiting int    // URLs that are not handed out to a worker
	next    uint64 // place.seq of the first URL that is not handed out to a worker
}

func newQueue() queue {
	spot := func(h *waitingHost) *priority.Spot[*waitingHost] { return &h.spot }
	byDue := func(a, b *waitingHost) bool { return a.due().Before(b.due()) }
	byLevel := func(a, b *waitingHost) bool {
		return cmp.Or(cmp.Compare(a.level(), b.level()), a.due().Compare(b.due()), cmp.Compare(a.name, b.name)) < 0
	}
	return queue{
		runs:  runQueue{left: map[uint64]int{}, taken: map[uint64]inRun{}},
		hosts: map[string]*waitingHost{}, later: map[*waitingHost]bool{},
		due: priority.New(byLevel, spot), resting: priority.New(byDue, spot), cooling: priority.New(byDue, spot),
	}
}

func (q *queue) open(name string, rest frontier.Rest) *waitingHost {
	h := &waitingHost{name: name, rest: rest, taken: map[position]bool{}}
	q.hosts[name] = h
	return h
}

// push counts a new pending URL of a host that is in the queue, and returns the URL's position: the
// end of level l, or, if due is not 0, among the URLs that are due later. The caller stores the URL
// under the key of that position.
func (q *queue) push(host string, l level, due int64) position {
	q.seq++
	p := position{l, q.seq, due}
	q.add(q.hosts[host], p)
	q.offer(q.hosts[host])
	return p
}

// load counts a pending URL that was read from disk while the store is being opened. The URLs of a
// level may be loaded in any order.
func (q *queue) load(host string, p position) {
	h := q.hosts[host]
	if h == nil {
		h = q.open(host, frontier.Rest{})
	}
	q.add(h, p)
	if p.due == 0 {
		l := h.lane(p.level, p.seq)
		l.next = min(l.next, p.seq)
	}
	q.seq = max(q.seq, p.seq)
}

// add counts a URL that can be handed out now, or is due later.
func (q *queue) add(h *waitingHost, p position) {
	h.pending++
	if p.due == 0 {
		h.lane(p.level, p.seq).waiting++
		return
	}
	if h.later++; h.later == 1 || p.due < h.first {
		h.first = p.due
	}
	if q.later[h] = true; q.ripens == 0 || h.first < q.ripens {
		q.ripens = h.first
	}
}

// remove subtracts a URL that is no longer pending from the counts of its host.
func (q *queue) remove(host string, p position) {
	h := q.hosts[host]
	h.pending--
	if p.due != 0 {
		if h.later--; h.later == 0 {
			delete(q.later, h)
		}
	} else if h.taken[p] {
		delete(h.taken, p)
	} else if i, found := h.find(p.level); found {
		h.lanes[i].waiting--
	}
	h.drop()
	q.offer(h)
}

// ripe returns the hosts with URLs that may have become due. It scans the hosts only if there may
// be such URLs.
func (q *queue) ripe(now time.Time) (hosts []*waitingHost) {
	ns := now.UnixNano()
	if q.ripens == 0 || ns < q.ripens {
		return nil
	}
	q.ripens = 0
	for h := range q.later {
		if h.first <= ns {
			hosts = append(hosts, h)
		} else if q.ripens == 0 || h.first < q.ripens {
			q.ripens = h.first
		}
	}
	return hosts
}

// ripensAt records when the first of the later URLs of h is due.
func (q *queue) ripensAt(h *waitingHost, due int64) {
	h.first = due
	if q.ripens == 0 || due < q.ripens {
		q.ripens = due
	}
	q.offer(h)
}

// offer moves a host to the right queue (due, resting or cooling), or removes it from all three. It
// must be called after every change to the host.
func (q *queue) offer(h *waitingHost) {
	now := time.Now()
	q.count(h, !h.held && h.free() && !h.rest.Idle)
	switch rests := h.due().After(now); {
	case h.held:
		h.spot.Leave()
	case !h.free() && h.later > 0:
		q.resting.Put(h)
	case !h.free() && h.pending > 0:
		h.spot.Leave()
	case h.pending == 0 && rests:
		q.cooling.Put(h)
	case h.pending == 0:
		h.spot.Leave()
		delete(q.hosts, h.name)
	case rests:
		q.resting.Put(h)
	default:
		q.due.Put(h)
	}
}

// count makes queue.waiting include h if counts is true, and exclude it otherwise.
func (q *queue) count(h *waitingHost, counts bool) {
	if counts == h.counted {
		return
	}
	h.counted = counts
	if counts {
		q.waiting++
	} else {
		q.waiting--
	}
}

func (q *queue) claim(worker string, n int, now time.Time, ttl time.Duration, preferred []string) (g frontier.Grant) {
	q.expire(now)
	for _, resting := range []*priority.Queue[*waitingHost]{q.resting, q.cooling} {
		for resting.Len() > 0 && !resting.First().due().After(now) {
			q.offer(resting.First())
		}
	}
	for ; n > 0 && q.due.Len() > 0; n-- {
		h := q.due.First()
		isDue := func(host string) bool { return q.hosts[host] != nil && q.hosts[host].spot.Queue() == q.due }
		if i := slices.IndexFunc(preferred, isDue); i >= 0 {
			h = q.hosts[preferred[i]]
		}
		h.held = true
		q.offer(h)
		g.Hosts = append(g.Hosts, frontier.Held{Claim: q.claims.Begin(h.name, worker, now.Add(ttl)), Host: h.host()})
	}
	g.Others, g.Waiting = q.claims.Others(worker), q.waiting
	g.Share, g.Workers = q.claims.Share(worker, q.waiting, now)
	switch {
	case q.due.Len() > 0:
		g.Next = now
	case q.resting.Len() > 0:
		g.Next = q.resting.First().due()
	}
	return g
}

// free makes the URLs of h that were handed out available again. It is called after the claim on the
// host has ended.
func (q *queue) free(h *waitingHost) {
	h.held = false
	for p := range h.taken {
		l := h.lane(p.level, p.seq)
		l.waiting++
		l.next = min(l.next, p.seq)
	}
	clear(h.taken)
	q.offer(h)
}

func (q *queue) expire(now time.Time) {
	for _, host := range q.claims.Expire(now) {
		q.free(q.hosts[host])
	}
}

// holder returns the host of a claim, or an error if the claim has ended.
func (q *queue) holder(c frontier.Claim) (*waitingHost, error) {
	q.expire(time.Now())
	if err := q.claims.Check(c); err != nil {
		return nil, err
	}
	return q.hosts[c.Host], nil
}

// due returns the earliest time at which the host has a URL to hand out and a request is allowed.
func (h *waitingHost) due() time.Time {
	due := h.rest.Due()
	if first := time.Unix(0, h.first); !h.free() && h.later > 0 && first.After(due) {
		due = first
	}
	return due
}

func (h *waitingHost) host() frontier.Host {
	return frontier.Host{Name: h.name, Pending: h.pending, Depth: h.level().depth(), Rest: h.rest}
}

// free reports whether the host has a URL that can be handed out now: one that has not been handed
// out yet and is not due later.
func (h *waitingHost) free() bool { return len(h.lanes) > 0 }

// drop removes the lanes without a URL that can be handed out. Otherwise, in a crawler trap a
// hundred thousand links deep, each Take would scan as many lanes.
func (h *waitingHost) drop() {
	h.lanes = slices.DeleteFunc(h.lanes, func(l lane) bool { return l.waiting == 0 })
}

// find returns the index of the lane with the given level, or the index at which to insert it.
func (h *waitingHost) find(at level) (int, bool) {
	return slices.BinarySearchFunc(h.lanes, at, func(l lane, at level) int { return cmp.Compare(l.level, at) })
}

// level returns the level of the first URL that can be handed out, or 0 if there is none.
func (h *waitingHost) level() level {
	if len(h.lanes) == 0 {
		return 0
	}
	return h.lanes[0].level
}

// lane returns the lane with the given level. If there is none, it adds one that begins at seq.
func (h *waitingHost) lane(at level, seq uint64) *lane {
	i, found := h.find(at)
	if !found {
		h.lanes = slices.Insert(h.lanes, i, lane{level: at, next: seq})
	}
	return &h.lanes[i]
}

package badger

import (
	"cmp"
	"slices"
	"time"

	"skink/frontier"
	"skink/internal/priority"
)

// A queue is the part of the frontier that is in memory. For each host and level it knows how many
// URLs are free and where the first of them is. For each host it knows the holder. The URLs
// themselves are on disk, in the order in which they will be taken.
//
// A URL comes to the end of its level, whether it is new or released, and is taken from the front.
// So each level has one border: the URLs before it are taken or have ended, and those after it are
// free. To take URLs, the store seeks to the border, and so passes over none of the deleted keys of
// URLs that have ended. When a claim ends, the borders go back to the first URL that was taken and
// has not ended.
//
// URLs that are due later are elsewhere on disk, ordered by time. When one is due, it is moved to
// the end of its level as soon as hosts are claimed or URLs of its host are taken, see
// [Store.ripen]. A queue knows how many such URLs a host has, and when the first of them is due.
//
// Claims are in memory only. One process has the store, so claims end with the process.
type queue struct {
	hosts map[string]*waitingHost // hosts that have pending URLs, are held, or may not be asked yet
	seq   uint64                  // number of the last URL that was queued; numbers ascend in the order of arrival

	claims  frontier.Claims
	due     *priority.Queue[*waitingHost] // hosts that can be claimed, nearest to a seed first
	resting *priority.Queue[*waitingHost] // hosts that cannot be claimed yet, in the order of when they can; also those whose URLs are all due later
	cooling *priority.Queue[*waitingHost] // hosts without URLs, which are remembered because they may not be asked yet
	waiting int                           // hosts in due and resting that are not idle
	later   map[*waitingHost]bool         // hosts with URLs that are due later
	ripens  int64                         // no URL of those hosts is due before this, in nanoseconds since 1970; 0: there are none
}

// A place is the place of a URL in the queue of its host.
type place struct {
	level level  // priority and depth of the URL
	seq   uint64 // order of arrival
	due   int64  // before when the URL must not be taken, in nanoseconds since 1970; 0: it can be taken at once
}

// A level is priority and depth as one number. The priority, which is signed, is in the upper half.
type level int64

// usualPrio is the byte in keys for priority 0.
const usualPrio = -frontier.SoonestPriority

func levelOf(it *frontier.Item) level {
	prio := min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority)
	return levelAt(byte(prio+usualPrio), uint64(max(it.Depth, 0)))
}

// levelAt returns the level of a depth and of a priority as keys encode it.
func levelAt(prio byte, depth uint64) level {
	return (level(prio)-usualPrio)<<32 | level(uint32(depth))
}

func (l level) priority() int { return int(l >> 32) }
func (l level) prio() byte    { return byte(l.priority() + usualPrio) }
func (l level) depth() int    { return int(uint32(l)) }

type waitingHost struct {
	name    string
	pending int // URLs that are free, due later or taken
	lanes   []lane
	later   int   // URLs that are due later
	first   int64 // the first of those is not due before this, in nanoseconds since 1970
	taken   map[place]bool
	rest    frontier.Rest
	held    bool // whether a worker has claimed the host

	spot    priority.Spot[*waitingHost]
	counted bool // whether queue.waiting counts the host
}

// A lane is the queue of one host and level.
type lane struct {
	level   level
	waiting int    // URLs that are free
	next    uint64 // the seq from which on URLs are free
}

func newQueue() queue {
	spot := func(h *waitingHost) *priority.Spot[*waitingHost] { return &h.spot }
	byDue := func(a, b *waitingHost) bool { return a.due().Before(b.due()) }
	byLevel := func(a, b *waitingHost) bool {
		return cmp.Or(cmp.Compare(a.level(), b.level()), a.due().Compare(b.due()), cmp.Compare(a.name, b.name)) < 0
	}
	return queue{
		hosts: map[string]*waitingHost{}, later: map[*waitingHost]bool{},
		due: priority.New(byLevel, spot), resting: priority.New(byDue, spot), cooling: priority.New(byDue, spot),
	}
}

// open adds a host without URLs. rest says when it may be asked again.
func (q *queue) open(name string, rest frontier.Rest) *waitingHost {
	h := &waitingHost{name: name, rest: rest, taken: map[place]bool{}}
	q.hosts[name] = h
	return h
}

// push counts a new pending URL of a host that is in the queue, and returns the URL's place: the end of
// level l, or among the URLs due later if due is not 0. The caller stores the URL at that place.
func (q *queue) push(host string, l level, due int64) place {
	q.seq++
	p := place{l, q.seq, due}
	q.add(q.hosts[host], p)
	q.offer(q.hosts[host])
	return p
}

// load counts a pending URL that was read from disk when the store is opened. The URLs of a level must
// be loaded in ascending order of their places.
func (q *queue) load(host string, p place) {
	h := q.hosts[host]
	if h == nil {
		h = q.open(host, frontier.Rest{})
	}
	q.add(h, p)
	q.seq = max(q.seq, p.seq)
}

// add counts a URL that is free, or due later.
func (q *queue) add(h *waitingHost, p place) {
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

// remove subtracts the URL at place p from the counts of its host, because it is no longer pending.
func (q *queue) remove(host string, p place) {
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

// ripe returns the hosts that may have URLs that have come due. It scans the hosts only if one of
// them may.
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

// ripensAt records when the first of the URLs of a host that are due later is due.
func (q *queue) ripensAt(h *waitingHost, due int64) {
	h.first = due
	if q.ripens == 0 || due < q.ripens {
		q.ripens = due
	}
	q.offer(h)
}

// offer puts a host into the one of the queues due, resting and cooling to which it belongs, or into
// none. It must be called after every change of the host.
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

// count adds a host to queue.waiting, or removes it, so that it is counted if and only if counts is true.
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

// claim gives up to n hosts to a worker.
func (q *queue) claim(worker string, n int, now time.Time, ttl time.Duration) (g frontier.Grant) {
	q.expire(now)
	for _, resting := range []*priority.Queue[*waitingHost]{q.resting, q.cooling} {
		for resting.Len() > 0 && !resting.First().due().After(now) {
			q.offer(resting.First())
		}
	}
	for ; n > 0 && q.due.Len() > 0; n-- {
		h := q.due.First()
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

// free makes the taken URLs of a host free again. It is called when the claim on the host has
// ended.
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

// expire ends the claims that were not renewed in time.
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

// due returns the earliest time at which the host may be asked again and also has a URL that can be
// taken.
func (h *waitingHost) due() time.Time {
	due := h.rest.Due()
	if first := time.Unix(0, h.first); !h.free() && h.later > 0 && first.After(due) {
		due = first
	}
	return due
}

// host returns the description of h for callers of the store.
func (h *waitingHost) host() frontier.Host {
	return frontier.Host{Name: h.name, Pending: h.pending, Depth: h.level().depth(), Rest: h.rest}
}

// free reports whether the host has a URL that can be taken now: neither taken nor due later.
func (h *waitingHost) free() bool { return len(h.lanes) > 0 }

// drop forgets the lanes in which nothing is free. Without it, a trap of a hundred thousand depths
// would make each Take look at as many lanes.
func (h *waitingHost) drop() {
	h.lanes = slices.DeleteFunc(h.lanes, func(l lane) bool { return l.waiting == 0 })
}

// find returns the index of the lane of a level, or the index where it would be.
func (h *waitingHost) find(at level) (int, bool) {
	return slices.BinarySearchFunc(h.lanes, at, func(l lane, at level) int { return cmp.Compare(l.level, at) })
}

// level returns the level of the first free URL, 0 if there is none.
func (h *waitingHost) level() level {
	if len(h.lanes) == 0 {
		return 0
	}
	return h.lanes[0].level
}

// lane returns the lane of a level. If there is no such lane, it makes one that begins at seq.
func (h *waitingHost) lane(at level, seq uint64) *lane {
	i, found := h.find(at)
	if !found {
		h.lanes = slices.Insert(h.lanes, i, lane{level: at, next: seq})
	}
	return &h.lanes[i]
}

package badger

import (
	"cmp"
	"slices"
	"time"

	"skink/frontier"
	"skink/internal/line"
)

// A queue is what is in memory of the URLs that are pending: for each host and
// level how many are free, and where the first of them is, and who holds the host.
// The URLs themselves are on disk, in the order in which they will be taken.
//
// A URL comes to the end of its level, whether it is new or released, and is
// taken from the front. So in each level there is one border: what is before it
// is taken or ended, what is after it is free. Taking URLs needs to seek to the
// border only, over none of the deleted keys of URLs that have ended. When a claim
// ends, the borders go back to the first URL that was taken and has not ended.
//
// URLs that are due later are elsewhere on disk, by when they are. Each comes to the
// end of its level when its host is claimed or asked after that moment, see
// [Store.ripen]. Of those a queue knows how many a host has, and when the first is due.
//
// Claims are in memory only: one process has the store, so they end with it.
type queue struct {
	hosts map[string]*waitingHost // those with URLs pending, held, or not to be asked yet
	seq   uint64                  // of the last URL that was queued

	claims  frontier.Claims
	due     *line.Line[*waitingHost] // hosts that can be claimed, nearest to a seed first
	resting *line.Line[*waitingHost] // hosts that cannot be claimed yet, by when they can, those too whose URLs are all due later
	cooling *line.Line[*waitingHost] // hosts without URLs that are remembered because they must not be asked yet
	waiting int                      // of due and resting: those that are not idle
	later   map[*waitingHost]bool    // hosts with URLs that are due later
	ripens  int64                    // none of those is due before, in nanoseconds since 1970; 0: there are none
}

// A place is where in its host's queue a URL is.
type place struct {
	level level
	seq   uint64
	due   int64 // not 0: it is among those that are due later, and this is when, in nanoseconds since 1970
}

// A level is priority and depth as one number: the priority, signed, in the upper half.
type level int64

// usualPrio is the byte of priority 0 in keys.
const usualPrio = -frontier.SoonestPriority

func levelOf(it *frontier.Item) level {
	prio := min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority)
	return levelAt(byte(prio+usualPrio), uint64(max(it.Depth, 0)))
}

// levelAt is the level of a priority as it stands in keys, and a depth.
func levelAt(prio byte, depth uint64) level {
	return (level(prio)-usualPrio)<<32 | level(uint32(depth))
}

func (l level) priority() int { return int(l >> 32) }
func (l level) prio() byte    { return byte(l.priority() + usualPrio) }
func (l level) depth() int    { return int(uint32(l)) }

type waitingHost struct {
	name    string
	pending int // free, due later or taken
	lanes   []lane
	later   int   // URLs that are due later
	first   int64 // when the first of those is, or was: nanoseconds since 1970
	taken   map[place]bool
	rest    frontier.Rest
	held    bool // by a worker

	spot    line.Spot[*waitingHost]
	counted bool // in waiting
}

// A lane is the queue of one host and level.
type lane struct {
	level   level
	waiting int    // URLs that are free
	next    uint64 // seq from which on they are
}

func newQueue() queue {
	spot := func(h *waitingHost) *line.Spot[*waitingHost] { return &h.spot }
	byDue := func(a, b *waitingHost) bool { return a.due().Before(b.due()) }
	byLevel := func(a, b *waitingHost) bool {
		return cmp.Or(cmp.Compare(a.level(), b.level()), a.due().Compare(b.due()), cmp.Compare(a.name, b.name)) < 0
	}
	return queue{
		hosts: map[string]*waitingHost{}, later: map[*waitingHost]bool{},
		due: line.New(byLevel, spot), resting: line.New(byDue, spot), cooling: line.New(byDue, spot),
	}
}

// open remembers a host of which nothing was known but its rest.
func (q *queue) open(name string, rest frontier.Rest) *waitingHost {
	h := &waitingHost{name: name, rest: rest, taken: map[place]bool{}}
	q.hosts[name] = h
	return h
}

// push counts a URL at the end of a level of a host that is in the queue, or among
// those of it that are due later, and says where that is.
func (q *queue) push(host string, l level, due int64) place {
	q.seq++
	p := place{l, q.seq, due}
	q.add(q.hosts[host], p)
	q.offer(q.hosts[host])
	return p
}

// load counts a URL that was found on disk. Those of a level come in their order.
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

// remove forgets a URL, free, due later or taken.
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

// ripe lists the hosts that may have URLs whose time has come. It looks only when one
// may.
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

// ripensAt says when the first of a host's URLs that are due later is.
func (q *queue) ripensAt(h *waitingHost, due int64) {
	h.first = due
	if q.ripens == 0 || due < q.ripens {
		q.ripens = due
	}
	q.offer(h)
}

// offer puts a host where it belongs. It is called after every change of a host.
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

// count says whether a host is one that somebody may wait for.
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
	for _, resting := range []*line.Line[*waitingHost]{q.resting, q.cooling} {
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
	switch {
	case q.due.Len() > 0:
		g.Next = now
	case q.resting.Len() > 0:
		g.Next = q.resting.First().due()
	}
	return g
}

// free makes what was taken of a host free again, when the claim on it has ended.
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

// holder returns the host of a claim, if that has not ended.
func (q *queue) holder(c frontier.Claim) (*waitingHost, error) {
	q.expire(time.Now())
	if err := q.claims.Check(c); err != nil {
		return nil, err
	}
	return q.hosts[c.Host], nil
}

// due is when a host may be asked again, and has something to be asked for.
func (h *waitingHost) due() time.Time {
	due := h.rest.Due()
	if first := time.Unix(0, h.first); !h.free() && h.later > 0 && first.After(due) {
		due = first
	}
	return due
}

// host describes a host.
func (h *waitingHost) host() frontier.Host {
	return frontier.Host{Name: h.name, Pending: h.pending, Depth: h.level().depth(), Rest: h.rest}
}

// free says whether any URL of a host is.
func (h *waitingHost) free() bool { return len(h.lanes) > 0 }

// drop forgets the lanes in which nothing is free: a trap of a hundred thousand
// depths must not make each taking look at all of them.
func (h *waitingHost) drop() {
	h.lanes = slices.DeleteFunc(h.lanes, func(l lane) bool { return l.waiting == 0 })
}

// find returns the place of a level's lane, or where it would be.
func (h *waitingHost) find(at level) (int, bool) {
	return slices.BinarySearchFunc(h.lanes, at, func(l lane, at level) int { return cmp.Compare(l.level, at) })
}

// level is that of the first URL that is free, 0 if none is.
func (h *waitingHost) level() level {
	if len(h.lanes) == 0 {
		return 0
	}
	return h.lanes[0].level
}

// lane returns the lane of a level, and begins it at seq if nothing is free there.
func (h *waitingHost) lane(at level, seq uint64) *lane {
	i, found := h.find(at)
	if !found {
		h.lanes = slices.Insert(h.lanes, i, lane{level: at, next: seq})
	}
	return &h.lanes[i]
}

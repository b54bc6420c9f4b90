package badger

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"skink/frontier"
)

// A queue is what is in memory of the URLs that are pending: for each host and
// depth how many are free, and where the first of them is, and who holds the host.
// The URLs themselves are on disk, in the order in which they will be taken.
//
// A URL comes to the end of its depth, whether it is new or released, and is
// taken from the front. So in each depth there is one border: what is before it
// is taken or ended, what is after it is free. Taking URLs needs to seek to the
// border only, over none of the deleted keys of URLs that have ended. When a claim
// ends, the borders go back to the first URL that was taken and has not ended.
//
// Claims are in memory only: one process has the store, so they end with it.
type queue struct {
	hosts map[string]*waitingHost // those with URLs pending, held, or not to be asked yet
	seq   uint64                  // of the last URL that was queued
	token uint64                  // of the last claim

	due     hostHeap              // hosts that can be claimed, nearest to a seed first
	resting hostHeap              // hosts that cannot be claimed yet, by when they can
	cooling hostHeap              // hosts without URLs that are remembered because they must not be asked yet
	waiting int                   // of due and resting: those that are not idle
	held    map[*waitingHost]bool // hosts that a worker holds
	holders map[string]int        // how many of them each worker holds
	expires time.Time             // no claim ends before
}

// A place is where in its host's queue a URL is.
type place struct {
	depth uint32
	seq   uint64
}

type waitingHost struct {
	name    string
	pending int // free or taken
	lanes   []lane
	taken   map[place]bool
	rest    frontier.Rest
	claim   frontier.Claim // zero: nobody holds it
	until   time.Time      // when the claim ends

	heap    *hostHeap // the one it is in; nil: in none
	index   int       // in it
	counted bool      // in waiting
}

// A lane is the queue of one host and depth.
type lane struct {
	depth   uint32
	waiting int    // URLs that are free
	next    uint64 // seq from which on they are
}

func newQueue() queue {
	q := queue{hosts: map[string]*waitingHost{}, held: map[*waitingHost]bool{}, holders: map[string]int{}}
	byDue := func(a, b *waitingHost) bool { return a.due().Before(b.due()) }
	q.resting.before, q.cooling.before = byDue, byDue
	q.due.before = func(a, b *waitingHost) bool {
		return cmp.Or(cmp.Compare(a.depth(), b.depth()), a.due().Compare(b.due()), cmp.Compare(a.name, b.name)) < 0
	}
	return q
}

// open remembers a host of which nothing was known but its rest.
func (q *queue) open(name string, rest frontier.Rest) *waitingHost {
	h := &waitingHost{name: name, rest: rest, taken: map[place]bool{}}
	q.hosts[name] = h
	return h
}

// push counts a URL at the end of a depth of a host that is in the queue, and
// says where that is.
func (q *queue) push(host string, depth uint32) place {
	q.seq++
	h := q.hosts[host]
	h.pending++
	h.lane(depth, q.seq).waiting++
	q.offer(h)
	return place{depth, q.seq}
}

// load counts a URL that was found on disk. They come in their order.
func (q *queue) load(host string, p place) {
	h := q.hosts[host]
	if h == nil {
		h = q.open(host, frontier.Rest{})
	}
	h.pending++
	h.lane(p.depth, p.seq).waiting++
	q.seq = max(q.seq, p.seq)
}

// remove forgets a URL, free or taken.
func (q *queue) remove(host string, p place) {
	h := q.hosts[host]
	h.pending--
	if h.taken[p] {
		delete(h.taken, p)
	} else if i, found := h.find(p.depth); found {
		h.lanes[i].waiting--
	}
	h.drop()
	q.offer(h)
}

// offer puts a host where it belongs. It is called after every change of a host.
func (q *queue) offer(h *waitingHost) {
	now := time.Now()
	free := h.claim == frontier.Claim{}
	q.count(h, free && h.free() && !h.rest.Idle)
	switch rests := h.due().After(now); {
	case !free, !h.free() && h.pending > 0:
		h.leave()
	case h.pending == 0 && rests:
		q.cooling.put(h)
	case h.pending == 0:
		h.leave()
		delete(q.hosts, h.name)
	case rests:
		q.resting.put(h)
	default:
		q.due.put(h)
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
func (q *queue) claim(worker string, n int, ttl time.Duration) (g frontier.Grant) {
	now := time.Now()
	q.expire(now)
	for _, line := range []*hostHeap{&q.resting, &q.cooling} {
		for line.Len() > 0 && !line.first().due().After(now) {
			q.offer(line.first())
		}
	}
	for ; n > 0 && q.due.Len() > 0; n-- {
		h := q.due.first()
		q.token++
		q.hold(h, frontier.Claim{Host: h.name, Worker: worker, Token: q.token}, now.Add(ttl))
		g.Hosts = append(g.Hosts, frontier.Held{Claim: h.claim, Host: h.host()})
	}
	g.Others, g.Waiting = len(q.held)-q.holders[worker], q.waiting
	switch {
	case q.due.Len() > 0:
		g.Next = now
	case q.resting.Len() > 0:
		g.Next = q.resting.first().due()
	}
	return g
}

// hold gives a host to a worker.
func (q *queue) hold(h *waitingHost, c frontier.Claim, until time.Time) {
	h.claim, h.until = c, until
	q.held[h] = true
	q.holders[c.Worker]++
	if q.expires.IsZero() || until.Before(q.expires) {
		q.expires = until
	}
	q.offer(h)
}

// release ends a claim: what was taken is free again.
func (q *queue) release(h *waitingHost) {
	delete(q.held, h)
	if q.holders[h.claim.Worker]--; q.holders[h.claim.Worker] == 0 {
		delete(q.holders, h.claim.Worker)
	}
	h.claim = frontier.Claim{}
	for p := range h.taken {
		l := h.lane(p.depth, p.seq)
		l.waiting++
		l.next = min(l.next, p.seq)
	}
	clear(h.taken)
	q.offer(h)
}

// expire ends the claims that were not renewed in time. It looks only when one may
// have run out.
func (q *queue) expire(now time.Time) {
	if q.expires.IsZero() || now.Before(q.expires) {
		return
	}
	q.expires = time.Time{}
	for h := range q.held {
		if !now.Before(h.until) {
			q.release(h)
		} else if q.expires.IsZero() || h.until.Before(q.expires) {
			q.expires = h.until
		}
	}
}

// holder returns the host of a claim; nil: the claim has ended.
func (q *queue) holder(c frontier.Claim) *waitingHost {
	q.expire(time.Now())
	if h := q.hosts[c.Host]; h != nil && h.claim == c {
		return h
	}
	return nil
}

// due is when a host may be asked again.
func (h *waitingHost) due() time.Time {
	if h.rest.Blocked.After(h.rest.Next) {
		return h.rest.Blocked
	}
	return h.rest.Next
}

// host describes a host.
func (h *waitingHost) host() frontier.Host {
	return frontier.Host{Name: h.name, Pending: h.pending, Depth: h.depth(), Rest: h.rest}
}

// free says whether any URL of a host is.
func (h *waitingHost) free() bool { return len(h.lanes) > 0 }

// drop forgets the lanes in which nothing is free: a trap of a hundred thousand
// depths must not make each taking look at all of them.
func (h *waitingHost) drop() {
	h.lanes = slices.DeleteFunc(h.lanes, func(l lane) bool { return l.waiting == 0 })
}

// find returns the place of a depth's lane, or where it would be.
func (h *waitingHost) find(depth uint32) (int, bool) {
	return slices.BinarySearchFunc(h.lanes, depth, func(l lane, d uint32) int { return cmp.Compare(l.depth, d) })
}

// depth is that of the first URL that is free, 0 if none is.
func (h *waitingHost) depth() int {
	if len(h.lanes) == 0 {
		return 0
	}
	return int(h.lanes[0].depth)
}

// lane returns the lane of a depth, and begins it at seq if nothing is free there.
func (h *waitingHost) lane(depth uint32, seq uint64) *lane {
	i, found := h.find(depth)
	if !found {
		h.lanes = slices.Insert(h.lanes, i, lane{depth: depth, next: seq})
	}
	return &h.lanes[i]
}

// A hostHeap holds hosts, the first by some order at its root. A host is in one
// heap at most, and knows its place there.
type hostHeap struct {
	hosts  []*waitingHost
	before func(a, b *waitingHost) bool
}

func (q *hostHeap) first() *waitingHost { return q.hosts[0] }

// put puts a host where it belongs, whatever heap it was in.
func (q *hostHeap) put(h *waitingHost) {
	if h.heap == q {
		heap.Fix(q, h.index)
		return
	}
	h.leave()
	heap.Push(q, h)
}

// leave takes a host out of the heap it is in.
func (h *waitingHost) leave() {
	if h.heap != nil {
		heap.Remove(h.heap, h.index)
	}
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (q *hostHeap) Len() int           { return len(q.hosts) }
func (q *hostHeap) Less(i, j int) bool { return q.before(q.hosts[i], q.hosts[j]) }
func (q *hostHeap) Swap(i, j int) {
	q.hosts[i], q.hosts[j] = q.hosts[j], q.hosts[i]
	q.hosts[i].index, q.hosts[j].index = i, j
}
func (q *hostHeap) Push(x any) {
	h := x.(*waitingHost)
	h.heap, h.index = q, len(q.hosts)
	q.hosts = append(q.hosts, h)
}
func (q *hostHeap) Pop() any {
	last := q.hosts[len(q.hosts)-1]
	q.hosts[len(q.hosts)-1] = nil
	q.hosts = q.hosts[:len(q.hosts)-1]
	last.heap = nil
	return last
}

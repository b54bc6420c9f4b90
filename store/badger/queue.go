package badger

import (
	"cmp"
	"slices"
)

// A queue is what is in memory of the URLs that are pending: for each host and
// depth how many wait, and where the first of them is. The URLs themselves are
// on disk, in the order in which they will be leased.
//
// A URL comes to the end of its depth, whether it is new or released, and is
// taken from the front. So in each depth there is one border: what is before it
// is leased or done, what is after it is free. A lease needs to seek to the
// border only, over none of the deleted keys of URLs that are done, and nothing
// need be remembered of a URL that is leased. Opening the store puts all
// borders at the front.
type queue struct {
	hosts map[string]*waitingHost // those with URLs pending
	seq   uint64                  // the last one given
}

// A place is where in its host's queue a URL is.
type place struct {
	depth uint32
	seq   uint64
}

type waitingHost struct {
	pending int // free or leased
	lanes   []lane
	set     hostSettings
}

// A lane is the queue of one host and depth.
type lane struct {
	depth   uint32
	waiting int    // URLs that are free
	next    uint64 // seq from which on they are
}

func newQueue() queue { return queue{hosts: map[string]*waitingHost{}} }

// push counts a URL at the end of a depth of a host that is in the queue, and
// says where that is.
func (q *queue) push(host string, depth uint32) place {
	q.seq++
	h := q.hosts[host]
	h.pending++
	l := h.lane(depth)
	if l.waiting == 0 {
		l.next = q.seq
	}
	l.waiting++
	return place{depth, q.seq}
}

// load counts a URL that was found on disk. They come in their order.
func (q *queue) load(host string, p place) {
	h := q.hosts[host]
	if h == nil {
		h = &waitingHost{}
		q.hosts[host] = h
	}
	h.pending++
	l := h.lane(p.depth)
	if l.waiting == 0 {
		l.next = p.seq
	}
	l.waiting++
	q.seq = max(q.seq, p.seq)
}

// remove forgets a URL, free or leased. A host without any is forgotten too.
func (q *queue) remove(host string, p place) {
	h := q.hosts[host]
	h.pending--
	if h.pending == 0 {
		delete(q.hosts, host)
		return
	}
	if i, found := h.find(p.depth); found && p.seq >= h.lanes[i].next {
		h.lanes[i].waiting--
	}
}

// drop forgets the lanes in which nothing waits: a trap of a hundred thousand
// depths must not make each lease look at all of them.
func (h *waitingHost) drop() {
	h.lanes = slices.DeleteFunc(h.lanes, func(l lane) bool { return l.waiting == 0 })
}

// find returns the place of a depth's lane, or where it would be.
func (h *waitingHost) find(depth uint32) (int, bool) {
	return slices.BinarySearchFunc(h.lanes, depth, func(l lane, d uint32) int { return cmp.Compare(l.depth, d) })
}

// depth is that of the first URL that is free, 0 if none is.
func (h *waitingHost) depth() int {
	for _, l := range h.lanes {
		if l.waiting > 0 {
			return int(l.depth)
		}
	}
	return 0
}

// lane returns the lane of a depth, new if need be.
func (h *waitingHost) lane(depth uint32) *lane {
	i, found := h.find(depth)
	if !found {
		h.lanes = slices.Insert(h.lanes, i, lane{depth: depth})
	}
	return &h.lanes[i]
}

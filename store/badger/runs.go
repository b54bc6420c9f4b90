package badger

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/base/field"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// # Revisits in the queue
//
// A nightly crawl queues all pages again. If each of them had a q key, and its u key were written
// when the page is queued and when it is finished, that would cost more than the visits themselves.
// So one q key holds a run: up to [maxRun] URLs of one host and level, each as the visit number of its
// record. The key has the SEQ of the last of them. When a URL is handed out, its item is made from
// the record. The u key keeps the state from before the revisit.
//
// A URL of a run is pending until a visit finds the page unchanged: the update of its record then
// has a time that is not before the run was due, and nothing else is written. A URL that leaves the
// run in another way is removed from the value of the key. If the URL is to stay pending although its
// record shows a visit or is replaced, as it is while other pages are judged again, that is noted in the
// value. The key is deleted with its last URL.
//
// Bits in memory show which records belong to pending URLs of runs. They are read from the runs and
// the updates when the store is opened.
type run struct {
	due   int64 // time at which the revisits were requested, in nanoseconds since 1970
	elems []runElem
}

// A runElem is a URL of a run. The zero value is a URL that has left the run.
type runElem struct {
	num         uint64
	conditional bool // whether the item has the validators of the record
	fetched     bool // whether the stored state of the URL is Fetched
	stays       bool // whether the URL is pending although its record shows a visit
}

const (
	maxRun  = 128
	runRoom = 32 + 10*maxRun // bytes that a transaction needs for a run and two small keys
	runMeta = 1              // user metadata of the q key of a run; other keys have 0
)

func (r *run) encode() []byte {
	b := binary.AppendVarint(make([]byte, 0, 16+4*len(r.elems)), r.due)
	last := int64(0)
	for _, e := range r.elems {
		v := int64(e.num) << 3
		for i, set := range []bool{e.conditional, e.stays, e.fetched} {
			if set {
				v |= 1 << i
			}
		}
		b = binary.AppendVarint(b, v-last)
		last = v
	}
	return b
}

func (r *run) decode(b []byte) error {
	d := field.Reader{Rest: b}
	r.due = d.Signed()
	for v := int64(0); len(d.Rest) > 0; {
		v += d.Signed()
		r.elems = append(r.elems, runElem{num: uint64(v >> 3), conditional: v&1 != 0, stays: v&2 != 0, fetched: v&4 != 0})
	}
	return whole(d)
}

// positionOf returns the position of element i of a run whose key has the position last.
func (r *run) positionOf(i int, last position) position {
	last.seq -= uint64(len(r.elems) - 1 - i)
	return last
}

// item returns the item of an element with the given record, of a run with the key.
func (r *run) item(e runElem, record *store.Record, key position) frontier.Item {
	it := store.Revisit(record, time.Unix(0, r.due).UTC(), e.conditional)
	it.Priority = key.level.priority()
	return it
}

// left reports whether an element has left the run. If thorough is true, left also looks whether its
// record has been replaced since.
func (r *run) left(visits *visitReader, e runElem, thorough bool) (left bool, err error) {
	if left = e.num == 0; !left && !e.stays {
		var record store.Record
		_, err = visits.updates.get(e.num, record.Update)
		left = isSince(r.due, &record)
	}
	if !left && err == nil && thorough {
		left, err = e.replaced(visits.records.txn)
	}
	return left, err
}

func isSince(due int64, record *store.Record) bool {
	return !record.Visited().Before(time.Unix(0, due))
}

// replaced reports whether an element is no longer the last visit of its page.
func (e runElem) replaced(txn *badgerdb.Txn) (bool, error) {
	obsolete, err := get(txn, numKey(keyObsolete, e.num), exists)
	if err != nil || obsolete {
		return true, err
	}
	found, err := get(txn, pageKey(keyRecord, e.num), exists)
	return !found, err
}

// A bitSet is a set of visit numbers.
type bitSet []uint64

func (s bitSet) has(n uint64) bool { return n/64 < uint64(len(s)) && s[n/64]&(1<<(n%64)) != 0 }

func (s *bitSet) add(n uint64) {
	if n/64 >= uint64(len(*s)) {
		*s = append(*s, make([]uint64, n/64+1-uint64(len(*s)))...)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s bitSet) remove(n uint64) {
	if n/64 < uint64(len(s)) {
		s[n/64] &^= 1 << (n % 64)
	}
}

// A runQueue is the part of the queue in memory that is about runs.
type runQueue struct {
	pending bitSet           // visit numbers of the pending URLs of runs
	left    map[uint64]int   // number of pending URLs of each run, by the SEQ of its key
	taken   map[uint64]inRun // URLs that were handed out, by visit number
}

// An inRun is the place of a URL in a run.
type inRun struct {
	at, key position
	due     int64
	elem    runElem
	id      dedup.Hash // of the page, if the URL was handed out
}

// A handedPage is the record of a page of a run that was handed out. The visit of such a page reads its
// record twice, and what is read from disk to make the item need not be read again. It is dropped before
// a transaction that changes the record or the state of the URL is committed.
type handedPage struct {
	num     uint64
	fetched bool // whether the stored state of the URL is Fetched
	stored
}

func (s *Store) handedPage(id dedup.Hash) *handedPage {
	page, _ := s.handed.Load(id)
	found, _ := page.(*handedPage)
	return found
}

// known returns the state of the URL of a page whose revisit ends with the stored state, without its
// place.
func (p *handedPage) known() known {
	return known{state: frontier.Pending, num: p.num, url: p.record.URL, again: true, was: frontier.Fetched}
}

// leave removes a URL, and reports whether its run has no other pending URLs.
func (q *runQueue) leave(in inRun) (empty bool) {
	q.pending.remove(in.elem.num)
	delete(q.taken, in.elem.num)
	if q.left[in.key.seq]--; q.left[in.key.seq] > 0 {
		return false
	}
	delete(q.left, in.key.seq)
	return true
}

// A newRun is a run that a batch collects.
type newRun struct {
	run
	runLane
	states []frontier.State // state of each URL before it was queued
}

// A runLane is a host and a level.
type runLane struct {
	host  string
	level level
}

// A runCollector collects the items that a batch queues in runs. An item that cannot be in a run ends
// that of its lane, which keeps the order of arrival.
type runCollector struct {
	*batch
	open  map[runLane]*newRun
	order []*newRun
	now   time.Time
}

// requeueAll queues the items that are not pending. It collects items that are made from records in
// runs.
func (b *batch) requeueAll(items []frontier.Item) (found int) {
	c := &runCollector{batch: b, open: map[runLane]*newRun{}, now: time.Now()}
	for _, it := range items {
		id := dedup.Hash(frontier.ID(it.URL))
		if u := b.known(id); u.state != frontier.Pending {
			found++
			c.requeue(id, u, it)
		}
	}
	for _, r := range c.order {
		b.queueRun(r)
	}
	return found
}

// requeue queues one item, or adds it to the run of its lane.
func (c *runCollector) requeue(id dedup.Hash, u known, it frontier.Item) {
	of := runLane{frontier.HostOf(it.URL), levelOf(&it)}
	r, due := c.open[of], nanoseconds(it.Due)
	inRun := it.Place != 0 && it.Place == u.num && due != 0 && !it.Due.After(c.now)
	if r != nil && (!inRun || len(r.elems) == maxRun || r.due != due) {
		c.queueRun(r)
		delete(c.open, of)
		r = nil
	}
	if !inRun {
		c.queueKnown(id, u, it)
		return
	}
	if r == nil {
		r = &newRun{run: run{due: due}, runLane: of}
		c.open[of], c.order = r, append(c.order, r)
	}
	r.elems = append(r.elems, runElem{num: u.num, conditional: it.Validators != (frontier.Validators{}), fetched: u.state == frontier.Fetched})
	r.states = append(r.states, u.state)
	c.s.queue.runs.pending.add(u.num)
}

// queueRun writes a run that requeueAll has collected, unless it has been written.
func (b *batch) queueRun(r *newRun) {
	if len(r.states) == 0 {
		return
	}
	value := r.encode()
	b.room(1, len(value)+len(r.host)+64)
	b.openHost(r.host)
	var last position
	for _, state := range r.states {
		last = b.s.queue.push(r.host, r.level, 0)
		b.move(state, frontier.Pending)
	}
	b.s.queue.runs.left[last.seq] = len(r.states)
	r.states = nil
	b.set(queueKey(r.host, last), value, runMeta)
}

// runOf returns the place of a pending URL in its run, unless there was an error. The place of a URL that
// was handed out is in memory. Others are rare: they are found by reading the runs of the host.
func (b *batch) runOf(host string, num uint64) (in inRun, ok bool) {
	if in, ok := b.s.queue.runs.taken[num]; ok || b.err != nil {
		return in, ok
	}
	err := scanRuns(context.Background(), b.txn, hostPrefix(keyQueue, host), func(_ string, key position, r *run) error {
		for i, e := range r.elems {
			if e.num == num && r.due >= in.due { // it may have left an earlier run
				in = inRun{at: r.positionOf(i, key), key: key, due: r.due, elem: e}
			}
		}
		return nil
	})
	if err == nil && in.elem.num == 0 {
		err = fmt.Errorf("%w: visit %d of host %s is missing from the queue", store.ErrCorrupt, num, host)
	}
	b.fail(err)
	return in, err == nil
}

// scanRuns calls fn with each run whose key has the prefix.
func scanRuns(ctx context.Context, txn *badgerdb.Txn, prefix []byte, fn func(host string, key position, r *run) error) error {
	return scan(ctx, txn, prefix, func(item *badgerdb.Item) error {
		host, key, ok := splitQueueKey(item.Key())
		if item.UserMeta() != runMeta || !ok {
			return nil
		}
		var r run
		if err := item.Value(r.decode); err != nil {
			return err
		}
		return fn(string(host), key, &r)
	})
}

// leaveRun removes a URL from the queue. If finished is true, the update of its record shows that it
// has left its run.
func (b *batch) leaveRun(host string, in inRun, finished bool) {
	b.s.queue.remove(host, in.at)
	b.s.handed.Delete(in.id)
	switch {
	case b.s.queue.runs.leave(in):
		b.delete(queueKey(host, in.key))
	case !finished:
		b.changeRun(host, in, runElem{})
	}
}

// changeRun replaces an element of a run.
func (b *batch) changeRun(host string, in inRun, to runElem) {
	var r run
	b.get(queueKey(host, in.key), r.decode)
	for i := range r.elems {
		if r.elems[i].num == in.elem.num {
			r.elems[i] = to
		}
	}
	b.set(queueKey(host, in.key), r.encode(), runMeta)
}

// endInRun changes the run of a pending URL after the commit of an entry, and the state in u if the
// entry ends the revisit. before is the visit number of the record until now.
func (b *batch) endInRun(u *known, before uint64, e *store.Entry) {
	host, runs := frontier.HostOf(e.Record.URL), &b.s.queue.runs
	in, ok := b.runOf(host, before)
	if !ok {
		return
	}
	visited := e.Touch && isSince(in.due, &e.Record)
	if e.State != frontier.Unknown {
		b.move(frontier.Pending, e.State)
		u.state, u.again = e.State, false
		if u.url == "" { // the URL had never been discovered
			u.url, u.place = e.Record.URL, position{level: in.at.level}
		}
		b.leaveRun(host, in, visited && u.num == before && !in.elem.stays)
		return
	}
	if !visited && u.num == before {
		return
	}
	stays := in
	stays.elem.num, stays.elem.stays = u.num, true
	runs.pending.remove(before)
	runs.pending.add(u.num)
	if _, ok := runs.taken[before]; ok {
		delete(runs.taken, before)
		runs.taken[u.num] = stays
	}
	b.changeRun(host, in, stays.elem)
}

// takeRun hands out up to n pending URLs of a run of host h, and appends their items to items.
func (s *Store) takeRun(txn *badgerdb.Txn, h *waitingHost, l *lane, item *badgerdb.Item, key position, n int, items *[]frontier.Item) (int, error) {
	var r run
	err := item.Value(r.decode)
	taken := 0
	visits := readVisits(txn)
	defer visits.close()
	for i := 0; i < len(r.elems) && taken < n && l.waiting > 0 && err == nil; i++ {
		e, p := r.elems[i], r.positionOf(i, key)
		if p.seq < l.next || !s.queue.runs.pending.has(e.num) {
			continue
		}
		page := &handedPage{num: e.num, fetched: e.fetched}
		if page.stored, err = visits.stored(e.num); page.record == nil && err == nil {
			err = fmt.Errorf("%w: record %d, whose URL is in the queue, is missing", store.ErrCorrupt, e.num)
		}
		if err != nil {
			return taken, err
		}
		if !e.stays && isSince(r.due, page.record) { // it has left this run, and is in a later one
			continue
		}
		*items = append(*items, r.item(e, page.record, key))
		h.taken[p] = true
		s.handed.Store(page.record.ID, page)
		s.queue.runs.taken[e.num] = inRun{p, key, r.due, e, page.record.ID}
		l.next = p.seq + 1
		l.waiting--
		taken++
	}
	return taken, err
}

// loadRuns counts the pending URLs of runs. If thorough is true, it also looks for URLs whose record
// has been replaced after their revisit, and returns the keys of the runs that have no other URLs.
func (s *Store) loadRuns(thorough bool) (empty [][]byte, err error) {
	ctx := context.Background()
	err = s.view(ctx, func(txn *badgerdb.Txn) error {
		visits := readVisits(txn)
		defer visits.close()
		return scanRuns(ctx, txn, []byte{keyQueue}, func(host string, key position, r *run) error {
			for i, e := range r.elems {
				left, err := r.left(visits, e, thorough)
				if err != nil {
					return err
				}
				if left {
					continue
				}
				s.queue.runs.pending.add(e.num)
				s.queue.runs.left[key.seq]++
				s.queue.load(host, r.positionOf(i, key))
			}
			if s.queue.runs.left[key.seq] == 0 {
				empty = append(empty, queueKey(host, key))
			}
			return nil
		})
	})
	return empty, err
}

// revisits calls fn with the item of each pending URL of the runs whose keys have the prefix, and with
// the visit number of its record.
func (r reader) revisits(ctx context.Context, prefix []byte, fn func(num uint64, it frontier.Item) error) error {
	visits := readVisits(r.txn)
	defer visits.close()
	return scanRuns(ctx, r.txn, prefix, func(_ string, key position, run *run) error {
		for _, e := range run.elems {
			left, err := run.left(visits, e, true)
			var v stored
			if err == nil && !left {
				v, err = visits.stored(e.num)
			}
			if err == nil && v.record != nil {
				err = fn(e.num, run.item(e, v.record, key))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

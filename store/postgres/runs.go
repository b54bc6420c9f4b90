package postgres

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/zeebo/xxh3"

	"skink/frontier"
	"skink/store"
)

// # Visits without a change
//
// A nightly crawl queues all pages again, and finds most of them unchanged. With a row in the queue and
// an update of a row for each of them, the log of the server would grow by 600 bytes a page. So a row of
// the table run has up to [maxRun] pages of one host and rank. The pages of a host and rank are a lane.
// A run has those of its lane from its first place up to the first place of the next run, if they are
// in a run at all. So a page is found in its run through the primary key, and its own row is not written.
//
// A run is a part of the queue if its column seq is set. Its pages are pending until their visits are
// not before the time at which they were asked for. A page that is finished in another way has this in
// the column wanted. The visits of a run have equal lengths from night to night, so the server logs only
// the bytes that have changed: those of the pages of one commit are usually neighbours.
//
// Only transactions that lock the table turn change runs. Like all of a commit, the changes are made by
// the client. A digest of the row, checked under the lock, shows that the run is the one that was read.
type run struct {
	lane, first int64
	host        string
	rank        int32
	seq         *int64
	asked       []byte
	places      []int64
	wanted      []int16
	visits      [][]byte

	digest  *string // of the row; nil means that the run is new
	after   int64   // first place of the run before a new one
	changed bool
	queued  bool // whether the run gets a new place in the queue
}

// maxRun is the maximum number of pages in a run. The server would compress longer rows, and then log
// all of each.
const maxRun = 64

// The bits of an element of run.wanted.
const (
	wanted      = 1 << iota // the page was queued
	conditional             // the request has the validators of the record
	stays                   // the page is pending although a visit is not before run.asked
)

const (
	// pendingSQL is the condition that an element of a run is pending.
	pendingSQL = "u.wanted > 0 AND (u.wanted >= 4 OR u.visit < r.asked)"
	elements   = " CROSS JOIN LATERAL unnest(r.places, r.wanted, r.visits) u(place, wanted, visit)"

	// lastVisit joins the last visit of a page, and whether it is pending in a run. The columns are
	// those of r; the visit is NULL if the page is in no run.
	lastVisit = ` LEFT JOIN LATERAL (SELECT r.visits[r.i] AS visit, r.wanted[r.i] > 0 AND (r.wanted[r.i] >= 4 OR r.visits[r.i] < r.asked) AS pending
 FROM (SELECT *, array_position(places, p.place) AS i FROM run WHERE lane = p.lane AND first <= p.place ORDER BY first DESC LIMIT 1) r) r ON true`

	runsSQL = `SELECT r.lane, r.first, r.host, r.rank, r.seq, r.asked, r.places, r.wanted, r.visits, md5(r::text)
 FROM (SELECT DISTINCT r.lane, r.first FROM page p CROSS JOIN LATERAL (SELECT lane, first FROM run WHERE lane = p.lane AND first <= p.place ORDER BY first DESC LIMIT 1) r
  WHERE p.id = ANY($1::uuid[])) d JOIN run r ON r.lane = d.lane AND r.first = d.first`
	newRunSQL = `INSERT INTO run (seq, lane, first, asked, places, wanted, visits, host, rank) SELECT CASE WHEN $2 THEN nextval('queue_seq') ELSE $9 END, $3, $4, $5, $6, $7, $8, $10, $11
 FROM turn t WHERE t.one = 1 AND t.holder = $1`
	runSQL = `UPDATE run SET seq = CASE WHEN $2 THEN nextval('queue_seq') ELSE $9 END, asked = $5, places = $6, wanted = $7, visits = $8
 FROM turn t WHERE t.one = 1 AND t.holder = $1 AND run.lane = $3 AND run.first = $4`
	dropRunSQL = "DELETE FROM run USING turn t WHERE t.one = 1 AND t.holder = $1 AND run.lane = $2 AND run.first = $3"
)

func stamp(ns int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(ns)) }

// packVisit returns the visit that changed the written record of a page to r: its time, and the fields
// that it changed further.
func packVisit(r, written *store.Record) []byte {
	visit, after, before := stamp(nanos(r.VisitedAt)), *r, *written
	setVisit(&after, visit)
	setVisit(&before, visit)
	before.Visit, after.Visit = store.NotModified, r.Visit
	if update := after.AppendUpdate(nil, &before); len(update) > 1 {
		visit = append(visit, update...)
	}
	return visit
}

// setVisit sets the fields that all visits without a change set.
func setVisit(r *store.Record, visit []byte) {
	r.Visit = store.NotModified
	if at := int64(binary.BigEndian.Uint64(visit)); at != 0 {
		r.VisitedAt = time.Unix(0, at).UTC()
	}
}

// update changes the written record of a page to that after its last visit.
func update(r *store.Record, visit []byte) error {
	if len(visit) == 0 {
		return nil
	}
	setVisit(r, visit)
	return r.Update(visit[8:])
}

// laneOf returns the lane of a page that is visited again with the item.
func laneOf(it frontier.Item) int64 {
	name := binary.BigEndian.AppendUint32([]byte(frontier.HostOf(it.URL)), uint32(rankOf(it)))
	return int64(xxh3.Hash(name))
}

// afterVisit returns the packed record of a page after its last visit, as [store.Updated] does.
func afterVisit(record, visit []byte) []byte {
	if len(visit) == 0 {
		return record
	}
	var r store.Record
	setVisit(&r, visit)
	changed := r.AppendUpdate(nil, &store.Record{})
	if len(visit) > 8 { // a field that is listed twice has its second value
		changed = append(changed[:len(changed)-1], visit[8:]...)
	}
	return store.Updated(record, changed)
}

// revisit returns the item of a page in a run.
func revisit(r *store.Record, asked []byte, flags int16) frontier.Item {
	return store.Revisit(r, time.Unix(0, int64(binary.BigEndian.Uint64(asked))).UTC(), flags&conditional != 0)
}

// pending reports whether page i of the run is pending.
func (r *run) pending(i int) bool {
	return r.wanted[i] > 0 && (r.wanted[i] >= stays || string(r.visits[i]) < string(r.asked))
}

func (r *run) anyPending() bool {
	for i := range r.places {
		if r.pending(i) {
			return true
		}
	}
	return false
}

// lanes holds runs in the order of their first places, by lane.
type lanes map[int64][]*run

// read adds runs to l.
func (l lanes) read(rows pgx.Rows) error {
	return readRows(rows, func(rows pgx.Rows) error {
		r := &run{}
		l[r.lane] = nil
		err := rows.Scan(&r.lane, &r.first, &r.host, &r.rank, &r.seq, &r.asked, &r.places, &r.wanted, &r.visits, &r.digest)
		l.add(r)
		return err
	})
}

func (l lanes) add(r *run) {
	all := l[r.lane]
	at, _ := slices.BinarySearchFunc(all, r.first, func(r *run, first int64) int { return cmp.Compare(r.first, first) })
	l[r.lane] = slices.Insert(all, at, r)
}

// find returns the run that has the page with a place, or would have it, and the page's index in it.
func (l lanes) find(lane, place int64) (r *run, i int, there bool) {
	all := l[lane]
	at, exact := slices.BinarySearchFunc(all, place, func(r *run, place int64) int { return cmp.Compare(r.first, place) })
	if !exact {
		at--
	}
	if at < 0 {
		return nil, 0, false
	}
	i, there = slices.BinarySearch(all[at].places, place)
	return all[at], i, there
}

// change returns the run of a page and the page's index in it. If the page is in no run, it is added to
// one.
func (l lanes) change(it frontier.Item, lane, place int64) (*run, int) {
	r, i, there := l.find(lane, place)
	switch {
	case r == nil || !there && len(r.places) == maxRun && i == maxRun:
		after := int64(math.MinInt64)
		if r != nil {
			after, r.changed = r.first, true // so that it is checked
		}
		r, i = &run{lane: lane, first: place, host: frontier.HostOf(it.URL), rank: rankOf(it), asked: stamp(0), after: after}, 0
		l.add(r)
	case !there && len(r.places) == maxRun:
		l.split(r)
		return l.change(it, lane, place)
	}
	if !there {
		r.places, r.wanted, r.visits = slices.Insert(r.places, i, place), slices.Insert(r.wanted, i, 0), slices.Insert(r.visits, i, []byte{})
	}
	r.changed = true
	return r, i
}

// split moves the second half of a full run to a new one.
func (l lanes) split(r *run) {
	const half = maxRun / 2
	second := *r
	second.first, second.after, second.digest, second.changed = r.places[half], r.first, nil, true
	second.places, second.wanted, second.visits = r.places[half:], r.wanted[half:], r.visits[half:]
	r.places, r.wanted, r.visits, r.changed = r.places[:half:half], r.wanted[:half:half], r.visits[:half:half], true
	l.add(&second)
}

// remove removes page i of a run.
func (r *run) remove(i int) {
	r.places, r.wanted, r.visits, r.changed = slices.Delete(r.places, i, i+1), slices.Delete(r.wanted, i, i+1), slices.Delete(r.visits, i, i+1), true
}

// A runCheck contains the arguments of a check that the runs are those that were read, and that no
// other is between a new one and the run before it.
type runCheck struct {
	lanes, firsts, after []int64
	digests              []*string
}

// write adds statements to b that write the changed runs.
func (l lanes) write(b *pgx.Batch, attempt id) {
	for _, r := range l.changed() {
		switch {
		case len(r.places) == 0 && r.digest != nil:
			b.Queue(dropRunSQL, attempt, r.lane, r.first)
			continue
		case len(r.places) == 0:
			continue
		case !r.anyPending():
			r.seq, r.queued = nil, false
		}
		args := []any{attempt, r.queued, r.lane, r.first, r.asked, r.places, r.wanted, r.visits, r.seq}
		if r.digest != nil {
			b.Queue(runSQL, args...)
		} else {
			b.Queue(newRunSQL, append(args, r.host, r.rank)...)
		}
	}
}

// changed returns the changed runs, in one order for all processes.
func (l lanes) changed() (all []*run) {
	for _, runs := range l {
		for _, r := range runs {
			if r.changed {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b *run) int { return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.first, b.first)) })
	return all
}

func (l lanes) check() (c runCheck) {
	c = runCheck{[]int64{}, []int64{}, []int64{}, []*string{}}
	for _, r := range l.changed() {
		c.lanes, c.firsts, c.after, c.digests = append(c.lanes, r.lane), append(c.firsts, r.first), append(c.after, r.after), append(c.digests, r.digest)
	}
	return c
}

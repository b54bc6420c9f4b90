package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
)

// A recordedPage is the page of an item that Requeue may queue in a run.
type recordedPage struct {
	lane, place int64
	state       frontier.State // in the table known
	queued      bool           // whether the URL is in the table queue
}

// A requeue is a call of Requeue.
type requeue struct {
	w      *writes
	place  int64 // number of the last commit, read before the other data
	pages  map[int]recordedPage
	last   map[int64]int64  // last place in each lane to which an item was added
	alone  map[int64]bool   // lanes of which the later items are queued alone, in the order of arrival
	counts map[string]int64 // changes of counters
	others []frontier.Item  // items that are queued alone
}

const (
	recordedSQL = `SELECT a.i - 1, p.lane, p.place, coalesce(k.state, 0), q.hash IS NOT NULL
 FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY a(page, hash, i) JOIN page p ON p.id = a.page LEFT JOIN known k ON k.hash = a.hash LEFT JOIN queue q ON q.hash = a.hash`
	readySQL = `INSERT INTO host (name, rank) SELECT a.name, min(a.rank) FROM turn t, unnest($2::text[], $3::int[]) a(name, rank) WHERE t.one = 1 AND t.holder = $1 GROUP BY a.name ORDER BY a.name
 ON CONFLICT (name) DO UPDATE SET rank = CASE WHEN host.rank IS NULL OR host.ripe > 0 THEN excluded.rank ELSE least(host.rank, excluded.rank) END, ripe = 0`
)

// Requeue queues items that are made from records in runs, and others alone. Like a commit, it decides
// from data that it reads without the lock, and starts over if that data has changed.
func (s *Store) Requeue(ctx context.Context, items []frontier.Item) (n int, err error) {
	if err := ctx.Err(); err != nil || len(items) == 0 {
		return 0, err
	}
	err = s.try(ctx, func(ctx context.Context) error {
		for written := false; !written; {
			q, err := s.readRequeue(ctx, items)
			if err != nil {
				return err
			}
			n = 0
			for i, it := range items {
				if q.add(i, it) {
					n++
				}
			}
			var others int
			if written, others, err = s.writeRequeue(ctx, q); err != nil {
				return err
			}
			n += others
		}
		return nil
	})
	return n, err
}

func (s *Store) readRequeue(ctx context.Context, items []frontier.Item) (*requeue, error) {
	q := &requeue{w: &writes{lanes: lanes{}}, pages: map[int]recordedPage{}, last: map[int64]int64{}, alone: map[int64]bool{}, counts: map[string]int64{}}
	ids, hashes := make([]id, len(items)), make([]id, len(items))
	for i, it := range items {
		ids[i], hashes[i] = dedup.HashOf([]byte(it.URL)), hashOf(it.URL)
	}
	b := &pgx.Batch{}
	s.queueTurn(b, &q.place)
	b.Queue(recordedSQL, ids, hashes).Query(func(rows pgx.Rows) error {
		var i int
		var p recordedPage
		_, err := pgx.ForEachRow(rows, []any{&i, &p.lane, &p.place, &p.state, &p.queued}, func() error { q.pages[i] = p; return nil })
		return err
	})
	b.Queue(runsSQL, ids).Query(q.w.lanes.read)
	return q, s.pool.SendBatch(ctx, b).Close()
}

// add adds item i, and reports whether it is queued in a run.
func (q *requeue) add(i int, it frontier.Item) bool {
	p, known := q.pages[i]
	r, at, there := q.w.lanes.find(p.lane, p.place)
	if there && r.pending(at) {
		return false
	}
	lane := laneOf(it)
	due := it.Due.UnixNano()
	if known && !p.queued && p.state.Ends() && !q.alone[lane] && it.Place == uint64(p.place) && lane == p.lane && p.place > q.last[lane] &&
		!it.Due.IsZero() && !it.Due.After(time.Now()) && (r == nil || r.follows(due, p.place)) {
		q.queue(it, p)
		return true
	}
	if q.alone[lane], q.alone[p.lane] = true, true; there {
		r.changed = true // so that it is checked
	}
	q.others = append(q.others, it)
	return false
}

// follows reports whether the pending pages of a run have been asked for at the same time and are before
// a place.
func (r *run) follows(due, place int64) bool {
	for i := range r.places {
		if r.pending(i) && (string(r.asked) != string(stamp(due)) || r.places[i] > place) {
			return false
		}
	}
	return true
}

func (q *requeue) queue(it frontier.Item, p recordedPage) {
	r, at := q.w.lanes.change(it, p.lane, p.place)
	if asked := stamp(it.Due.UnixNano()); !r.anyPending() {
		r.asked, r.queued = asked, true
		clear(r.wanted)
	}
	r.wanted[at] = wanted
	if it.Validators != (frontier.Validators{}) {
		r.wanted[at] |= conditional
	}
	if string(r.visits[at]) >= string(r.asked) {
		r.wanted[at] |= stays
	}
	q.last[p.lane] = p.place
	q.counts[fmt.Sprint("state ", int(p.state))]--
	q.counts[fmt.Sprint("state ", int(frontier.Pending))]++
}

func (s *Store) writeRequeue(ctx context.Context, q *requeue) (written bool, others int, err error) {
	u, err := urlsOf(q.others, nil)
	if err != nil {
		return false, 0, err
	}
	hosts, ranks := []string{}, []int32{}
	for _, r := range q.w.lanes.changed() {
		if r.queued {
			hosts, ranks = append(hosts, r.host), append(ranks, r.rank)
		}
	}
	b := &pgx.Batch{}
	err = s.queueLocked(b, q.w, q.counts, q.place, &written, func(attempt id) {
		b.Queue(readySQL, attempt, hosts, ranks)
		if u.hashes != nil {
			s.queueURLs(b, u, endedStates, &attempt).QueryRow(func(row pgx.Row) error { return row.Scan(&others) })
		}
	})
	if err == nil {
		err = s.pool.SendBatch(ctx, b).Close()
	}
	return written, others, err
}

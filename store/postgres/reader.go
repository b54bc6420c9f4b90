package postgres

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// partsSQL lists the columns of a page. Text, sketch and links are NULL unless a.want asks for
// them. Its bits are those of store.WantText (1), WantSketch (2) and WantLinks (4).
const partsSQL = `v.record::text, r.visit, CASE WHEN a.want & 1 <> 0 THEN v.text END, CASE WHEN a.want & 1 <> 0 THEN v.packed END,
 v.text IS NOT NULL AND a.want & 1 <> 0, CASE WHEN a.want & 2 <> 0 THEN v.sketch END, CASE WHEN a.want & 4 <> 0 THEN v.links END, p.place`

func scanPage(row pgx.Row, more ...any) (p store.Packed, place int64, err error) {
	var record, later []byte
	var text *string
	var sketch []byte
	if err = row.Scan(append([]any{&record, &later, &text, &p.Text, &p.Kept, &sketch, &p.Links, &place}, more...)...); err != nil {
		return p, 0, err
	}
	p.Record = afterVisit(record, later)
	if p.Text, err = whole(text, p.Text); err == nil && sketch != nil {
		p.Sketch, err = unpackSketch(sketch)
	}
	return p, place, err
}

// query calls read for each row. It may repeat the query after an error, so it calls restart before
// each attempt.
func (s *Store) query(ctx context.Context, sql string, args []any, restart func(), read func(pgx.Rows) error) error {
	return s.try(ctx, func(ctx context.Context) error {
		restart()
		rows, err := s.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return readRows(rows, read)
	})
}

// exec executes a statement, which it may repeat after an error, and returns the number of rows that
// the last attempt changed.
func (s *Store) exec(ctx context.Context, sql string, args ...any) (changed int64, err error) {
	err = s.try(ctx, func(ctx context.Context) error {
		tag, err := s.pool.Exec(ctx, sql, args...)
		changed = tag.RowsAffected()
		return err
	})
	return changed, err
}

// send sends the statements that queue adds to a batch. It may repeat them after an error, and then
// calls queue again.
func (s *Store) send(ctx context.Context, queue func(b *pgx.Batch)) error {
	return s.try(ctx, func(ctx context.Context) error {
		b := &pgx.Batch{}
		queue(b)
		return s.pool.SendBatch(ctx, b).Close()
	})
}

// isOne returns a function that sets is to whether a statement of a batch has returned or changed one row.
func isOne(is *bool) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		*is = tag.RowsAffected() == 1
		return nil
	}
}

func readRows(rows pgx.Rows, read func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A snapshot is a transaction whose queries all see the store as it was at the first query. If the
// connection is lost, the next query begins a new transaction. A snapshot has its own connection,
// because its caller may need one from the pool between two queries.
type snapshot struct {
	s    *Store
	conn *pgx.Conn
}

// query is [Store.query] in the snapshot.
func (n *snapshot) query(ctx context.Context, sql string, args []any, restart func(), read func(pgx.Rows) error) error {
	return n.s.try(ctx, func(ctx context.Context) error {
		restart()
		err := n.begin(ctx)
		if err == nil {
			var rows pgx.Rows
			if rows, err = n.conn.Query(ctx, sql, args...); err == nil {
				err = readRows(rows, read)
			}
		}
		if err != nil {
			n.end()
		}
		return err
	})
}

func (n *snapshot) begin(ctx context.Context) (err error) {
	if n.conn != nil {
		return nil
	}
	if n.conn, err = pgx.ConnectConfig(ctx, n.s.pool.Config().ConnConfig); err != nil {
		return err
	}
	// The caller may take any time between two queries.
	_, err = n.conn.Exec(ctx, "SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	return err
}

// end closes the connection, which ends the transaction.
func (n *snapshot) end() {
	if n.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = n.conn.Close(ctx) // nothing was written
		n.conn = nil
	}
}

func collectFrom[T any](ctx context.Context, query querier, sql string, args []any, scan func(pgx.Row) (T, error)) (all []T, err error) {
	err = query(ctx, sql, args, func() { all = nil }, func(rows pgx.Rows) error {
		v, err := scan(rows)
		all = append(all, v)
		return err
	})
	return all, err
}

type pageAsk struct {
	page id
	want store.Want
}

// Pages reads pages, together with those of concurrent calls, in one round trip.
func (s *Store) Pages(ctx context.Context, pages []dedup.Hash, want store.Want) ([]*store.Content, error) {
	if err := ctx.Err(); err != nil || len(pages) == 0 {
		return []*store.Content{}, err
	}
	if known := s.handed.read(pages, want); known != nil {
		return known, nil
	}
	asks := make([]pageAsk, len(pages))
	for i, page := range pages {
		asks[i] = pageAsk{page, want}
	}
	found, err := s.reads.Ask(ctx, asks)
	if err != nil {
		return nil, err
	}
	all := make([]*store.Content, len(pages))
	for i := range found {
		if all[i], err = found[i].Unpack(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s *Store) readAll(calls [][]pageAsk) ([][]store.Packed, error) {
	var pages []id
	var wants []int32
	for _, c := range calls {
		for _, a := range c {
			pages, wants = append(pages, a.page), append(wants, int32(a.want))
		}
	}
	found := make([]store.Packed, len(pages))
	const sql = "SELECT " + partsSQL + ", a.i - 1 FROM unnest($1::uuid[], $2::int[]) WITH ORDINALITY a(id, want, i) JOIN page p USING (id) JOIN visit v ON v.id = p.visit" + lastVisit
	err := s.query(s.life, sql, []any{pages, wants}, func() {}, func(rows pgx.Rows) error {
		var i int
		p, _, err := scanPage(rows, &i)
		if err == nil {
			found[i] = p
		}
		return err
	})
	return parts(calls, found), err
}

// parts splits answers into one slice for each call, with one answer for each of its questions.
func parts[Q, A any](calls [][]Q, answers []A) [][]A {
	all := make([][]A, len(calls))
	for i, asks := range calls {
		all[i], answers = answers[:len(asks):len(asks)], answers[len(asks):]
	}
	return all
}

// maxChanges is the maximum number of changes that one query reads.
const maxChanges = 256

func (s *Store) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return store.Sequence(func(yield func(*store.Change) error) error {
		place, err := s.placeOf(ctx, after)
		query := s.query
		if after == "" {
			snap := &snapshot{s: s}
			defer snap.end()
			query = snap.query
		}
		for err == nil {
			var batch []store.PackedChange
			if batch, err = changes(ctx, query, place, want); len(batch) == 0 {
				break
			}
			for i := 0; i < len(batch) && err == nil; i++ {
				var c *store.Change
				c, err = batch[i].Unpack()
				if err = cmp.Or(err, ctx.Err()); err == nil {
					err = yield(c)
				}
				at, _ := batch[i].Cursor.Place()
				place = int64(at)
			}
		}
		return err
	})
}

// querier is the type of [Store.query].
type querier func(ctx context.Context, sql string, args []any, restart func(), read func(pgx.Rows) error) error

func changes(ctx context.Context, query querier, place int64, want store.Want) ([]store.PackedChange, error) {
	sql := "SELECT " + partsSQL + " FROM page p JOIN visit v ON v.id = p.visit" + lastVisit + " CROSS JOIN (SELECT $2::int AS want) a WHERE p.place > $1 ORDER BY p.place LIMIT " + strconv.Itoa(maxChanges)
	return collectFrom(ctx, query, sql, []any{place, int32(want)}, func(row pgx.Row) (store.PackedChange, error) {
		p, at, err := scanPage(row)
		return store.PackedChange{Packed: p, Cursor: store.CursorAt(uint64(at))}, err
	})
}

// placeOf returns the commit number in a cursor. It refuses a cursor beyond the last commit: either
// the cursor belongs to another store, or the server has lost commits.
func (s *Store) placeOf(ctx context.Context, c store.Cursor) (int64, error) {
	at, err := c.Place()
	place := int64(at)
	if err != nil || place == 0 {
		return place, err
	}
	end, err := s.place(ctx)
	if err == nil && end < place {
		err = fmt.Errorf("the cursor %s is after the last commit, %d: it belongs to another store, or the server lost commits: start without a cursor", c, end)
	}
	return place, err
}

func (s *Store) place(ctx context.Context) (place int64, err error) {
	err = s.send(ctx, func(b *pgx.Batch) { s.queueTurn(b, &place) })
	return place, err
}

func (s *Store) End(ctx context.Context) (store.Cursor, error) {
	place, err := s.place(ctx)
	return store.CursorAt(uint64(place)), err
}

func (s *Store) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return store.Listed(ctx, func() ([]store.Cluster, error) {
		return collectFrom(ctx, s.query, `SELECT leader, count(*) FROM page WHERE leader IS NOT NULL GROUP BY leader ORDER BY count(*) DESC, min(place)`, nil, func(row pgx.Row) (c store.Cluster, err error) {
			return c, row.Scan((*id)(&c.Leader), &c.Members)
		})
	})
}

// maxClusters is the maximum number of clusters whose members one query reads.
const maxClusters = 256

func (s *Store) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	const sql = `SELECT m.record, m.visit FROM unnest($1::uuid[]) WITH ORDINALITY a(leader, i)
 CROSS JOIN LATERAL (SELECT v.record::text, r.visit, p.resemblance, p.place FROM page p JOIN visit v ON v.id = p.visit` + lastVisit + ` WHERE p.leader = a.leader) m ORDER BY a.i, m.resemblance DESC, m.place`
	return store.Sequence(func(yield func(*store.Record) error) (err error) {
		for part := range slices.Chunk(leaders, maxClusters) {
			if err == nil {
				err = store.Forward(store.Listed(ctx, func() ([]*store.Record, error) { return collectFrom(ctx, s.query, sql, []any{ids(part)}, scanRecord) }), yield)
			}
		}
		return err
	})
}

func scanRecord(row pgx.Row) (*store.Record, error) {
	var record, later []byte
	if err := row.Scan(&record, &later); err != nil {
		return nil, err
	}
	return store.UnpackRecord(afterVisit(record, later))
}

// sum returns the counters by name. If states is true, it returns only those whose names begin with
// "state ". If not, it returns only the others.
func (s *Store) sum(ctx context.Context, states bool) (map[string]int64, error) {
	flat := map[string]int64{}
	err := s.query(ctx, "SELECT name, sum(n)::bigint FROM counter WHERE (name LIKE 'state %') = $1 GROUP BY name HAVING sum(n) <> 0", []any{states},
		func() { clear(flat) }, func(rows pgx.Rows) error {
			var name string
			var n int64
			err := rows.Scan(&name, &n)
			flat[name] = n
			return err
		})
	return flat, err
}

func (s *Store) Tally(ctx context.Context) (store.Tally, error) {
	flat, err := s.sum(ctx, false)
	if err != nil {
		return store.Tally{}, err
	}
	return tallyOf(flat)
}

func (s *Store) Counts(ctx context.Context) (frontier.Counts, error) {
	var per frontier.PerState
	flat, err := s.sum(ctx, true)
	for name, n := range flat {
		state, err := strconv.Atoi(strings.TrimPrefix(name, "state "))
		if err != nil || state < 0 || state >= len(per) {
			return frontier.Counts{}, fmt.Errorf("%w: invalid counter %q", store.ErrCorrupt, name)
		}
		per[state] = n
	}
	return per.Counts(), err
}

func (s *Store) State(ctx context.Context, url string) (frontier.State, error) {
	var n int16
	err := s.try(ctx, func(ctx context.Context) error {
		const sql = "SELECT CASE WHEN EXISTS (SELECT FROM queue WHERE hash = $1) OR (SELECT r.pending FROM page p" + lastVisit + " WHERE p.id = $2) THEN 1 ELSE coalesce((SELECT state FROM known WHERE hash = $1), 0) END"
		return s.pool.QueryRow(ctx, sql, id(hashOf(url)), id(dedup.HashOf([]byte(url)))).Scan(&n)
	})
	return frontier.State(n), err
}

const maxListed = 10_000

// named is a row of a list that is read in parts, with the key that the list is sorted by.
type named[K, T any] struct {
	key   K
	value T
}

// paged yields a long list, reading it in parts. The first two arguments of sql are the key after
// which a part begins, and the maximum length of the part.
func paged[K, T any](ctx context.Context, query querier, sql string, first K, scan func(pgx.Row) (named[K, T], error), more ...any) iter.Seq2[T, error] {
	return store.Sequence(func(yield func(T) error) error {
		for after, full := first, true; full; {
			part, err := collectFrom(ctx, query, sql, append([]any{after, maxListed}, more...), scan)
			full = len(part) == maxListed
			for i := 0; i < len(part) && err == nil; i++ {
				after = part[i].key
				if err = ctx.Err(); err == nil {
					err = yield(part[i].value)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

const outsideSQL = "SELECT hash, url FROM known WHERE hash > $1 AND state = 7 ORDER BY hash LIMIT $2"

func scanURL[K any](row pgx.Row) (n named[K, string], err error) {
	return n, row.Scan(&n.key, &n.value)
}

func (s *Store) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	switch state {
	case frontier.Outside:
		return paged(ctx, s.query, outsideSQL, id{}, scanURL)
	case frontier.Pending:
		return store.Sequence(func(yield func(string) error) error {
			err := store.Forward(paged(ctx, s.query, "SELECT hash, item->>'URL' FROM queue WHERE hash > $1 ORDER BY hash LIMIT $2", id{}, scanURL), yield)
			if err == nil {
				err = store.Forward(paged(ctx, s.query, inRunsSQL, []int64{math.MinInt64, 0, 0}, scanURL), yield)
			}
			return err
		})
	}
	return func(func(string, error) bool) {}
}

const inRunsSQL = `SELECT ARRAY[r.lane, r.first, u.place], v.record->>'url' FROM run r` + elements + ` JOIN page p ON p.place = u.place JOIN visit v ON v.id = p.visit
 WHERE (r.lane, r.first) >= (($1::bigint[])[1], ($1::bigint[])[2]) AND (r.lane, r.first, u.place) > (($1::bigint[])[1], ($1::bigint[])[2], ($1::bigint[])[3])
 AND r.seq IS NOT NULL AND ` + pendingSQL + ` ORDER BY r.lane, r.first, u.place LIMIT $2`

func (s *Store) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	const sql = `SELECT h.name, h.rest, (SELECT count(*) FROM queue WHERE host = h.name AND later IS NULL) + (SELECT count(*) FROM queue WHERE host = h.name AND later IS NOT NULL)
  + (SELECT count(*) FROM run r` + elements + ` WHERE r.host = h.name AND r.seq IS NOT NULL AND ` + pendingSQL + `),
 coalesce(least((SELECT rank FROM queue WHERE host = h.name AND later IS NULL AND NOT hash = ANY($3::uuid[]) ORDER BY rank, seq LIMIT 1),
  (SELECT r.rank FROM run r` + elements + ` WHERE r.host = h.name AND r.seq IS NOT NULL AND ` + pendingSQL + ` AND NOT u.place = ANY($4::bigint[]) ORDER BY r.rank, r.seq LIMIT 1)) & 1048575, 0)
 FROM host h WHERE name > $1 AND (EXISTS (SELECT FROM queue WHERE host = h.name AND later IS NULL) OR EXISTS (SELECT FROM queue WHERE host = h.name AND later IS NOT NULL)
  OR EXISTS (SELECT FROM run WHERE host = h.name AND seq IS NOT NULL))
 ORDER BY name LIMIT $2`
	var taken []id
	var places []int64
	for _, h := range s.holdings(frontier.Claim{}) {
		h.mu.Lock()
		hashes, inRuns := h.list()
		taken, places = append(taken, hashes...), append(places, inRuns...)
		h.mu.Unlock()
	}
	return paged(ctx, s.query, sql, "", func(row pgx.Row) (n named[string, frontier.Host], err error) {
		h := &n.value
		err = row.Scan(&h.Name, &h.Rest, &h.Pending, &h.Depth)
		h.Rest, n.key = s.clock.fromTheirs(h.Rest), h.Name
		return n, err
	}, list(taken), list(places))
}

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Dump implements [store.Portable]. It reads in one transaction, so workers can write during the
// dump. If the connection is lost, Dump returns an error.
func (s *Store) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return func(yield func(*store.Part, error) bool) {
		stopped := false
		err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			d := dumping{s, tx, func(p *store.Part) error {
				if !yield(p, nil) {
					stopped = true
					return errStopped
				}
				return nil
			}}
			for _, step := range []func(context.Context) error{d.names, d.hosts, d.pages, d.last, d.outside, d.queue} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !stopped {
			yield(nil, fmt.Errorf("read store %s: %w", s.address, s.explain(err)))
		}
	}
}

var errStopped = errors.New("the caller stopped reading the dump")

type dumping struct {
	s     *Store
	tx    pgx.Tx
	yield func(*store.Part) error
}

// rows yields the part that scan returns for each row of a query, unless the part is nil.
func (d dumping) rows(ctx context.Context, sql string, scan func(pgx.Row) (*store.Part, error), args ...any) error {
	rows, err := d.tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		part, err := scan(rows)
		if err == nil && part != nil {
			err = d.yield(part)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d dumping) names(ctx context.Context) error {
	return d.rows(ctx, "SELECT name, value FROM meta WHERE kind = $1 AND name <> $2 ORDER BY name", func(row pgx.Row) (*store.Part, error) {
		var v store.NamedValue
		return &store.Part{Value: &v}, row.Scan(&v.Name, &v.Value)
	}, metaKind, sweepName)
}

func (d dumping) hosts(ctx context.Context) error {
	return d.rows(ctx, "SELECT name, rest FROM host ORDER BY name", func(row pgx.Row) (*store.Part, error) {
		var h frontier.Host
		err := row.Scan(&h.Name, &h.Rest)
		if h.Rest = d.s.clock.fromTheirs(h.Rest).Lasting(); h.Rest == (frontier.Rest{}) {
			return nil, err
		}
		return &store.Part{Host: &h}, err
	})
}

func (d dumping) pages(ctx context.Context) error {
	const sql = "SELECT " + partsSQL + ", p.hash, v.keys FROM page p JOIN visit v ON v.id = p.visit CROSS JOIN (SELECT 7 AS want) a WHERE p.place > $1 ORDER BY p.place LIMIT "
	for place, more := int64(0), true; more; {
		var pages []*store.Placed
		rows, err := d.tx.Query(ctx, sql+strconv.Itoa(maxChanges), place)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var p store.Placed
			var hash *id
			var keys []int64
			if p.Packed, place, err = scanPage(rows, &hash, &keys); err != nil {
				return err
			}
			p.Place = uint64(place)
			if hash != nil {
				p.Hash = *hash
			}
			for _, key := range keys {
				p.Keys = append(p.Keys, uint64(key))
			}
			pages = append(pages, &p)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if err := d.states(ctx, pages); err != nil {
			return err
		}
		for _, p := range pages {
			if err := d.yield(&store.Part{Page: p}); err != nil {
				return err
			}
		}
		more = len(pages) == maxChanges
	}
	return nil
}

func (d dumping) last(ctx context.Context) error {
	return d.rows(ctx, "SELECT place FROM turn WHERE one = 1 AND place > 0", func(row pgx.Row) (*store.Part, error) {
		var place int64
		err := row.Scan(&place)
		return &store.Part{Last: uint64(place)}, err
	})
}

func (d dumping) states(ctx context.Context, pages []*store.Placed) error {
	byHash := map[id]*store.Placed{}
	var hashes []id
	for _, p := range pages {
		r, err := store.UnpackRecord(p.Record)
		if err != nil {
			return err
		}
		hash := id(hashOf(r.URL))
		byHash[hash], hashes = p, append(hashes, hash)
	}
	rows, err := d.tx.Query(ctx, "SELECT hash, state FROM known WHERE hash = ANY($1) AND state <> $2", hashes, frontier.Pending)
	if err != nil {
		return err
	}
	var hash id
	var state int16
	_, err = pgx.ForEachRow(rows, []any{&hash, &state}, func() error {
		byHash[hash].State = frontier.State(state)
		return nil
	})
	return err
}

// outside yields the URLs outside the crawl, except those with a record, whose state is yielded
// with their page.
func (d dumping) outside(ctx context.Context) error {
	after := id{}
	for more := true; more; {
		rows, err := d.tx.Query(ctx, "SELECT hash, url FROM known WHERE hash > $1 AND state = $2 ORDER BY hash LIMIT $3", after, frontier.Outside, maxListed)
		if err != nil {
			return err
		}
		var urls []string
		var url string
		if _, err := pgx.ForEachRow(rows, []any{&after, &url}, func() error { urls = append(urls, url); return nil }); err != nil {
			return err
		}
		recorded, err := d.recorded(ctx, urls)
		if err != nil {
			return err
		}
		for _, url := range urls {
			if !recorded[url] {
				if err := d.yield(&store.Part{Outside: url}); err != nil {
					return err
				}
			}
		}
		more = len(urls) == maxListed
	}
	return nil
}

func (d dumping) recorded(ctx context.Context, urls []string) (map[string]bool, error) {
	byHash := map[id]string{}
	var pages []id
	for _, url := range urls {
		page := id(dedup.HashOf([]byte(url)))
		byHash[page], pages = url, append(pages, page)
	}
	rows, err := d.tx.Query(ctx, "SELECT id FROM page WHERE id = ANY($1)", pages)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	var page id
	_, err = pgx.ForEachRow(rows, []any{&page}, func() error { all[byHash[page]] = true; return nil })
	return all, err
}

func (d dumping) queue(ctx context.Context) error {
	for _, sql := range []string{
		"SELECT item FROM queue WHERE later IS NULL ORDER BY host, rank, seq",
		"SELECT item FROM queue WHERE later IS NOT NULL ORDER BY host, later, seq",
	} {
		err := d.rows(ctx, sql, func(row pgx.Row) (*store.Part, error) {
			var it frontier.Item
			return &store.Part{Item: &it}, row.Scan(&it)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Load implements [store.Portable].
func (s *Store) Load(ctx context.Context, parts []*store.Part) error {
	var pages []*store.Placed
	var outside []string
	var items []frontier.Item
	for _, p := range parts {
		var err error
		switch {
		case p.Value != nil:
			err = s.SetMeta(ctx, p.Value.Name, p.Value.Value)
		case p.Host != nil:
			err = s.loadHost(ctx, p.Host)
		case p.Page != nil:
			pages = append(pages, p.Page)
		case p.Last != 0:
			err = s.loadLast(ctx, int64(p.Last))
		case p.Outside != "":
			outside = append(outside, p.Outside)
		default:
			items = append(items, *p.Item)
		}
		if err != nil {
			return err
		}
	}
	if err := s.loadPages(ctx, pages); err != nil {
		return err
	}
	if outside != nil {
		err := s.try(ctx, func(ctx context.Context) error {
			b := &pgx.Batch{}
			s.queueBeyond(b, outside)
			return s.pool.SendBatch(ctx, b).Close()
		})
		if err != nil {
			return err
		}
	}
	_, err := s.Requeue(ctx, items)
	return err
}

func (s *Store) loadHost(ctx context.Context, h *frontier.Host) error {
	rest := s.clock.theirs(h.Rest.Bounded(s.clock.ours()))
	packed, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	return s.try(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, "INSERT INTO host (name, rest, due) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET rest = excluded.rest, due = excluded.due", h.Name, string(packed), nanos(rest.Due()))
		return err
	})
}

func (s *Store) loadLast(ctx context.Context, place int64) error {
	return s.try(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, "UPDATE turn SET place = greatest(place, $1) WHERE one = 1", place)
		return err
	})
}

// These statements write pages with their commit numbers. The first statement locks turn. If an
// earlier attempt of the same call has written the pages, and only its response was lost, the
// statement changes no row.
const (
	loadTurnSQL  = "UPDATE turn SET place = greatest(place, $1), holder = $3 WHERE one = 1 AND birth = $2 AND holder <> $3"
	loadPageSQL  = "INSERT INTO page (id, place, visit, hash, leader, resemblance) SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::uuid[], $6::float8[])"
	loadKeysSQL  = "INSERT INTO posting (key, place) SELECT * FROM unnest($1::bigint[], $2::bigint[])"
	loadKnownSQL = "INSERT INTO known (hash, state, was, url) SELECT a.hash, a.state, 0, a.url FROM unnest($1::uuid[], $2::smallint[], $3::text[]) a(hash, state, url)"
	loadCountSQL = `INSERT INTO counter (name, slot, n) SELECT a.name, $1, a.n FROM unnest($2::text[], $3::bigint[]) a(name, n) ORDER BY a.name
 ON CONFLICT (name, slot) DO UPDATE SET n = counter.n + excluded.n`
)

func (s *Store) loadPages(ctx context.Context, pages []*store.Placed) error {
	if pages == nil {
		return nil
	}
	w := &writes{keys: map[uint64]bool{}, hashes: map[dedup.Hash]bool{}, placed: map[dedup.Hash]bool{}}
	var places, postedAt []int64
	var known []id
	var states []int16
	var urls []*string
	counts := map[string]int64{}
	for i, p := range pages {
		e, err := p.Entry()
		if err != nil {
			return err
		}
		record, err := json.Marshal(&e.Record)
		if err != nil {
			return err
		}
		w.place(i, e, newID(), string(record), false)
		w.tally.Add(&e.Record)
		places = append(places, int64(p.Place))
		if e.State == frontier.Unknown {
			continue
		}
		var url *string
		if e.State == frontier.Outside {
			url = &e.Record.URL
		}
		known, states, urls = append(known, hashOf(e.Record.URL)), append(states, int16(e.State)), append(urls, url)
		counts["state "+strconv.Itoa(int(e.State))]++
	}
	for _, n := range w.postedBy {
		postedAt = append(postedAt, places[n-1])
	}
	flat, err := sums(w.tally)
	if err != nil {
		return err
	}
	for name, n := range flat {
		counts[name] = n
	}
	var names []string
	var ns []int64
	for name, n := range counts {
		if n != 0 {
			names, ns = append(names, name), append(ns, n)
		}
	}
	last, attempt := places[len(places)-1], newID()
	err = s.try(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, loadTurnSQL, last, s.birth, attempt)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
			b := &pgx.Batch{}
			b.Queue(visitSQL, w.visit, w.record, w.textHash, w.sketch, w.links, w.text, w.keyArrays, w.page, w.targets, w.packed)
			b.Queue(loadPageSQL, w.page, places, w.visit, w.hash, w.leader, w.resemblance)
			b.Queue(loadKeysSQL, list(w.posted), list(postedAt))
			b.Queue(loadKnownSQL, list(known), list(states), list(urls))
			b.Queue(loadCountSQL, s.slot, list(names), list(ns))
			return tx.SendBatch(ctx, b).Close()
		})
	})
	if err == nil {
		s.raiseSeen(last)
	}
	return err
}

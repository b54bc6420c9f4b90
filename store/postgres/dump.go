package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strconv"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// Dump implements [store.Portable]. It reads in one transaction, so workers can write during the
// dump. If the connection is lost, Dump returns an error.
func (s *Store) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return store.Sequence(func(yield func(*store.Part) error) error {
		err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			d := dumping{s, tx, map[id]bool{}, yield}
			for _, step := range []func(context.Context) error{d.names, d.hosts, d.pages, d.last, d.outside, d.queue} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			err = fmt.Errorf("read store %s: %w", s.address, s.explain(err))
		}
		return err
	})
}

type dumping struct {
	s        *Store
	tx       pgx.Tx
	recorded map[id]bool // hashes of the URLs outside the crawl that have a record
	yield    func(*store.Part) error
}

// query is [Store.query] in the transaction, without another attempt after an error.
func (d dumping) query(ctx context.Context, sql string, args []any, _ func(), read func(pgx.Rows) error) error {
	rows, err := d.tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	return readRows(rows, read)
}

// rows yields the part that scan returns for each row of a query, unless the part is nil.
func (d dumping) rows(ctx context.Context, sql string, scan func(pgx.Row) (*store.Part, error), args ...any) error {
	return d.query(ctx, sql, args, nil, func(rows pgx.Rows) error {
		part, err := scan(rows)
		if err == nil && part != nil {
			err = d.yield(part)
		}
		return err
	})
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
	const sql = "SELECT " + partsSQL + ", p.hash, v.keys, coalesce(r.pending, false) FROM page p JOIN visit v ON v.id = p.visit" + lastVisit + " CROSS JOIN (SELECT 7 AS want) a WHERE p.place > $1 ORDER BY p.place LIMIT $2"
	for place, more := uint64(0), true; more; {
		pages, err := collectFrom(ctx, d.query, sql, []any{int64(place), maxChanges}, scanPlaced)
		if err == nil {
			err = d.states(ctx, pages)
		}
		if err != nil {
			return err
		}
		for _, p := range pages {
			if err := d.yield(&store.Part{Page: &p.Placed}); err != nil {
				return err
			}
			place = p.Place
		}
		more = len(pages) == maxChanges
	}
	return nil
}

// A dumped is a page, and whether its URL is pending in a run.
type dumped struct {
	store.Placed
	pending bool
}

func scanPlaced(row pgx.Row) (*dumped, error) {
	var hash *id
	var keys []int64
	p := &dumped{}
	packed, place, err := scanPage(row, &hash, &keys, &p.pending)
	p.Packed, p.Place = packed, uint64(place)
	if hash != nil {
		p.Hash = *hash
	}
	for _, key := range keys {
		p.Keys = append(p.Keys, uint64(key))
	}
	return p, err
}

func (d dumping) last(ctx context.Context) error {
	return d.rows(ctx, "SELECT place FROM turn WHERE one = 1 AND place > 0", func(row pgx.Row) (*store.Part, error) {
		var place int64
		err := row.Scan(&place)
		return &store.Part{Last: uint64(place)}, err
	})
}

func (d dumping) states(ctx context.Context, pages []*dumped) error {
	byHash := map[id]*dumped{}
	var hashes []id
	for _, p := range pages {
		if p.pending {
			continue
		}
		r, err := store.UnpackRecord(p.Record)
		if err != nil {
			return err
		}
		hash := id(hashOf(r.URL))
		byHash[hash], hashes = p, append(hashes, hash)
	}
	rows, err := d.tx.Query(ctx, "SELECT hash, state FROM known k WHERE hash = ANY($1) AND state <> $2 AND NOT EXISTS (SELECT FROM queue q WHERE q.hash = k.hash)", hashes, frontier.Pending)
	if err != nil {
		return err
	}
	var hash id
	var state int16
	_, err = pgx.ForEachRow(rows, []any{&hash, &state}, func() error {
		byHash[hash].State = frontier.State(state)
		if state == int16(frontier.Outside) {
			d.recorded[hash] = true
		}
		return nil
	})
	return err
}

// outside yields the URLs outside the crawl, except those with a record, whose state is yielded
// with their page.
func (d dumping) outside(ctx context.Context) error {
	return store.Forward(paged(ctx, d.query, outsideSQL, id{}, scanURL), func(url string) error {
		if d.recorded[hashOfLeft(url)] {
			return nil
		}
		return d.yield(&store.Part{Outside: url})
	})
}

func (d dumping) queue(ctx context.Context) error {
	for _, sql := range []string{
		"WHERE later IS NULL ORDER BY host, rank, seq, place",
		"WHERE later IS NOT NULL ORDER BY host, later, seq",
	} {
		err := d.rows(ctx, "SELECT item, id, record, visit, asked, wanted FROM waiting "+sql, func(row pgx.Row) (*store.Part, error) {
			var it frontier.Item
			var packed []byte
			err := row.Scan(&packed, nil, nil, nil, nil, nil)
			if err == nil && packed != nil {
				return &store.Part{Item: &it}, json.Unmarshal(packed, &it)
			}
			p, err := scanRunPage(row, nil)
			if err == nil {
				it, err = p.item()
			}
			return &store.Part{Item: &it}, err
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
			_, err = s.exec(ctx, "UPDATE turn SET place = greatest(place, $1) WHERE one = 1", int64(p.Last))
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
		if err := s.send(ctx, func(b *pgx.Batch) { s.queueBeyond(b, outside) }); err != nil {
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
	_, err = s.exec(ctx, "INSERT INTO host (name, rest, due) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET rest = excluded.rest, due = excluded.due", h.Name, string(packed), nanos(rest.Due()))
	return err
}

// These statements write pages with their commit numbers. The first statement locks turn. If an
// earlier attempt of the same call has written the pages, and only its response was lost, the
// statement changes no row.
const (
	loadTurnSQL  = "UPDATE turn SET place = greatest(place, $1), holder = $3 WHERE one = 1 AND birth = $2 AND holder <> $3"
	loadPageSQL  = "INSERT INTO page (id, place, visit, hash, leader, resemblance, lane) SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::uuid[], $6::float8[], $7::bigint[])"
	loadKeysSQL  = "INSERT INTO posting (key, place) SELECT * FROM unnest($1::bigint[], $2::bigint[])"
	loadKnownSQL = "INSERT INTO known (hash, state, was, url) SELECT a.hash, a.state, 0, a.url FROM unnest($1::uuid[], $2::smallint[], $3::text[]) a(hash, state, url)"
)

func (s *Store) loadPages(ctx context.Context, pages []*store.Placed) error {
	if pages == nil {
		return nil
	}
	w := &writes{keys: map[uint64]bool{}, hashes: map[dedup.Hash]bool{}, placed: map[dedup.Hash]bool{}}
	var places, postedAt []int64
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
		w.end(e, false)
		counts["state "+strconv.Itoa(int(e.State))]++
	}
	for _, n := range w.postedBy {
		postedAt = append(postedAt, places[n-1])
	}
	flat, err := sums(w.tally)
	if err != nil {
		return err
	}
	maps.Copy(counts, flat)
	names, ns := changedCounts(counts)
	last, attempt := places[len(places)-1], newID()
	err = s.try(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, loadTurnSQL, last, s.birth, attempt)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
			b := &pgx.Batch{}
			w.queueVisits(b)
			b.Queue(loadPageSQL, w.page, places, w.visit, w.hash, w.leader, w.resemblance, w.lane)
			b.Queue(loadKeysSQL, list(w.posted), list(postedAt))
			b.Queue(loadKnownSQL, list(w.ended), list(w.endedAs), list(w.endedURL))
			b.Queue(countSQL, attempt, s.slot, names, ns)
			return tx.SendBatch(ctx, b).Close()
		})
	})
	if err == nil {
		s.raiseSeen(last)
	}
	return err
}

package postgres

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/zeebo/xxh3"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// These statements look up copies and similar pages. They search an index once for each row of
// unnest, with a LIMIT, so the planner never chooses to read a whole table. The column i is the
// index of the ask.
const (
	copiesSQL = `SELECT DISTINCT ON (a.i) a.i, v.record::text, r.visit, l.record::text, l.visit
 FROM unnest($1::int[], $2::uuid[], $3::uuid[]) a(i, hash, self)
 CROSS JOIN LATERAL (SELECT lane, place, visit, leader FROM page WHERE hash = a.hash AND id <> a.self ORDER BY place LIMIT 1) p
 JOIN visit v ON v.id = p.visit` + lastVisit + `
 LEFT JOIN page f ON f.id = p.leader
 LEFT JOIN LATERAL (SELECT v.record, r.visit FROM (SELECT f.lane, f.place) p JOIN visit v ON v.id = f.visit` + lastVisit + `) l ON true
 ORDER BY a.i, p.place`

	// leadersSQL returns the leaders that share enough keys with the ask. It selects the same ones
	// as dedup.Met. For each key with more leaders than the limit it returns a row without a
	// leader.
	leadersSQL = `WITH met AS MATERIALIZED (
 SELECT a.i, a.k, p.place, p.nth > a.most AS more FROM unnest($1::int[], $2::int[], $3::bigint[], $4::int[]) a(i, k, key, most)
 CROSS JOIN LATERAL (SELECT place, row_number() OVER (ORDER BY place) AS nth FROM (SELECT place FROM posting WHERE posting.key = a.key ORDER BY place LIMIT a.most + 1) q) p)
 SELECT m.i, -1, m.place, p.id, v.text_hash, v.sketch, m.n FROM (SELECT i, place, count(*) n, row_number() OVER (PARTITION BY i ORDER BY count(*) DESC, place) nth
  FROM met WHERE NOT more GROUP BY i, place) m
 CROSS JOIN LATERAL (SELECT id, visit FROM page WHERE place = m.place) p
 JOIN visit v ON v.id = p.visit
 WHERE m.nth <= $7 AND m.n >= ($5::int[])[m.i + 1] AND v.sketch IS NOT NULL AND p.id <> ($6::uuid[])[m.i + 1]
 UNION ALL SELECT i, k, null, null, null, null, null FROM met WHERE more ORDER BY 1, 3`
)

// Lookup answers asks, together with those of concurrent calls, in one round trip.
func (s *Store) Lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	if err := ctx.Err(); err != nil || len(asks) == 0 {
		return []store.Found{}, err
	}
	return s.lookups.Ask(ctx, asks)
}

func (s *Store) lookupAll(calls [][]store.Ask) ([][]store.Found, error) {
	var found []store.Found
	err := s.try(s.life, func(ctx context.Context) (err error) {
		found, err = s.lookup(ctx, slices.Concat(calls...))
		return err
	})
	if err != nil {
		return nil, err
	}
	return parts(calls, found), nil
}

// lookup first reads the mark, which is the number of the last commit, so later statements see at
// least all commits up to the mark.
func (s *Store) lookup(ctx context.Context, asks []store.Ask) ([]store.Found, error) {
	all := make([]store.Found, len(asks))
	var hi, ki, kk, most, meet []int32
	var hashes, selves, self []id
	var keys []int64
	for i, a := range asks {
		meet, self = append(meet, int32(max(a.Meet, 1))), append(self, a.ID)
		for _, h := range a.Hashes {
			hi, hashes, selves = append(hi, int32(i)), append(hashes, h), append(selves, a.ID)
		}
		for k, key := range a.Keys {
			ki, kk, keys, most = append(ki, int32(i)), append(kk, int32(k)), append(keys, int64(key)), append(most, int32(min(max(a.Limit, 0), 1<<20)))
		}
		all[i].Full = make([]bool, len(a.Keys))
	}
	b := &pgx.Batch{}
	var place int64
	s.queueTurn(b, &place)
	if hashes != nil {
		b.Queue(copiesSQL, hi, hashes, selves).Query(func(rows pgx.Rows) error { return readCopies(rows, all) })
	}
	if keys != nil {
		b.Queue(leadersSQL, ki, kk, keys, most, meet, self, dedup.MaxMet).Query(func(rows pgx.Rows) error { return readLeaders(rows, all) })
	}
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Mark = store.MarkAt(uint64(place)); all[i].Copy != nil {
			all[i].Leaders, all[i].Full = nil, nil
		}
	}
	return all, nil
}

const turnSQL = "SELECT birth, place FROM turn WHERE one = 1"

// queueTurn adds to b the statement that reads the number of the last commit. The statement fails if the
// store is no longer the one that was opened. It also fails if the number is lower than the highest
// number known before, because then the server has lost commits.
func (s *Store) queueTurn(b *pgx.Batch, place *int64) {
	seen := s.seen.Load()
	b.Queue(turnSQL).QueryRow(func(row pgx.Row) error {
		var birth id
		switch err := row.Scan(&birth, place); {
		case err == pgx.ErrNoRows, err == nil && birth != s.birth:
			return errGone
		case err != nil:
			return err
		case *place < seen:
			return errForgot
		}
		s.raiseSeen(*place)
		return nil
	})
}

func readCopies(rows pgx.Rows, all []store.Found) error {
	var i int
	var found, later, leader, leaderLater []byte
	_, err := pgx.ForEachRow(rows, []any{&i, &found, &later, &leader, &leaderLater}, func() (err error) {
		f := &all[i]
		if f.Copy, err = store.UnpackRecord(afterVisit(found, later)); err == nil && leader != nil {
			f.Followed, err = store.UnpackRecord(afterVisit(leader, leaderLater))
		}
		return err
	})
	return err
}

func readLeaders(rows pgx.Rows, all []store.Found) error {
	var i, k int
	var place *int64
	var page, hash *id
	var sketch []byte
	var shared *int
	_, err := pgx.ForEachRow(rows, []any{&i, &k, &place, &page, &hash, &sketch, &shared}, func() error {
		if k >= 0 {
			all[i].Full[k] = true
			return nil
		}
		l := store.Leader{ID: *page, Shared: *shared}
		if hash != nil {
			l.Hash = *hash
		}
		s, err := unpackSketch(sketch)
		if err == nil {
			l.Sketch = *s
			all[i].Leaders = append(all[i].Leaders, l)
		}
		return err
	})
	return err
}

// hashOf returns the hash that identifies a URL in the tables known and queue. Its first four bytes
// are a hash of the host, so the URLs of a host are adjacent in an index. Most links on a page lead
// to a single host, so few blocks of the index are read for them. The other twelve bytes are from
// the hash of the URL.
func hashOf(url string) dedup.Hash {
	h := dedup.HashOf([]byte(url))
	binary.BigEndian.PutUint32(h[:], uint32(xxh3.HashString(frontier.HostOf(url))))
	return h
}

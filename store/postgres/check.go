package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A Fault is a contradiction between rows of a store.
type Fault struct {
	Row, What string
	Cure      Cure
}

// A Cure is what removes a fault.
type Cure uint8

const (
	CopyStore  Cure = iota // a copy of the store does not have the fault
	DeletePage             // skink delete judges the pages that depend on the page again
	RunSQL                 // the fault names a statement that mends the row
	DropRow                // a copy without the row does not have the fault
)

// faultsSQL contains queries for rows that contradict each other. Each returns the row, and what is
// wrong with it. A leader may follow another page, or have lost its text, while its URL or that of the
// other page is pending: then its members are judged again.
var faultsSQL = []struct {
	sql  string
	cure Cure
}{
	{`SELECT 'turn', format('the last place is %s, but a page has the place %s', t.place, max(p.place)) FROM turn t, page p GROUP BY t.place HAVING max(p.place) > t.place`, CopyStore},
	{`SELECT format('page %s', p.id), 'it has no visit' FROM page p LEFT JOIN visit v ON v.id = p.visit AND v.page = p.id WHERE v.id IS NULL`, CopyStore},
	{`SELECT format('visit %s', v.id), format('no page has this visit of %s', v.record->>'url') FROM visit v LEFT JOIN page p ON p.id = v.page AND p.visit = v.id
 WHERE p.id IS NULL AND v.id <= (SELECT encode(value, 'hex')::uuid FROM meta WHERE kind = 0 AND name = '` + sweepName + `')`, CopyStore},
	{`SELECT format('page %s', v.page), format('the page at place %s has %s of %s index keys, so later copies of %s are not found', p.place, count(o.key), count(*), v.record->>'url')
 FROM page p JOIN visit v ON v.id = p.visit CROSS JOIN LATERAL unnest(v.keys) k(key) LEFT JOIN posting o ON o.key = k.key AND o.place = p.place GROUP BY v.id, p.place HAVING count(o.key) < count(*)`, CopyStore},
	{`SELECT format('posting %s', o.place), format('%s index keys belong to no page', count(*))
 FROM posting o LEFT JOIN (SELECT p.place, unnest(v.keys) AS key FROM page p JOIN visit v ON v.id = p.visit) k ON k.key = o.key AND k.place = o.place WHERE k.key IS NULL GROUP BY o.place`, CopyStore},
	{`SELECT format('page %s', p.id), format('%s duplicates the page %s, which %s', v.record->>'url', p.leader, CASE WHEN l.id IS NULL THEN 'is not in the store' WHEN l.leader IS NULL THEN 'has no text' ELSE 'is a duplicate itself' END)
 FROM page p JOIN visit v ON v.id = p.visit LEFT JOIN page l ON l.id = p.leader LEFT JOIN visit lv ON lv.id = l.visit
 WHERE p.leader IS NOT NULL AND (l.id IS NULL OR l.leader IS NOT NULL OR l.hash IS NULL) AND NOT EXISTS (SELECT FROM waiting w WHERE w.url IN (lv.record->>'url', lv.record->>'duplicate_of'))`, DropRow},
	{`SELECT format('known %s', k.hash), 'the URL is pending, but not in the queue' FROM known k WHERE k.state = 1 AND NOT EXISTS (SELECT FROM queue q WHERE q.hash = k.hash)`, CopyStore},
	{`SELECT format('queue %s', q.hash), format('%s is queued, but not known', q.item->>'URL') FROM queue q WHERE NOT EXISTS (SELECT FROM known k WHERE k.hash = q.hash)`, CopyStore},
	{`SELECT format('host %s', w.host), format('no worker claims it, but %s of its URLs are pending', count(*)) FROM waiting w LEFT JOIN host h ON h.name = w.host WHERE h.rank IS NULL GROUP BY w.host`, CopyStore},
	{`SELECT format('run %s, %s', r.lane, r.first), format('the page to visit again at place %s is not in the store', u.place) FROM run r CROSS JOIN LATERAL unnest(r.places) u(place) LEFT JOIN page p ON p.place = u.place AND p.lane = r.lane
 WHERE p.id IS NULL OR r.first <> (SELECT first FROM run n WHERE n.lane = r.lane AND n.first <= u.place ORDER BY first DESC LIMIT 1)`, CopyStore},
	{`SELECT format('run %s, %s', lane, first), 'its columns do not match' FROM run WHERE cardinality(places) <> cardinality(visits) OR cardinality(places) <> cardinality(wanted)`, CopyStore},
	{`SELECT format('run %s, %s', lane, first), format('its pages are pending, but no worker takes them; UPDATE run SET seq = nextval(''queue_seq'') WHERE lane = %s AND first = %s', lane, first)
 FROM run r WHERE seq IS NULL AND EXISTS (SELECT FROM unnest(r.places, r.wanted, r.visits) u(place, wanted, visit) WHERE ` + pendingSQL + `)`, RunSQL},
}

// A checking compares the rows of one snapshot.
type checking struct {
	dumping
	faults []Fault
	tally  store.Tally
	counts map[string]int64 // what the rows say of the table counter
}

// Check compares the rows of the store with each other. It returns the faults, and the numbers of records.
// It reads one snapshot without locks, so workers may write meanwhile.
func (s *Store) Check(ctx context.Context) ([]Fault, store.Tally, error) {
	c := checking{counts: map[string]int64{}}
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		c.dumping = dumping{s: s, tx: tx}
		for _, f := range faultsSQL {
			if err := c.each(ctx, f.sql, func(rows pgx.Rows) error {
				var row, what string
				err := rows.Scan(&row, &what)
				c.found(f.cure, row, what)
				return err
			}); err != nil {
				return err
			}
		}
		return cmp.Or(c.pages(ctx), c.urls(ctx), c.counters(ctx))
	})
	if err != nil {
		return nil, c.tally, fmt.Errorf("check store %s: %w", s.address, s.explain(err))
	}
	return c.faults, c.tally, nil
}

func (c *checking) found(cure Cure, row, what string) {
	c.faults = append(c.faults, Fault{row, what, cure})
}

func (c *checking) each(ctx context.Context, sql string, read func(pgx.Rows) error, args ...any) error {
	return c.query(ctx, sql, args, nil, read)
}

// pages reads all of each page, and compares its columns with its record.
func (c *checking) pages(ctx context.Context) error {
	const sql = `SELECT p.id, p.id::text, p.place, v.record::text, r.visit, coalesce(r.pending, false), v.text, v.packed, v.sketch, v.links, v.targets, v.text_hash, p.hash, coalesce(cardinality(v.keys), 0), p.leader, p.resemblance, p.lane
 FROM page p JOIN visit v ON v.id = p.visit` + lastVisit + ` WHERE p.place > $1 ORDER BY p.place LIMIT $2`
	for place, more := int64(0), true; more; {
		n, pages := 0, map[id]*checkedPage{}
		err := c.each(ctx, sql, func(rows pgx.Rows) error {
			n++
			p := &checkedPage{}
			err := rows.Scan(&p.id, &p.name, &place, &p.record, &p.visit, &p.pending, &p.text, &p.packed, &p.sketch, &p.links, &p.targets, &p.textHash, &p.hash, &p.keys, &p.leader, &p.resemblance, &p.lane)
			if err != nil {
				return err
			}
			r, differs, wrong := p.read()
			if wrong != nil {
				c.found(DropRow, "page "+p.name, wrong.Error())
				return nil
			}
			c.tally.Add(r)
			p.url, pages[hashOf(r.URL)] = r.URL, p
			if differs != "" {
				c.found(CopyStore, "page "+p.name, differs+" differs from the record of "+r.URL)
			}
			if r.Verdict == dedup.Unique && p.sketch != nil && p.keys == 0 {
				c.found(DeletePage, "page "+p.name, r.URL+" has no index keys, so later copies of it are not found")
			}
			return nil
		}, place, maxChanges)
		if err == nil {
			err = c.states(ctx, pages)
		}
		if more = n == maxChanges; err != nil {
			return err
		}
	}
	return nil
}

type checkedPage struct {
	id                    id
	name, url             string
	record, visit         []byte
	pending               bool
	text                  *string
	packed, sketch, links []byte
	targets               []id
	textHash, hash        *id
	leader                *id
	keys                  int
	resemblance           float64
	lane                  int64
}

// read returns the record of the page after its last visit, and the column that differs from it. It
// returns an error if a column cannot be read.
func (p *checkedPage) read() (r *store.Record, differs string, err error) {
	packed := store.Packed{Record: p.record, Kept: p.text != nil, Links: p.links}
	if packed.Text, err = whole(p.text, p.packed); err == nil && p.sketch != nil {
		packed.Sketch, err = unpackSketch(p.sketch)
	}
	if err != nil {
		return nil, "", err
	}
	content, err := packed.Unpack()
	if err != nil {
		return nil, "", err
	}
	r = &content.Record
	var leader *id
	if r.Follows() {
		leader = orNull(r.Leader)
	}
	targets := map[id]bool{}
	for _, l := range content.Links {
		targets[dedup.HashOf([]byte(l.URL))] = true
	}
	for _, target := range p.targets {
		delete(targets, target)
	}
	equal := func(a, b *id) bool { return a == b || a != nil && b != nil && *a == *b }
	switch {
	case dedup.HashOf([]byte(r.URL)) != p.id, r.ID != p.id:
		return nil, "", fmt.Errorf("its record is of another URL, %s", r.URL)
	case p.hash != nil && !equal(p.hash, orNull(r.Hash)):
		return nil, "", fmt.Errorf("the hash of %s is not that of its text", r.URL)
	case !equal(p.textHash, orNull(r.Hash)):
		differs = "visit.text_hash"
	case !equal(p.leader, leader):
		differs = "page.leader"
	case r.Resemblance != p.resemblance:
		differs = "page.resemblance"
	case laneOf(store.Revisit(r, time.Time{}, false)) != p.lane:
		differs = "page.lane"
	case len(targets) > 0:
		differs = "visit.targets"
	}
	return r, differs, update(r, p.visit)
}

// states compares pages with the rows of their URLs, and counts those that are pending in runs.
func (c *checking) states(ctx context.Context, pages map[id]*checkedPage) error {
	return c.each(ctx, "SELECT a.hash, k.state FROM unnest($1::uuid[]) a(hash) LEFT JOIN known k USING (hash)", func(rows pgx.Rows) error {
		var hash id
		var state *int
		err := rows.Scan(&hash, &state)
		switch p := pages[hash]; {
		case err != nil:
		case state == nil:
			c.found(DropRow, "page "+p.name, p.url+" is not known, so each link to it queues it again")
		case p.pending:
			c.counts["state 1"]++
			c.counts[fmt.Sprint("state ", *state)]--
		}
		return err
	}, slices.Collect(maps.Keys(pages)))
}

// urls compares the rows of the queue with their items, and counts the URLs by state.
func (c *checking) urls(ctx context.Context) error {
	err := c.each(ctx, "SELECT hash, hash::text, host, rank, item::text FROM queue", func(rows pgx.Rows) error {
		var hash id
		var name, host string
		var rank int32
		var packed []byte
		var it frontier.Item
		err := rows.Scan(&hash, &name, &host, &rank, &packed)
		if err != nil {
			return err
		}
		c.counts["state 1"]++
		if err := json.Unmarshal(packed, &it); err != nil || hash != hashOf(it.URL) || host != frontier.HostOf(it.URL) || rank != rankOf(it) {
			c.found(CopyStore, "queue "+name, "hash, host or rank are not those of "+it.URL)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(ctx, "SELECT state, count(*) FROM known k WHERE NOT EXISTS (SELECT FROM queue q WHERE q.hash = k.hash) GROUP BY state", func(rows pgx.Rows) error {
		var state int
		var n int64
		err := rows.Scan(&state, &n)
		c.counts[fmt.Sprint("state ", state)] += n
		return err
	})
}

// counters compares the table counter with the rows that it counts.
func (c *checking) counters(ctx context.Context) error {
	flat, err := sums(c.tally)
	if err != nil {
		return err
	}
	maps.Copy(c.counts, flat)
	err = c.each(ctx, "SELECT name, sum(n)::bigint FROM counter GROUP BY name", func(rows pgx.Rows) error {
		var name string
		var n int64
		err := rows.Scan(&name, &n)
		if c.counts[name] != n {
			c.found(CopyStore, "counter "+name, fmt.Sprintf("it is %d, but the rows are %d", n, c.counts[name]))
		}
		delete(c.counts, name)
		return err
	})
	for _, name := range slices.Sorted(maps.Keys(c.counts)) {
		if n := c.counts[name]; n != 0 {
			c.found(CopyStore, "counter "+name, fmt.Sprintf("it is missing, but the rows are %d", n))
		}
	}
	return err
}

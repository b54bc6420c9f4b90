package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"skink/base/lru"
	"skink/frontier"
)

// These statements add newly discovered URLs, and URLs to fetch again. They write rows in the order of
// their hashes, so two transactions rarely deadlock. The hosts' rows stay locked until the new URLs are
// visible. A reader of a queue first locks the host's row, so a host with new URLs never appears empty.
// IS TRUE keeps the planner from joining with a nested loop, which is slow for a page with many links.
const (
	discoverSQL = `WITH found AS (
  SELECT a.* FROM unnest($1::uuid[], $2::int[], $3::text[], $4::int[], $5::bigint[], $6::text[]) a(hash, i, host, rank, later, item)
  WHERE $9::uuid IS NULL OR EXISTS (SELECT FROM turn WHERE one = 1 AND holder = $9)),
 fresh AS (
  INSERT INTO known (hash, state, was) SELECT hash, 1, 0 FROM found
   WHERE NOT EXISTS (SELECT FROM known k WHERE k.hash = found.hash AND NOT k.state = ANY($7::smallint[]))
  ON CONFLICT (hash) DO UPDATE SET state = 1, was = known.state, url = NULL WHERE known.state = ANY($7::smallint[])
  RETURNING hash, was),
 queued AS (
  INSERT INTO queue (hash, host, rank, later, item)
  SELECT hash, host, rank, CASE WHEN later > ` + nowNS + ` THEN later END, item::json
  FROM found WHERE (hash IN (SELECT hash FROM fresh)) IS TRUE ORDER BY i
  ON CONFLICT (hash) DO NOTHING
  RETURNING hash, host, rank, coalesce(later, 0) AS ripe),
 was AS (SELECT was FROM fresh WHERE (hash IN (SELECT hash FROM queued)) IS TRUE),
 hosts AS (
  INSERT INTO host (name, rank, ripe) SELECT host, coalesce(min(rank) FILTER (WHERE ripe = 0), min(rank)), min(ripe) FROM queued GROUP BY host ORDER BY host
  ON CONFLICT (name) DO UPDATE SET ripe = CASE WHEN host.rank IS NULL THEN excluded.ripe ELSE least(host.ripe, excluded.ripe) END,
   rank = CASE WHEN host.rank IS NULL OR excluded.ripe < host.ripe OR excluded.ripe = host.ripe AND excluded.rank < host.rank THEN excluded.rank ELSE host.rank END),
 counted AS (
  INSERT INTO counter (name, slot, n)
  SELECT name, $8, sum(n) FROM (SELECT 'state 1' AS name, 1 AS n FROM was UNION ALL SELECT 'state ' || was, -1 FROM was WHERE was <> 0) d GROUP BY name HAVING sum(n) <> 0 ORDER BY name
  ON CONFLICT (name, slot) DO UPDATE SET n = counter.n + excluded.n)
 SELECT count(*) FROM queued`

	beyondSQL = `WITH fresh AS (
  INSERT INTO known (hash, state, was, url) SELECT a.hash, 7, 0, a.url FROM unnest($1::uuid[], $2::text[]) a(hash, url)
   WHERE NOT EXISTS (SELECT FROM known k WHERE k.hash = a.hash)
  ON CONFLICT DO NOTHING RETURNING hash)
 INSERT INTO counter (name, slot, n) SELECT 'state 7', $3, count(*) FROM fresh HAVING count(*) > 0
 ON CONFLICT (name, slot) DO UPDATE SET n = counter.n + excluded.n`
)

// rankOf returns a number that orders the URLs of a host by priority, then by depth. Lower ranks
// come first.
func rankOf(it frontier.Item) int32 {
	return int32(min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority))<<20 | int32(min(max(it.Depth, 0), maxDepth))
}

const maxDepth = 1<<20 - 1

func packItem(it frontier.Item) (string, error) {
	it.Priority = min(max(it.Priority, frontier.SoonestPriority), frontier.LatestPriority)
	b, err := json.Marshal(it)
	return string(b), err
}

// urls holds discovered URLs as one slice for each column, ordered by hash, without duplicates.
type urls struct {
	hashes      []id
	order, rank []int32 // order: position in order of arrival; rank: see rankOf
	hosts, item []string
	later       []int64
}

// urlsOf converts items to columns. If filter is not nil, it leaves out the URLs in filter.
func urlsOf(items []frontier.Item, filter *lru.Recent) (u urls, err error) {
	type found struct {
		hash id
		i    int
	}
	all := make([]found, 0, len(items))
	for i, it := range items {
		if h := hashOf(it.URL); filter == nil || !filter.Has(h) {
			all = append(all, found{h, i})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	for _, f := range slices.CompactFunc(all, func(a, b found) bool { return a.hash == b.hash }) {
		it := items[f.i]
		packed, err := packItem(it)
		if err != nil {
			return u, err
		}
		u.hashes, u.order, u.rank = append(u.hashes, f.hash), append(u.order, int32(f.i)), append(u.rank, rankOf(it))
		u.hosts, u.item, u.later = append(u.hosts, frontier.HostOf(it.URL)), append(u.item, packed), append(u.later, nanos(it.Due))
	}
	return u, nil
}

// The states of the URLs that Discover and Requeue queue. Requeue queues a URL whose state is that from
// before it was queued in a run.
var (
	newStates   = []int16{int16(frontier.Unknown), int16(frontier.Outside)}
	endedStates = []int16{0, 2, 3, 4, 5, 6, 7, 8}
)

func addAll(to *lru.Recent, hashes []id) {
	for _, h := range hashes {
		to.Add(h)
	}
}

// queueURLs adds to b the statement that queues those URLs in u whose current state is in states. If
// attempt is not nil, it does nothing unless that attempt holds the lock.
func (s *Store) queueURLs(b *pgx.Batch, u urls, states []int16, attempt *id) *pgx.QueuedQuery {
	return b.Queue(discoverSQL, u.hashes, u.order, u.hosts, u.rank, u.later, u.item, states, s.slot, attempt)
}

func (s *Store) queueBeyond(b *pgx.Batch, beyond []string) {
	slices.SortFunc(beyond, func(x, y string) int { a, b := hashOfLeft(x), hashOfLeft(y); return bytes.Compare(a[:], b[:]) })
	beyond = slices.Compact(beyond)
	hashes := make([]id, len(beyond))
	for i, url := range beyond {
		hashes[i] = hashOfLeft(url)
	}
	b.Queue(beyondSQL, hashes, beyond, s.slot)
}

func hashOfLeft(outside string) id {
	url, _ := frontier.Left(outside)
	return id(hashOf(url))
}

func (s *Store) Discover(ctx context.Context, items []frontier.Item) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	u, err := urlsOf(items, &s.sent)
	if err != nil || u.hashes == nil {
		return 0, err
	}
	err = s.send(ctx, func(b *pgx.Batch) {
		s.queueURLs(b, u, newStates, nil).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
	})
	if err == nil {
		addAll(&s.sent, u.hashes)
	}
	return n, err
}

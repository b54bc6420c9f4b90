package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
)

// # Claims
//
// A claim gives a worker exclusive use of some hosts. One statement claims them, and skips rows
// that others have locked. It selects hosts by the hints in their rows, so it may claim a host that
// turns out to have no URL ready; such a host is released at once. The token of a host counts its
// claims, so that a write with an earlier token can be refused. Claims expire by the server's
// clock.
//
// Only the process that made a claim knows which URLs it took from the queue. These URLs stay in
// the queue until they are finished, so another worker can take them when the claim ends.

const (
	askSQL            = "INSERT INTO worker (name, asked) VALUES ($1, statement_timestamp()) ON CONFLICT (name) DO UPDATE SET asked = excluded.asked"
	claimPreferredSQL = "AND name = ANY($4::text[])"
	claimSQL          = `WITH due AS (
  SELECT name FROM host WHERE rank IS NOT NULL AND at <= ` + nowNS + ` AND until <= statement_timestamp() %s
  ORDER BY rank, at, name LIMIT $1 FOR UPDATE SKIP LOCKED)
 UPDATE host SET token = token + 1, worker = $2, until = statement_timestamp() + $3::bigint * interval '1 microsecond', touched = statement_timestamp()
 FROM due WHERE host.name = due.name RETURNING host.name, host.token`

	// When URLs have become due, ripenSQL moves them behind the other URLs of the same rank
	// (priority and depth).
	ripenSQL = `UPDATE queue SET later = NULL, seq = r.seq FROM (
  SELECT hash, nextval('queue_seq') AS seq FROM (SELECT hash FROM queue WHERE host = ANY($1::text[]) AND later IS NOT NULL AND later <= ` + nowNS + ` ORDER BY later, seq) q) r
 WHERE queue.hash = r.hash`
	lockHostsSQL = "SELECT name FROM host WHERE name = ANY($1::text[]) ORDER BY name FOR UPDATE"
	refreshSQL   = `UPDATE host SET rank = x.rank, ripe = x.ripe FROM (
  SELECT h.name, coalesce(q.rank, l.rank) AS rank, CASE WHEN q.rank IS NULL THEN coalesce(l.later, 0) ELSE 0 END AS ripe
  FROM unnest($1::text[]) h(name)
  CROSS JOIN LATERAL (SELECT least((SELECT rank FROM queue WHERE host = h.name AND later IS NULL ORDER BY rank, seq LIMIT 1), (SELECT rank FROM run WHERE host = h.name AND seq IS NOT NULL ORDER BY rank, seq LIMIT 1)) AS rank) q
  LEFT JOIN LATERAL (SELECT later, rank FROM queue WHERE host = h.name AND later IS NOT NULL ORDER BY later LIMIT 1) l ON true) x
 WHERE host.name = x.name`

	// claimedSQL reads the state of the claimed hosts. For each host it counts at most 1000 URLs
	// that can be fetched now, and at most 1000 that are due later.
	claimedSQL = `SELECT name, rank, ripe, due, rest, (SELECT at FROM slot WHERE host = h.name), (SELECT delay FROM slot WHERE host = h.name),
 (SELECT count(*) FROM (SELECT FROM queue WHERE host = h.name AND later IS NULL LIMIT 1000) q) + (SELECT count(*) FROM (SELECT FROM queue WHERE host = h.name AND later IS NOT NULL LIMIT 1000) l)
 + (SELECT count(*) FROM (SELECT FROM run r` + elements + ` WHERE r.host = h.name AND r.seq IS NOT NULL AND ` + pendingSQL + ` LIMIT 1000) r)
 FROM host h WHERE name = ANY($1::text[])`

	// slotSQL reserves the time of the next request to a host. See [frontier.LastSlot].
	slotSQL = `INSERT INTO slot (host, at, delay) VALUES ($1, ` + nowNS + `, $2) ON CONFLICT (host) DO UPDATE SET delay = excluded.delay,
 at = CASE WHEN slot.at > excluded.at + 64 * slot.delay THEN excluded.at ELSE greatest(excluded.at, slot.at + greatest(excluded.delay, least(slot.delay, $3))) END
 RETURNING at - ` + nowNS

	// standingSQL counts the workers that recently asked for hosts, the claimed hosts, and the
	// unclaimed hosts with URLs to fetch. To stay fast, it looks at no more than 20,000 unclaimed
	// hosts.
	standingSQL = `SELECT statement_timestamp(), ` + nowNS + `,
 (SELECT count(*) FROM worker WHERE ` + present + `),
 (SELECT count(*) FROM host WHERE worker IS NOT NULL AND until > statement_timestamp() AND worker <> $1),
 (SELECT count(*) FROM host WHERE worker IS NOT NULL AND until > statement_timestamp()),
 count(*) FILTER (WHERE NOT idle AND ripe <= ` + nowNS + `), min(at)
 FROM (SELECT idle, ripe, at FROM host WHERE rank IS NOT NULL AND until <= statement_timestamp() ORDER BY rank, at, name LIMIT 20000) f`

	takeSQL = `SELECT rank, seq, item FROM queue WHERE host = $1 AND later IS NULL AND NOT hash = ANY($3::uuid[]) ORDER BY rank, seq LIMIT $2`
	// takeRunSQL reads the pages of runs. Those of one run are in order.
	takeRunSQL = `SELECT r.rank, r.seq, u.place, ` + runPageSQL + ` FROM run r` + elements + ` JOIN page p ON p.place = u.place JOIN visit v ON v.id = p.visit
 WHERE r.host = $1 AND r.seq IS NOT NULL AND ` + pendingSQL + ` AND NOT u.place = ANY($3::bigint[]) ORDER BY r.rank, r.seq LIMIT $2`
	// releaseSQL queues a pending URL alone, even if it was in a run.
	releaseSQL = `WITH h AS (SELECT name FROM host WHERE` + holds + `),
 r AS (UPDATE run r SET wanted[array_position(places, $9)] = 0,
   seq = CASE WHEN EXISTS (SELECT FROM unnest(r.places, r.wanted, r.visits) u(place, wanted, visit) WHERE u.place <> $9 AND ` + pendingSQL + `) THEN seq END
  FROM h, page p WHERE p.place = $9 AND r.lane = p.lane AND r.first = (SELECT first FROM run WHERE lane = p.lane AND first <= $9 ORDER BY first DESC LIMIT 1)
   AND EXISTS (SELECT FROM unnest(r.places, r.wanted, r.visits) u(place, wanted, visit) WHERE u.place = $9 AND ` + pendingSQL + `) RETURNING 1),
 q AS (INSERT INTO queue (hash, host, rank, later, item) SELECT $4, $1, $6, CASE WHEN $7::bigint > ` + nowNS + ` THEN $7 END, $8 FROM h
   WHERE $5 AND (EXISTS (SELECT FROM r) OR EXISTS (SELECT FROM queue WHERE hash = $4))
  ON CONFLICT (hash) DO UPDATE SET rank = excluded.rank, seq = nextval('queue_seq'), later = excluded.later, item = excluded.item)
 SELECT FROM h`

	holds = ` name = $1 AND worker = $2 AND token = $3 AND until > clock_timestamp()`
)

// queueRefresh adds to b the statements that update the hints (rank and ripe) of hosts. The
// statements must run in one transaction.
func queueRefresh(b *pgx.Batch, hosts []string) {
	hosts = slices.Clone(hosts)
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	b.Queue(lockHostsSQL, hosts)
	b.Queue(refreshSQL, hosts)
}

// A holding is the set of URLs taken from the queue under one claim.
type holding struct {
	mu   sync.Mutex
	urls map[dedup.Hash]int64 // guarded by mu: by hash, the place of a page in a run, or 0
}

// holding returns the URLs taken under a claim of this process. For any other claim it returns an
// empty set.
func (s *Store) holding(c frontier.Claim) *holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.taken[c]; h != nil {
		return h
	}
	return &holding{urls: map[dedup.Hash]int64{}}
}

// columns returns claims as one slice for each column.
func columns(claims iter.Seq[frontier.Claim]) (hosts, workers []string, tokens []int64) {
	hosts, workers, tokens = []string{}, []string{}, []int64{}
	for c := range claims {
		hosts, workers, tokens = append(hosts, c.Host), append(workers, c.Worker), append(tokens, int64(c.Token))
	}
	return hosts, workers, tokens
}

// orLost returns err, or [frontier.ErrLost] if there was no error, but the claim was not held.
func orLost(err error, held bool) error {
	if err == nil && !held {
		return frontier.ErrLost
	}
	return err
}

type claimed struct {
	frontier.Held
	rank, ripe, due int64
	empty           bool
}

func (s *Store) Claim(ctx context.Context, worker string, n int, ttl time.Duration, preferred ...string) (g frontier.Grant, err error) {
	s.mu.Lock()
	s.workers[worker] = true
	s.mu.Unlock()
	var hosts []claimed
	for wanted := n; ; wanted = n - len(hosts) {
		ready, others, err := s.claim(ctx, worker, wanted, ttl, preferred)
		if err != nil {
			return g, fmt.Errorf("claim hosts: %w", err)
		}
		hosts = append(hosts, ready...)
		if others == 0 && preferred == nil {
			break
		}
		preferred = nil
	}
	if err := s.setCounts(ctx, worker, &g); err != nil {
		return frontier.Grant{}, fmt.Errorf("claim hosts: %w", err)
	}
	slices.SortFunc(hosts, func(a, b claimed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.due, b.due), cmp.Compare(a.Host.Name, b.Host.Name))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hosts {
		h.Host.Rest = s.clock.fromTheirs(h.Host.Rest)
		g.Hosts = append(g.Hosts, h.Held)
		s.taken[h.Claim] = &holding{urls: map[dedup.Hash]int64{}}
	}
	return g, nil
}

// claim claims up to n hosts, selected by the hints in their rows, or only preferred ones. It returns the hosts that have a
// URL to fetch, and the number of hosts that had none and were released again.
func (s *Store) claim(ctx context.Context, worker string, n int, ttl time.Duration, preferred []string) (ready []claimed, released int, err error) {
	tokens := map[string]uint64{}
	var names []string
	err = s.send(ctx, func(b *pgx.Batch) {
		b.Queue(askSQL, worker)
		if n > 0 {
			sql, args := fmt.Sprintf(claimSQL, ""), []any{n, worker, ttl.Microseconds()}
			if preferred != nil {
				sql, args = fmt.Sprintf(claimSQL, claimPreferredSQL), append(args, preferred)
			}
			b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
				var name string
				var token int64
				_, err := pgx.ForEachRow(rows, []any{&name, &token}, func() error {
					names, tokens[name] = append(names, name), uint64(token)
					return nil
				})
				return err
			})
		}
	})
	if err != nil || names == nil {
		return nil, 0, err
	}
	var all []claimed
	err = s.send(ctx, func(b *pgx.Batch) {
		all = nil
		b.Queue("BEGIN")
		b.Queue(lockHostsSQL, names)
		b.Queue(ripenSQL, names)
		b.Queue(refreshSQL, names)
		b.Queue("COMMIT")
		b.Queue(claimedSQL, names).Query(func(rows pgx.Rows) error {
			var c claimed
			var rank *int64
			var at, delay *int64
			_, err := pgx.ForEachRow(rows, []any{&c.Host.Name, &rank, &c.ripe, &c.due, &c.Host.Rest, &at, &delay, &c.Host.Pending}, func() error {
				if c.empty = rank == nil || c.ripe > 0; !c.empty {
					c.rank, c.Host.Depth = *rank, int(*rank&maxDepth)
				}
				c.Claim = frontier.Claim{Host: c.Host.Name, Worker: worker, Token: tokens[c.Host.Name]}
				if c.Host.Rest.Last = (frontier.LastSlot{}); at != nil {
					c.Host.Rest.Last = frontier.LastSlot{At: time.Unix(0, *at).UTC(), Delay: time.Duration(*delay)}
				}
				all = append(all, c)
				return nil
			})
			return err
		})
	})
	if err != nil {
		return nil, 0, err
	}
	var empty []string
	for _, c := range all {
		if c.empty {
			empty = append(empty, c.Host.Name)
		} else {
			ready = append(ready, c)
		}
	}
	if empty != nil {
		_, err = s.exec(ctx, "UPDATE host SET until = 'epoch', worker = NULL WHERE name = ANY($1::text[]) AND worker = $2", empty, worker)
	}
	return ready, len(empty), err
}

// setCounts sets the numbers of workers and hosts in g, and updates s.clock with the server's time.
func (s *Store) setCounts(ctx context.Context, worker string, g *frontier.Grant) error {
	setBack := false
	err := s.try(ctx, func(ctx context.Context) error {
		var server time.Time
		var now int64
		var held int
		var next *int64
		b := &pgx.Batch{}
		s.queueTurn(b, new(int64))
		b.Queue(standingSQL, worker).QueryRow(func(row pgx.Row) error {
			return row.Scan(&server, &now, &g.Workers, &g.Others, &held, &g.Waiting, &next)
		})
		began := s.clock.ours()
		if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		setBack = s.clock.heard(began, server, s.clock.ours())
		if g.Next = (time.Time{}); next != nil {
			g.Next = s.clock.fromTheirs(frontier.Rest{Next: time.Unix(0, max(*next, now)).UTC()}).Next
		}
		g.Share = frontier.ShareOf(held+g.Waiting, g.Workers)
		return nil
	})
	if err == nil && setBack {
		err = s.try(ctx, s.mendClock)
	}
	return err
}

func (s *Store) Renew(ctx context.Context, claims []frontier.Claim, ttl time.Duration) (lost []frontier.Claim, err error) {
	hosts, workers, tokens := columns(slices.Values(claims))
	held := map[frontier.Claim]bool{}
	err = s.try(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `UPDATE host SET until = clock_timestamp() + $4::bigint * interval '1 microsecond', touched = clock_timestamp()
 FROM unnest($1::text[], $2::text[], $3::bigint[]) c(name, worker, token)
 WHERE host.name = c.name AND host.worker = c.worker AND host.token = c.token AND until > clock_timestamp() RETURNING host.name, host.worker, host.token`, hosts, workers, tokens, ttl.Microseconds())
		if err != nil {
			return err
		}
		var c frontier.Claim
		_, err = pgx.ForEachRow(rows, []any{&c.Host, &c.Worker, &c.Token}, func() error { held[c] = true; return nil })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("renew claims: %w", err)
	}
	for _, c := range claims {
		if !held[c] {
			lost = append(lost, c)
		}
	}
	return lost, nil
}

// Take returns the next n URLs in the queue of a claimed host. It skips those already taken under
// the same claim.
func (s *Store) Take(ctx context.Context, c frontier.Claim, n int) (items []frontier.Item, err error) {
	taken := s.holding(c)
	taken.mu.Lock()
	defer taken.mu.Unlock()
	hashes, places := taken.list()
	var found []waiting
	held := false
	err = s.send(ctx, func(b *pgx.Batch) {
		found = nil
		b.Queue("SELECT EXISTS (SELECT FROM host WHERE"+holds+")", c.Host, c.Worker, int64(c.Token)).QueryRow(func(row pgx.Row) error { return row.Scan(&held) })
		b.Queue(ripenSQL, []string{c.Host})
		b.Queue(takeSQL, c.Host, max(n, 0), hashes).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(rows pgx.Rows) error {
				var w waiting
				err := rows.Scan(&w.rank, &w.seq, &w.item)
				found = append(found, w)
				return err
			})
		})
		b.Queue(takeRunSQL, c.Host, max(n, 0), places).Query(func(rows pgx.Rows) error {
			return readRows(rows, func(rows pgx.Rows) (err error) {
				var w waiting
				if w.page, err = scanRunPage(rows, &w.rank, &w.seq, &w.place); err == nil {
					w.item, err = w.page.item()
				}
				found = append(found, w)
				return err
			})
		})
	})
	if err = orLost(err, held); err != nil {
		return nil, fmt.Errorf("take URLs of host %s from the queue: %w", c.Host, err)
	}
	slices.SortFunc(found, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.seq, b.seq), cmp.Compare(a.place, b.place))
	})
	for _, w := range found[:min(len(found), max(n, 0))] {
		items, taken.urls[hashOf(w.item.URL)] = append(items, w.item), w.place
		if w.page != nil {
			s.handed.add(w.page)
		}
	}
	return items, nil
}

// A waiting is an item with its position in the queue of its host.
type waiting struct {
	rank       int32
	seq, place int64 // place: of a page in a run, or 0
	item       frontier.Item
	page       *runPage
}

// list returns the hashes of the URLs, and the places of those in runs.
func (h *holding) list() (hashes []id, places []int64) {
	hashes, places = []id{}, []int64{}
	for url, place := range h.urls {
		if hashes = append(hashes, url); place != 0 {
			places = append(places, place)
		}
	}
	return hashes, places
}

func (s *Store) Release(ctx context.Context, c frontier.Claim, it frontier.Item) error {
	packed, err := packItem(it)
	if err != nil {
		return err
	}
	hash := hashOf(it.URL)
	taken := s.holding(c)
	taken.mu.Lock()
	defer taken.mu.Unlock()
	place, isTaken := taken.urls[hash]
	held := false
	err = s.send(ctx, func(b *pgx.Batch) {
		b.Queue("BEGIN")
		b.Queue(lockSQL)
		b.Queue(releaseSQL, c.Host, c.Worker, int64(c.Token), id(hash), isTaken, rankOf(it), nanos(it.Due), packed, place).Exec(isOne(&held))
		b.Queue("COMMIT")
	})
	if err = orLost(err, held); err != nil {
		return fmt.Errorf("return a URL of host %s to the queue: %w", c.Host, err)
	}
	delete(taken.urls, hash)
	return nil
}

func (s *Store) Slot(ctx context.Context, host string, least, most time.Duration) (wait time.Duration, err error) {
	err = s.try(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, slotSQL, host, int64(least), int64(most)).Scan(&wait)
	})
	if err != nil {
		return 0, fmt.Errorf("reserve a request to host %s: %w", host, err)
	}
	return wait, nil
}

func (s *Store) Spend(ctx context.Context, c frontier.Claim, spent frontier.Spent) error {
	packed, err := json.Marshal(spent)
	if err != nil {
		return err
	}
	held, err := s.exec(ctx, "UPDATE host SET rest = (rest::jsonb || jsonb_build_object('Spent', $4::jsonb))::json WHERE"+holds, c.Host, c.Worker, int64(c.Token), string(packed))
	if err = orLost(err, held == 1); err != nil {
		return fmt.Errorf("record what was fetched from host %s: %w", c.Host, err)
	}
	return nil
}

func (s *Store) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	rest = s.clock.theirs(rest.Bounded(s.clock.ours()))
	packed, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	attempts, held := 0, false
	err = s.send(ctx, func(b *pgx.Batch) {
		attempts++
		b.Queue("BEGIN")
		b.Queue(lockHostsSQL, []string{c.Host})
		b.Queue("UPDATE host SET until = 'epoch', worker = NULL, rest = $4, due = $5, idle = $6, touched = now() WHERE"+holds, c.Host, c.Worker, int64(c.Token), string(packed), nanos(rest.Due()), rest.Idle).Exec(isOne(&held))
		b.Queue(refreshSQL, []string{c.Host})
		b.Queue("SELECT token, worker IS NULL FROM host WHERE name = $1", c.Host).QueryRow(func(row pgx.Row) error {
			var token uint64
			var free bool
			err := row.Scan(&token, &free)
			held = held || attempts > 1 && free && token == c.Token // an earlier attempt succeeded and ended the claim, but its response was lost
			if err == pgx.ErrNoRows {
				err = nil
			}
			return err
		})
		b.Queue("COMMIT")
	})
	if err = orLost(err, held); err != nil {
		return fmt.Errorf("release host %s: %w", c.Host, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, c)
	return nil
}

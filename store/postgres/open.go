// Package postgres is the store for many workers: one crawl, kept by a PostgreSQL server or by
// another database that speaks the same protocol.
//
//	a, err := postgres.ParseAddress("postgres://crawler@db.example/crawls?schema=docs")
//	s, err := postgres.Open(ctx, a, postgres.Options{Create: true})
//	defer s.Close()
//
// Any number of processes may have the store open and write to it. schema.sql describes the tables.
// A commit is as durable as the server makes it: without a synchronous standby, a failover may lose
// the last commits. Workers that notice this stop with an error.
package postgres

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"skink/base/batcher"
	"skink/base/lru"
	"skink/frontier"
	"skink/store"
)

//go:embed schema.sql
var schema string

const schemaVersion = 14

// Options configures Open. The zero value opens an existing store for reading and writing.
type Options struct {
	Create   bool // create the store if it does not exist
	ReadOnly bool // only Keep writes; the database user needs only SELECT, and the server may be a standby
}

// A Store is a crawl in a PostgreSQL database.
//
// Its methods are in many files because it implements the whole contract of package store, each
// part of which has its own file.
type Store struct {
	pool    *pgxpool.Pool
	address Address
	birth   id    // identity of the store; see turn.birth in schema.sql
	slot    int16 // slot of the counters that this process changes; see the table counter in schema.sql
	clock   serverClock
	seen    atomic.Int64 // highest number of a commit that the server has reported
	away    atomic.Bool  // whether the last retried call got no response

	patience atomic.Int64                         // how long a failing call is retried, as a time.Duration; see Watch
	say      atomic.Pointer[func(string, ...any)] // see Watch; may be nil
	silent   atomic.Bool                          // whether no call has got a response for silentAfter
	heard    atomic.Int64                         // when a call last got a response, in Unix nanoseconds

	commits *batcher.Batcher[*store.Entry, store.Outcome]
	lookups *batcher.Batcher[store.Ask, store.Found]
	reads   *batcher.Batcher[pageAsk, store.Packed]
	handed  handedOut
	sent    lru.Recent // hashes of URLs known to be in the store and inside the crawl
	beyond  lru.Recent // hashes of URLs known to be in the store, inside or outside the crawl

	mu      sync.Mutex
	taken   map[frontier.Claim]*holding // URLs taken under each claim of this process; guarded by mu
	workers map[string]bool             // names under which this process claims hosts; guarded by mu

	life       context.Context // done when the store is closed
	end        context.CancelFunc
	background sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// id is a UUID in the type that pgx uses.
type id = [16]byte

// connections is the maximum number of connections of one process: one each for commits, lookups
// and reading pages, and the rest for the queue of URLs and everything else. Each [snapshot] has one
// more.
const connections = 8

// Open opens a store. It returns [store.ErrNotExist] if there is no store and opt does not create
// one, [store.ErrCorrupt] if the store was created by another version of skink, and [store.ErrAway]
// if no server responds within ten seconds.
func Open(ctx context.Context, a Address, opt Options) (*Store, error) {
	s, err := open(ctx, a, opt)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", a, err)
	}
	return s, nil
}

func open(ctx context.Context, a Address, opt Options) (*Store, error) {
	config := a.config.Copy()
	if config.MaxConns = connections; opt.ReadOnly {
		config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "off" // so that Keep can write if the user is allowed to
	} else {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		config.AfterConnect = prepareWriter
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &Store{
		pool: pool, address: a, slot: int16(mathrand.IntN(256)),
		taken: map[frontier.Claim]*holding{}, workers: map[string]bool{},
	}
	s.clock.ours = time.Now
	s.patience.Store(int64(patience))
	s.life, s.end = context.WithCancel(context.Background())
	s.commits, s.lookups, s.reads = batcher.New(s.commitAll), batcher.New(s.lookupAll), batcher.New(s.readAll)
	if err := s.begin(ctx, opt); err != nil {
		s.end()
		pool.Close()
		return nil, err
	}
	return s, nil
}

// statementTimeout is the time limit for each statement of a worker. No statement takes that long
// unless the server is overloaded.
var statementTimeout = 60 * time.Second

// prepareWriter configures a worker's connection. The server plans each statement only once, often
// while the tables are still small, so the settings keep the plan from reading whole tables. A
// server that notices a killed client ends its statement, which may hold locks. prepareWriter skips
// settings that are unknown to the server.
func prepareWriter(ctx context.Context, conn *pgx.Conn) error {
	settings := []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off", "SET jit = off", "SET default_toast_compression = lz4",
		fmt.Sprintf("SET statement_timeout = %d", statementTimeout.Milliseconds()),
		"SET idle_in_transaction_session_timeout = 60000", "SET client_connection_check_interval = 1000",
	}
	if _, err := conn.PgConn().Exec(ctx, strings.Join(settings, ";")).ReadAll(); err == nil {
		return nil
	}
	for _, set := range settings {
		_, err := conn.Exec(ctx, set)
		if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused {
			return err
		}
	}
	return nil
}

func (s *Store) begin(ctx context.Context, opt Options) error {
	return s.tryFor(ctx, min(patience, openPatience), func(ctx context.Context) error {
		err := s.identify(ctx)
		if errors.Is(err, store.ErrNotExist) && opt.Create && !opt.ReadOnly {
			if err = s.create(ctx); err == nil {
				err = s.identify(ctx)
			}
		}
		if err == nil && !opt.ReadOnly {
			err = s.beginRun(ctx)
		}
		return err
	})
}

// identify reads the version and the identity of the store. It returns an error if the store does
// not exist or has a different version.
func (s *Store) identify(ctx context.Context) error {
	var there bool
	err := s.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'turn')", s.address.schema).Scan(&there)
	switch {
	case err != nil:
		return err
	case !there:
		return store.ErrNotExist
	}
	var version int
	var place int64
	err = s.pool.QueryRow(ctx, "SELECT version, birth, place FROM turn WHERE one = 1").Scan(&version, &s.birth, &place)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%w: the schema %s was emptied: drop it (DROP SCHEMA %[2]s CASCADE), or choose another", store.ErrCorrupt, s.address.schema)
	case err != nil:
		return err
	case version != schemaVersion:
		return fmt.Errorf("%w: the schema %s has version %d, and this version of skink reads version %d: choose another schema, or use the version of skink that created it", store.ErrCorrupt, s.address.schema, version, schemaVersion)
	}
	s.raiseSeen(place)
	return nil
}

// create creates the store in one transaction. If two processes do so
// at the same time, one of them fails and uses the store created by the other.
func (s *Store) create(ctx context.Context) error {
	birth := newID()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var there bool
		err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM information_schema.schemata WHERE schema_name = $1)", s.address.schema).Scan(&there)
		if err == nil && !there { // a role without permission to create schemas can still use an existing empty one
			_, err = tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+s.address.quoted())
		}
		if err == nil {
			_, err = tx.Exec(ctx, schema)
		}
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO turn VALUES (1, $1, $2, 1, $2)", schemaVersion, birth)
		}
		return err
	})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && slices.Contains([]string{"23505", "42P06", "42P07"}, e.Code) {
		return nil // another process created it
	}
	return err
}

// beginRun resets the state of hosts from the last run: the times of their next requests, and which
// hosts were given up. It keeps the pauses that hosts asked for. It does nothing while workers of
// another run exist.
func (s *Store) beginRun(ctx context.Context) error {
	if err := s.mendClock(ctx); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, `UPDATE host SET idle = false, rest = json_build_object('Blocked', rest->'Blocked', 'Delay', rest->'Delay', 'Spent', rest->'Spent'),
 due = CASE WHEN coalesce(rest->>'Blocked', '0001') > '0002' THEN (extract(epoch FROM (rest->>'Blocked')::timestamptz) * 1000000)::bigint * 1000 ELSE 0 END
 WHERE (due <> 0 OR idle OR rest->>'Took' <> '0') AND NOT EXISTS (SELECT FROM worker WHERE `+present+`) AND NOT EXISTS (SELECT FROM host WHERE until > now())`)
	if err != nil {
		return err
	}
	s.background.Go(s.sweep)
	return nil
}

// Sync does nothing, because each commit is durable when Commit returns.
func (s *Store) Sync() error { return nil }

// Close releases the hosts claimed through s, and closes the connections. A second call does
// nothing.
func (s *Store) Close() error {
	if s.life.Err() != nil {
		return nil
	}
	s.end()
	s.background.Wait()
	defer s.pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	hosts, _, tokens := columns(maps.Keys(s.taken))
	names := slices.Collect(maps.Keys(s.workers))
	if names == nil {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue("UPDATE host SET until = 'epoch', worker = NULL FROM unnest($1::text[], $2::bigint[]) c(name, token) WHERE host.name = c.name AND host.token = c.token", hosts, tokens)
	b.Queue("DELETE FROM worker WHERE name = ANY($1)", names)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("close store %s: %w", s.address, s.explain(err))
	}
	return nil
}

// raiseSeen raises s.seen to place, the number of a commit, if that is higher.
func (s *Store) raiseSeen(place int64) {
	for {
		before := s.seen.Load()
		if place <= before || s.seen.CompareAndSwap(before, place) {
			return
		}
	}
}

// newID returns a UUID that begins with the current time (RFC 9562, version 7), so new rows are
// adjacent in an index.
func newID() (u id) {
	rand.Read(u[:])
	ms := time.Now().UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	return u
}

package postgres

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/postgrestest"
	"skink/store"
)

// statements collects the SQL that a store sends.
type statements struct {
	mu  sync.Mutex
	all map[string]bool // guarded by mu
}

func (s *statements) add(sql string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[sql] = true
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.add(d.SQL)
	return ctx
}
func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (s *statements) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	s.add(d.SQL)
}
func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// workload calls all methods of a store that a worker calls.
func workload(t *testing.T, s *Store) {
	ctx := context.Background()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		url := fmt.Sprintf("https://work.example/%d", n)
		_, err := s.Discover(ctx, []frontier.Item{{URL: url}, {URL: url + "/later", Due: time.Now().Add(time.Hour)}})
		fail(err)
		_, err = s.Requeue(ctx, []frontier.Item{{URL: url}})
		fail(err)
		g, err := s.Claim(ctx, "worker", 10, time.Minute)
		fail(err)
		for _, h := range g.Hosts {
			_, err := s.Take(ctx, h.Claim, 5)
			fail(err)
			fail(s.Release(ctx, h.Claim, frontier.Item{URL: url}))
			_, err = s.Renew(ctx, []frontier.Claim{h.Claim}, time.Minute)
			fail(err)
		}
		e := pageOf(url)
		e.Basis = store.Basis{Mark: store.MarkAt(1), Hashes: []dedup.Hash{hashOf("nobody")}, Keys: []uint64{1 << 40}}
		e.Record.Leader = hashOf("leader")
		e.Links, e.Beyond = []frontier.Item{{URL: url + "/link"}}, []string{"https://beyond.example/" + url}
		for _, kind := range []string{"new", "revisit", "touch"} {
			e.Revisit, e.Touch = kind == "revisit", kind == "touch"
			_, err = s.Commit(ctx, []*store.Entry{e})
			fail(err)
		}
		for c, err := range s.Changes(ctx, "", store.WantRecord) { // queues runs that are new, that exist, and that are empty afterwards
			fail(err)
			it := store.Revisit(&c.Record, time.Now().Add(-time.Second), false)
			it.Place, err = c.Cursor.Place()
			fail(err)
			_, err = s.Requeue(ctx, []frontier.Item{it})
			fail(err)
		}
		e.Revisit, e.Touch, e.State = true, false, frontier.Unknown
		_, err = s.Commit(ctx, []*store.Entry{e})
		fail(err)
		_, err = s.Lookup(ctx, []store.Ask{{Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Limit: 3}})
		fail(err)
		for _, h := range g.Hosts {
			fail(s.Return(ctx, h.Claim, frontier.Rest{}))
		}
		_, err = s.Pages(ctx, []dedup.Hash{e.Record.ID}, store.WantText)
		fail(err)
		for range s.Changes(ctx, "", store.WantRecord) {
		}
		for range s.Members(ctx, []dedup.Hash{e.Record.Leader}) {
		}
		_, err = s.State(ctx, url)
		fail(err)
		_, err = s.Counts(ctx)
		fail(err)
		s.sweepSome(ctx)
	}
}

// pageOf makes the entry of a page that is unique.
func pageOf(url string) *store.Entry {
	id := dedup.HashOf([]byte(url))
	return &store.Entry{
		Record: store.Record{ID: id, URL: url, Kind: store.Page, Fetch: store.Fetch{FetchedAt: time.Now().UTC(), Hash: id, Words: 100}, Judged: store.Judged{Verdict: dedup.Unique}},
		State:  frontier.Fetched, Text: store.Pack([]byte("text of " + url)), Sketch: &dedup.Sketch{1, 2, 3}, Hash: id, Keys: []uint64{uint64(id[0]), 1<<32 | uint64(id[1]), 1<<33 | uint64(id[2])},
	}
}

// growSQL fills the tables with pages as a crawl leaves them: 12 keys and 3 known URLs a page.
const growSQL = `
INSERT INTO visit (id, page, record, sketch, keys) SELECT u, md5('page' || i)::uuid, '{"url":"https://h.example/"}', '\x00', ARRAY[1,2,3] FROM (SELECT i, md5('visit' || i)::uuid u FROM generate_series(%[1]d, %[2]d) i) x;
INSERT INTO page SELECT md5('page' || i)::uuid, i + 1000, md5('visit' || i)::uuid, md5('hash' || i)::uuid, CASE WHEN i %% 3 = 0 THEN md5('page' || i / 10)::uuid END, 1, i %% 1000 FROM generate_series(%[1]d, %[2]d) i;
INSERT INTO run SELECT i %% 1000, i + 1000, 'h' || i %% 1000, 0, ARRAY[i + 1000], ARRAY['\x'::bytea], ARRAY[1], '\x01', i FROM generate_series(%[1]d, %[2]d) i;
INSERT INTO posting SELECT hashtext(i || ' ' || k)::bigint << 20, i + 1000 FROM generate_series(%[1]d, %[2]d) i, generate_series(1, 12) k ON CONFLICT DO NOTHING;
INSERT INTO known SELECT md5('url' || i)::uuid, 2, 1 FROM generate_series(3 * %[1]d, 3 * %[2]d) i;
INSERT INTO queue (hash, host, rank, item) SELECT md5('url' || i)::uuid, 'h' || i %% 1000, i %% 7, '{}' FROM generate_series(%[1]d, %[2]d) i;
INSERT INTO host (name, rank) SELECT DISTINCT 'h' || i %% 1000, 0 FROM generate_series(%[1]d, %[2]d) i ON CONFLICT DO NOTHING;`

// walks matches the intended scans of a whole index: they end after a few rows, or list all rows.
var walks = regexp.MustCompile(`Scan using (host_rank|host_held|counter_pkey) `)

// TestPlans checks the plan of each statement while the store grows: every row must be found
// through an index. It checks the plans of a worker whose connections were made while the tables
// were empty, and those of a new worker.
func TestPlans(t *testing.T) {
	server := postgrestest.Start(t, "autovacuum=off", "max_wal_size=8GB")
	a, err := ParseAddress(server.URL("plans"))
	if err != nil {
		t.Fatal(err)
	}
	seen := &statements{all: map[string]bool{}}
	a.config.ConnConfig.Tracer = seen
	s, err := Open(context.Background(), a, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	workload(t, s)
	sizes := []int{0, 60, 10_000} // a server gathers no statistics by itself for fewer than 50 rows
	if os.Getenv("SKINK_LONG") == "full" {
		sizes = append(sizes, 1_000_000)
	}
	old, err := s.pool.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Release()
	before := 0
	for _, size := range sizes {
		if size > before {
			if err := server.Exec(context.Background(), "SET search_path = plans;"+fmt.Sprintf(growSQL, before+1, size)); err != nil {
				t.Fatal(err)
			}
			before = size
		}
		for _, analyzed := range []bool{false, true} {
			if analyzed && size == 0 {
				continue
			}
			if analyzed {
				if err := server.Exec(context.Background(), "SET search_path = plans; ANALYZE"); err != nil {
					t.Fatal(err)
				}
			}
			explainAll(t, old.Conn(), fmt.Sprintf("%d pages, analyzed %t, an old connection", size, analyzed), seen)
			fresh, err := pgx.ConnectConfig(context.Background(), a.config.ConnConfig)
			if err != nil {
				t.Fatal(err)
			}
			if err := prepareWriter(context.Background(), fresh); err != nil {
				t.Fatal(err)
			}
			explainAll(t, fresh, fmt.Sprintf("%d pages, analyzed %t, a new connection", size, analyzed), seen)
			fresh.Close(context.Background())
		}
	}
}

func explainAll(t *testing.T, conn *pgx.Conn, when string, seen *statements) {
	t.Helper()
	seen.mu.Lock()
	all := slices.Sorted(maps.Keys(seen.all))
	seen.mu.Unlock()
	explained := 0
	for _, sql := range all {
		verb, _, _ := strings.Cut(sql, " ")
		if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, verb) || strings.Contains(sql, "information_schema") || strings.HasPrefix(sql, "UPDATE host SET due") || strings.HasPrefix(sql, "UPDATE host SET idle") || strings.Contains(sql, "sum(n)::bigint FROM counter") {
			continue // the statements at the start of a run read all hosts
		}
		explained++
		for _, problem := range problemsOf(t, conn, sql) {
			t.Errorf("%s: %s in the plan of:\n%s", when, problem, sql)
		}
	}
	if explained < 30 {
		t.Errorf("%s: only %d statements", when, explained)
	}
}

// problemsOf returns the scans in a statement's plan that read more than they need.
func problemsOf(t *testing.T, conn *pgx.Conn, sql string) (problems []string) {
	t.Helper()
	ctx := context.Background()
	d, err := conn.Prepare(ctx, fmt.Sprintf("plan%x", hashOf(sql)), sql)
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	arguments := ""
	if n := len(d.ParamOIDs); n > 0 {
		arguments = "(" + strings.TrimSuffix(strings.Repeat("NULL,", n), ",") + ")"
	}
	rows, err := conn.Query(ctx, "EXPLAIN EXECUTE "+d.Name+arguments, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	for i, line := range lines {
		whole := strings.Contains(line, "Seq Scan on") && !strings.Contains(line, "Seq Scan on worker") ||
			strings.Contains(line, "Scan using") && !walks.MatchString(line) && (i+1 == len(lines) || !strings.Contains(lines[i+1], "Index Cond:"))
		if whole {
			problems = append(problems, strings.TrimSpace(line))
			t.Log(strings.Join(lines, "\n"))
		}
	}
	return problems
}

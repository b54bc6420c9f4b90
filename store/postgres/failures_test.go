package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/postgrestest"
	"skink/store"
)

// A line is a connection to a server that can be broken: an answer of the server is lost, and the
// connection ends.
type line struct {
	addr   string
	answer atomic.Int64 // number of answers until the one that is lost, 1 for the next; 0 or less: none is lost
}

func newLine(t *testing.T, server string) *line {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	line := &line{addr: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go line.relay(client, server)
		}
	}()
	return line
}

func (l *line) relay(client net.Conn, addr string) {
	server, err := net.Dial("tcp", addr)
	if err != nil {
		client.Close()
		return
	}
	go func() {
		defer server.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := client.Read(b)
			if err != nil {
				return
			}
			server.Write(b[:n])
		}
	}()
	defer client.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := server.Read(b)
		if err != nil || l.answer.Add(-1) == 0 {
			return
		}
		client.Write(b[:n])
	}
}

// pages returns the number of changes for each page.
func pages(t *testing.T, s *Store) map[string]int {
	t.Helper()
	all := map[string]int{}
	for c, err := range s.Changes(context.Background(), "", store.WantText) {
		if err != nil {
			t.Fatal(err)
		}
		if !c.Kept {
			t.Errorf("%s has lost its text", c.Record.URL)
		}
		all[c.Record.URL]++
	}
	return all
}

// A call whose answer is lost takes effect once.
func TestLostAnswers(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	line := newLine(t, server.Addr)
	s := openAt(t, postgrestest.URL("lost", line.addr))
	const n = 30 // each of the 15 combinations of lost answers comes twice
	for i := range n {
		url := fmt.Sprintf("https://lost.example/%d", i)
		if _, err := s.Discover(ctx, []frontier.Item{{URL: url}}); err != nil {
			t.Fatal(err)
		}
		g, err := s.Claim(ctx, "me", 1, time.Minute)
		if err != nil || len(g.Hosts) != 1 {
			t.Fatal(g, err)
		}
		claim := g.Hosts[0].Claim
		e := pageOf(url)
		e.Claim, e.Links = claim, []frontier.Item{{URL: url + "/link", Due: time.Now().Add(time.Hour)}}
		line.answer.Store(int64(i%5 + 1))
		outcomes, err := s.Commit(ctx, []*store.Entry{e})
		if err != nil || outcomes[0] != store.Written {
			t.Fatalf("commit %d: %v, %v", i, outcomes, err)
		}
		line.answer.Store(int64(i%3 + 1))
		name := fmt.Sprintf("value %d", i)
		if err := s.SwapMeta(ctx, name, nil, []byte("one")); err != nil {
			t.Errorf("swap %d: %v", i, err)
		}
		line.answer.Store(int64(i%3 + 1))
		if err := s.Return(ctx, claim, frontier.Rest{}); err != nil {
			t.Errorf("return %d: %v", i, err)
		}
		line.answer.Store(0)
	}
	all := pages(t, s)
	for url, times := range all {
		if times != 1 {
			t.Errorf("%s comes %d times", url, times)
		}
	}
	tally, err := s.Tally(ctx)
	counts, err2 := s.Counts(ctx)
	want := frontier.Counts{Pending: n, Fetched: n}
	if errors.Join(err, err2) != nil || len(all) != n || tally.Unique != n || counts != want {
		t.Errorf("%d pages, %d counted, %+v, want %d and %+v", len(all), tally.Unique, counts, n, want)
	}
}

// committers starts goroutines that commit pages until stop is closed. The function that it returns
// waits for them, and returns the URLs of the pages whose commits were acknowledged.
func committers(t *testing.T, s *Store, stop chan struct{}) func() map[string]bool {
	acknowledged := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				url := fmt.Sprintf("https://host%d.example/%d", g, i)
				outcomes, err := s.Commit(context.Background(), []*store.Entry{pageOf(url)})
				if err != nil {
					t.Errorf("commit %s: %v", url, err)
					return
				}
				if outcomes[0] == store.Written {
					mu.Lock()
					acknowledged[url] = true
					mu.Unlock()
				}
			}
		})
	}
	return func() map[string]bool {
		all.Wait()
		return acknowledged
	}
}

func wantAll(t *testing.T, s *Store, acknowledged map[string]bool) {
	t.Helper()
	all := pages(t, s)
	lost := 0
	for url := range acknowledged {
		if all[url] != 1 {
			lost++
		}
	}
	t.Logf("%d commits acknowledged, %d lost", len(acknowledged), lost)
	if lost > 0 || len(acknowledged) == 0 {
		t.Errorf("%d of %d acknowledged pages are lost", lost, len(acknowledged))
	}
	tally, err := s.Tally(context.Background())
	if err != nil || tally.Pages() != int64(len(all)) {
		t.Errorf("%d pages are counted, %d are there: %v", tally.Pages(), len(all), err)
	}
}

// No acknowledged page is lost when the server is killed in the middle of commits, and the workers
// continue.
func TestServerKilled(t *testing.T) {
	long(t)
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("killed"))
	stop := make(chan struct{})
	wait := committers(t, s, stop)
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	close(stop)
	wantAll(t, s, wait())
}

// No acknowledged page is lost when a synchronous standby takes over.
func TestFailover(t *testing.T) {
	long(t)
	server := postgrestest.Start(t)
	standby := server.StartStandby(t, true)
	s := openAt(t, postgrestest.URL("failover", server.Addr, standby.Addr))
	stop := make(chan struct{})
	wait := committers(t, s, stop)
	time.Sleep(500 * time.Millisecond)
	server.Kill()
	if err := standby.Promote(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	close(stop)
	wantAll(t, s, wait())
}

// An asynchronous standby may lack acknowledged commits. A worker that has seen these commits
// fails. The next worker continues from the state of the standby.
func TestForgottenCommits(t *testing.T) {
	ctx := context.Background()
	server := postgrestest.Start(t)
	standby := server.StartStandby(t, false)
	url := postgrestest.URL("forgotten", server.Addr, standby.Addr)
	s := openAt(t, url)
	commit := func(s *Store, n int) error {
		_, err := s.Commit(ctx, []*store.Entry{pageOf(fmt.Sprintf("https://example.com/%d", n))})
		return err
	}
	if err := commit(s, 1); err != nil {
		t.Fatal(err)
	}
	for { // wait until the standby has the store
		if r, err := tryOpen(standby.URL("forgotten"), Options{ReadOnly: true}); err == nil {
			n := len(pages(t, r))
			r.Close()
			if n == 1 {
				break
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	cursor, err := s.End(ctx)
	if err != nil {
		t.Fatal(err)
	}
	standby.Stop()
	if err := commit(s, 2); err != nil {
		t.Fatal(err)
	}
	later, err := s.End(ctx)
	if err != nil || cursor == later {
		t.Fatal(cursor, later, err)
	}
	server.Kill()
	if err := errors.Join(standby.Run(), standby.Promote()); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"commit": commit(s, 3), "claim": claims(s), "lookup": looks(s)} {
		if !errors.Is(err, errForgot) {
			t.Errorf("%s after commits were forgotten: %v, want %v", what, err, errForgot)
		}
	}
	next := openAt(t, url)
	if err := commit(next, 2); err != nil {
		t.Error(err)
	}
	if err := commit(next, 3); err != nil || len(pages(t, next)) != 3 {
		t.Errorf("the next worker has %d pages: %v", len(pages(t, next)), err)
	}
}

func claims(s *Store) error {
	_, err := s.Claim(context.Background(), "me", 1, time.Minute)
	return err
}

func looks(s *Store) error {
	_, err := s.Lookup(context.Background(), []store.Ask{{Hashes: []dedup.Hash{{1}}}})
	return err
}

// Workers whose tables are dropped, emptied or replaced fail with an error that explains this.
func TestSchemaGone(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	for i, what := range []string{
		"DROP SCHEMA %s CASCADE",
		"TRUNCATE %[1]s.turn, %[1]s.page, %[1]s.visit, %[1]s.posting, %[1]s.known, %[1]s.queue, %[1]s.host, %[1]s.counter, %[1]s.meta, %[1]s.worker",
		"another store in its place",
	} {
		schema := fmt.Sprintf("gone%d", i)
		s := openAt(t, server.URL(schema))
		if _, err := s.Commit(ctx, []*store.Entry{pageOf("https://example.com/")}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(what, "%") {
			if err := server.Exec(ctx, fmt.Sprintf(what, schema)); err != nil {
				t.Fatal(err)
			}
		} else {
			if err := server.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
				t.Fatal(err)
			}
			openAt(t, server.URL(schema))
		}
		_, err := s.Commit(ctx, []*store.Entry{pageOf("https://example.com/2")})
		for call, err := range map[string]error{"commit": err, "claim": claims(s), "lookup": looks(s)} {
			if !errors.Is(err, errGone) {
				t.Errorf("%s after %q: %v, want %v", call, what, err, errGone)
			}
		}
	}
}

// Each error of opening a store has a suggestion for the user.
func TestCannotOpen(t *testing.T) {
	long(t)
	ctx := context.Background()
	defer func(p time.Duration) { patience = p }(patience)
	patience = 300 * time.Millisecond
	server := postgrestest.Start(t, "max_connections=5", "superuser_reserved_connections=0")
	if err := server.Exec(ctx, `CREATE ROLE guest LOGIN PASSWORD 'right'; CREATE SCHEMA emptied; CREATE TABLE emptied.turn (one int, version int, birth uuid, place bigint);
 CREATE SCHEMA newer; CREATE TABLE newer.turn (one int, version int, birth uuid, place bigint); INSERT INTO newer.turn VALUES (1, 99, gen_random_uuid(), 1)`); err != nil {
		t.Fatal(err)
	}
	host := "@" + server.Addr + "/"
	for _, tt := range []struct {
		name, url string
		create    bool
		is        error
		says      string
	}{
		{"no store", server.URL("none"), false, store.ErrNotExist, ""},
		{"no server", postgrestest.URL("a", "127.0.0.1:1"), true, store.ErrAway, "refused"},
		{"no database", "postgres://skink" + host + "nothing", true, nil, "createdb"},
		{"no right", "postgres://guest" + host + "skink?schema=none", true, nil, "lacks a permission"},
		{"emptied", server.URL("emptied"), true, store.ErrCorrupt, "DROP SCHEMA emptied"},
		{"another version", server.URL("newer"), true, store.ErrCorrupt, "version 99"},
	} {
		_, err := tryOpen(tt.url, Options{Create: tt.create})
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %v and %q", tt.name, err, tt.is, tt.says)
		}
	}

	var idle []*pgx.Conn
	for range 5 {
		conn, err := pgx.Connect(ctx, "postgres://skink"+host+"skink")
		if err != nil {
			break
		}
		idle = append(idle, conn)
	}
	_, err := tryOpen(server.URL("full"), Options{Create: true})
	if !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), "max_connections") {
		t.Errorf("without a free connection: %v", err)
	}
	for _, conn := range idle {
		conn.Close(ctx)
	}

	if err := server.RequirePassword(); err != nil {
		t.Fatal(err)
	}
	_, err = tryOpen("postgres://guest:wrong"+host+"skink", Options{})
	if err == nil || !strings.Contains(err.Error(), "PGPASSWORD") || strings.Contains(err.Error(), "wrong@") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// A process that was stopped for minutes during a call must try that call again.
func TestStoppedDuringACall(t *testing.T) {
	const patience = 50 * time.Millisecond
	tried := 0
	err := new(Store).tryFor(t.Context(), patience, func(context.Context) error {
		if tried++; tried == 1 {
			time.Sleep(2 * patience) // the call takes this long, as if the process had been stopped
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if err != nil || tried != 2 {
		t.Errorf("tried %d times, and got %v; want 2 and no error", tried, err)
	}
}

// A commit waits for another program's transaction that holds the commit lock, but not forever.
func TestStatementThatTakesMinutes(t *testing.T) {
	long(t)
	ctx := context.Background()
	defer func(p, s time.Duration) { patience, statementTimeout = p, s }(patience, statementTimeout)
	patience, statementTimeout = 500*time.Millisecond, 300*time.Millisecond
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("locked"))
	other, err := server.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(ctx)
	if _, err := other.Exec(ctx, "BEGIN; SELECT FROM locked.turn FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Commit(ctx, []*store.Entry{pageOf("https://example.com/")})
	if !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), "locks") {
		t.Errorf("while the lock is held: %v", err)
	}
	if _, err := other.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(ctx, []*store.Entry{pageOf("https://example.com/")}); err != nil || len(pages(t, s)) != 1 {
		t.Errorf("after it: %v", err)
	}
}

// The server ends the statement of a killed client, and its locks, long before the statement is
// finished.
func TestKilledClient(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("killed"))
	if err := server.Exec(ctx, "SET client_connection_check_interval = 1000"); err != nil {
		t.Skip("the server cannot check connections:", err)
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Exec(ctx, "BEGIN; LOCK TABLE killed.page; SELECT pg_sleep(50)")
	}()
	sleeping := func() string {
		text, err := server.Text(ctx, "SELECT count(*)::text FROM pg_stat_activity WHERE query LIKE '%pg_sleep(50)%' AND pid <> pg_backend_pid()")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for sleeping() == "0" {
		time.Sleep(10 * time.Millisecond)
	}
	conn.Conn().PgConn().Conn().Close()
	<-ended
	for began := time.Now(); sleeping() != "0"; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the server still runs the statement of a client that is gone")
		}
	}
}

// The store keeps working while another program's transaction with a snapshot of all tables stays
// open, and during a vacuum of the tables.
func TestLongTransaction(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("long"))
	if _, err := s.Commit(ctx, []*store.Entry{pageOf("https://first.example/")}); err != nil {
		t.Fatal(err)
	}
	other, err := server.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(ctx)
	if _, err := other.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM long.pages; SELECT count(*) FROM long.queue"); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	wait := committers(t, s, stop)
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		if err := server.Exec(ctx, "VACUUM ANALYZE"); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	acknowledged := wait()
	acknowledged["https://first.example/"] = true
	wantAll(t, s, acknowledged)
	var seen int
	if err := other.QueryRow(ctx, "SELECT count(*) FROM long.page").Scan(&seen); err != nil || seen != 1 {
		t.Errorf("the other transaction sees %d pages, want 1: %v", seen, err)
	}
}

// A visit to which no page refers is removed a day later, and nothing else is removed.
func TestSweep(t *testing.T) {
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("sweep"))
	if _, err := s.Commit(ctx, []*store.Entry{pageOf("https://example.com/")}); err != nil {
		t.Fatal(err)
	}
	if err := server.Exec(ctx, `SET search_path = sweep; UPDATE visit SET written = now() - interval '2 days';
 INSERT INTO visit (id, page, record, written) SELECT gen_random_uuid(), page, '{}', now() - i * interval '12 hours' FROM visit, generate_series(0, 3) i`); err != nil {
		t.Fatal(err)
	}
	for s.sweepSome(ctx) {
	}
	var left int
	if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM visit").Scan(&left); err != nil || left != 3 {
		t.Errorf("%d visits are left, want the page's and two that are younger than a day: %v", left, err)
	}
	if len(pages(t, s)) != 1 {
		t.Error("the page is gone")
	}
}

// If the server's clock jumps, the visits of a waiting commit may be removed by a sweep. They are
// then written again.
func TestVisitSweptBeforeItsCommit(t *testing.T) {
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("swept"))
	e := pageOf("https://example.com/")
	c := &commit{entries: []*store.Entry{e}, call: []int{0}, ended: map[int]bool{}, visits: []id{newID()}, sent: []bool{true}} // this commit is like one whose visit had been written
	outcomes, err := s.commit(ctx, c)
	if err != nil || outcomes[0] != store.Written || len(pages(t, s)) != 1 {
		t.Errorf("%v, %v, %d pages", outcomes, err, len(pages(t, s)))
	}
}

// If the server's clock is set forward by an hour, claims and delays end early, and nothing else
// happens: another worker gets the host, and the commits of the first worker for it are refused.
func TestServerClockSetForward(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("clock"))
	if _, err := s.Discover(ctx, []frontier.Item{{URL: "https://a.example/"}}); err != nil {
		t.Fatal(err)
	}
	first, err := s.Claim(ctx, "first", 1, time.Minute)
	if err != nil || len(first.Hosts) != 1 {
		t.Fatal(first, err)
	}
	// Moving the times in the rows back by an hour has the same effect as setting the clock
	// forward.
	if err := server.Exec(ctx, "UPDATE clock.host SET due = greatest(due - 3600000000000, 0), until = until - interval '1 hour', touched = touched - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	s.clock.heard(time.Now(), time.Now().Add(-time.Hour), time.Now())
	second, err := s.Claim(ctx, "second", 1, time.Minute)
	if err != nil || len(second.Hosts) != 1 {
		t.Fatal(second, err)
	}
	for _, tt := range []struct {
		claim frontier.Claim
		want  store.Outcome
	}{{first.Hosts[0].Claim, store.Lost}, {second.Hosts[0].Claim, store.Written}} {
		e := pageOf("https://a.example/")
		e.Claim, e.State = tt.claim, frontier.Fetched
		outcomes, err := s.Commit(ctx, []*store.Entry{e})
		if err != nil || outcomes[0] != tt.want {
			t.Errorf("%s commits: %v, %v, want %v", tt.claim.Worker, outcomes, err, tt.want)
		}
	}
}

// If the server's clock is set back by an hour, no delay and no claim lasts an hour longer.
func TestServerClockSetBack(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("clock"))
	if _, err := s.Discover(ctx, []frontier.Item{{URL: "https://a.example/"}, {URL: "https://b.example/"}}); err != nil {
		t.Fatal(err)
	}
	g, err := s.Claim(ctx, "dead", 2, 200*time.Millisecond)
	if err != nil || len(g.Hosts) != 2 {
		t.Fatal(g, err)
	}
	if err := s.Return(ctx, g.Hosts[0].Claim, frontier.Rest{Next: time.Now().Add(100 * time.Millisecond)}); err != nil {
		t.Fatal(err)
	}
	// Moving the times in the rows forward by an hour has the same effect as setting the clock
	// back.
	if err := server.Exec(ctx, "UPDATE clock.host SET due = CASE WHEN due = 0 THEN 0 ELSE due + 3600000000000 END, until = until + interval '1 hour', touched = touched + interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	s.clock.heard(time.Now(), time.Now().Add(time.Hour), time.Now())
	given := 0
	for until := time.Now().Add(20 * time.Second); given < 2 && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		g, err := s.Claim(ctx, "me", 2, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		given += len(g.Hosts)
	}
	if given != 2 {
		t.Errorf("%d of 2 hosts were given within 20 s", given)
	}
}

// A worker with a wrong clock waits as long between two requests to a host as one with the right
// clock.
func TestWorkerClockIsWrong(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	for i, wrong := range []time.Duration{time.Hour, -time.Hour} {
		url := server.URL(fmt.Sprintf("wrong%d", i))
		right, off := openAt(t, url), openAt(t, url)
		off.clock.ours = func() time.Time { return time.Now().Add(wrong) }
		if _, err := right.Discover(ctx, []frontier.Item{{URL: "https://a.example/"}}); err != nil {
			t.Fatal(err)
		}
		g, err := off.Claim(ctx, "off", 1, time.Minute)
		if err != nil || len(g.Hosts) != 1 {
			t.Fatal(g, err)
		}
		rest := 20 * time.Minute
		due := time.Now().Add(rest)
		if err := off.Return(ctx, g.Hosts[0].Claim, frontier.Rest{Next: off.clock.ours().Add(rest)}); err != nil {
			t.Fatal(err)
		}
		g, err = right.Claim(ctx, "right", 1, time.Minute)
		if err != nil || len(g.Hosts) != 0 || g.Next.Before(due) || g.Next.After(due.Add(time.Minute)) {
			t.Errorf("a clock that is %s off: %d hosts, the next at %s, want %s", wrong, len(g.Hosts), g.Next, due)
		}
	}
}

// An outage is reported two seconds after it begins, however the server fails, and once for all calls.
func TestSilentServer(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, began, at := new(Store), time.Now(), []string{}
			var mu sync.Mutex // guards at
			s.Watch(time.Minute, func(format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				if s.Silent() != strings.Contains(format, "does not respond") {
					t.Errorf("silent: %v, but it says %s", s.Silent(), format)
				}
				at = append(at, time.Since(began).Truncate(time.Second).String())
			})
			call := func() {
				err := s.try(t.Context(), func(ctx context.Context) error {
					switch away := 20*time.Second - time.Since(began); {
					case away > 0 && hangs:
						time.Sleep(away)
					case away > 0:
						return io.ErrUnexpectedEOF
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(call)
			}
			calls.Wait()
			call()
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(at, " "); got != "2s 20s" && got != "2s 21s" {
				t.Errorf("hangs: %v: it was said after %s", hangs, got)
			}
		})
	}
}

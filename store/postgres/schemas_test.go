package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"skink/frontier"
	"skink/internal/tools/postgrestest"
	"skink/store"
)

// TestDrop removes stores, and only stores that nobody uses.
func TestDrop(t *testing.T) {
	ctx := context.Background()
	server := postgrestest.Start(t)
	at := func(schema string) Address {
		a, err := ParseAddress(server.URL(schema))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	database, _, _ := strings.Cut(server.URL(""), "?")
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	wantSchemas := func(want ...string) {
		t.Helper()
		rows, err := conn.Query(ctx, "SELECT table_schema::text FROM information_schema.columns WHERE table_name = 'turn' AND column_name = 'birth' ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("stores: %v, %v, want %v", got, err, want)
		}
	}
	for _, name := range []string{"b", "a", "user"} { // user is a reserved word of SQL
		s, err := Open(ctx, at(name), Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if bytes := s.Size(ctx); bytes["visit"] < 1000 {
			t.Errorf("the tables of the store %s have %v bytes", name, bytes)
		}
		s.Close()
	}
	run("CREATE SCHEMA other; CREATE TABLE other.turn (one int)")
	wantSchemas("a", "b", "user")

	if err := Drop(ctx, at("nowhere")); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("drop a schema that does not exist: %v", err)
	}
	if err := Drop(ctx, at("other")); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("drop a schema that is no store: %v", err)
	}
	run("CREATE TABLE a.mine (n int)")
	if err := Drop(ctx, at("a")); err == nil || !strings.Contains(err.Error(), "mine") {
		t.Errorf("drop a store with a table of the user: %v", err)
	}
	run("DROP TABLE a.mine; TRUNCATE a.turn")
	if err := Drop(ctx, at("a")); err != nil {
		t.Errorf("drop an emptied store: %v", err)
	}
	if err := Drop(ctx, at("user")); err != nil {
		t.Error(err)
	}

	s, err := Open(ctx, at("b"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Discover(ctx, []frontier.Item{{URL: "https://host.example/"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(ctx, "worker", 1, time.Minute); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := Drop(ctx, at("b")); !errors.Is(err, store.ErrInUse) || time.Since(began) >= leaving {
		t.Errorf("drop a store with a claimed host: %v after %s", err, time.Since(began))
	}
	wantSchemas("b")
	s.Close()
	if err := Drop(ctx, at("b")); err != nil {
		t.Error(err)
	}
	wantSchemas()
}

// TestReplace replaces stores by others, but not a store that has changed, and no tables of others.
func TestReplace(t *testing.T) {
	ctx := t.Context()
	server := postgrestest.Start(t)
	old := openAt(t, server.URL("old"))
	beside := old.address.Beside()
	made := func(name string, commits int) {
		t.Helper()
		s, err := Open(ctx, beside, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := errors.Join(s.SetMeta(ctx, "name", []byte(name)), s.Load(ctx, slices.Repeat([]*store.Part{{Last: uint64(commits)}}, min(commits, 1)))); err != nil {
			t.Fatal(err)
		}
	}
	made("new", 2)
	if err := Replace(ctx, old.address, beside); !errors.Is(err, store.ErrInUse) {
		t.Errorf("replace a store with other commits: %v", err)
	}
	if err := errors.Join(old.Load(ctx, []*store.Part{{Last: 2}}), old.Close()); err != nil {
		t.Fatal(err)
	}
	if err := Replace(ctx, old.address, beside); err != nil {
		t.Error(err)
	}
	s := openAt(t, server.URL("old"))
	if name, err := s.Meta(ctx, "name"); err != nil || string(name) != "new" {
		t.Errorf("the store is %q, %v", name, err)
	}
	if _, err := s.pool.Exec(ctx, "CREATE SCHEMA mine; CREATE TABLE mine.data (n int)"); err != nil {
		t.Fatal(err)
	}
	at, err := ParseAddress(server.URL("mine"))
	if err != nil {
		t.Fatal(err)
	}
	made("other", 0)
	if err := Replace(ctx, at, beside); err == nil {
		t.Error("a schema with tables of others was replaced")
	}
}

// Workers without hosts may have been killed, so Drop waits until they no longer count as present.
// It refuses to drop the store of a worker that stays.
func TestDropAfterKill(t *testing.T) {
	long(t)
	ctx := context.Background()
	server := postgrestest.Start(t)
	s := openAt(t, server.URL("copy"))
	if _, err := s.Claim(ctx, "store copy", 0, time.Minute); err != nil {
		t.Fatal(err)
	}
	killed := s.address
	was := leaving
	t.Cleanup(func() { leaving = was })
	leaving = 100 * time.Millisecond
	if err := Drop(ctx, killed); !errors.Is(err, store.ErrInUse) {
		t.Errorf("drop the store of a worker that is present: %v", err)
	}
	leaving = was
	if err := Drop(ctx, killed); err != nil {
		t.Errorf("drop the store of a killed worker: %v", err)
	}
}

package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zeebo/xxh3"

	"skink/internal/tools/postgrestest"
	"skink/internal/tools/storetest"
	"skink/store"
)

var names atomic.Int64

// newName returns the name of a schema that no other test uses.
func newName() string { return fmt.Sprintf("t%d", names.Add(1)) }

// openAt opens a store and closes it at the end of the test.
func openAt(t testing.TB, url string) *Store {
	t.Helper()
	s, err := tryOpen(url, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func tryOpen(url string, opt Options) (*Store, error) {
	a, err := ParseAddress(url)
	if err != nil {
		return nil, err
	}
	return Open(context.Background(), a, opt)
}

// long skips a test that takes seconds of processor time unless SKINK_LONG is set, as .ci/run sets it.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("a long test: SKINK_LONG=short runs it")
	}
}

func TestStore(t *testing.T) {
	server := postgrestest.Start(t)
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, server.URL(newName())) })
}

func TestDurableStore(t *testing.T) {
	server := postgrestest.Start(t)
	storetest.RunDurable(t, func(t *testing.T, dir string) store.Store {
		s, err := tryOpen(server.URL(fmt.Sprintf("d%x", xxh3.HashString(dir))), Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// If several processes open a store at once and create it, all of them use the store that the first
// created.
func TestMadeByOneOfMany(t *testing.T) {
	server := postgrestest.Start(t)
	var all sync.WaitGroup
	births := make([]id, 8)
	for i := range births {
		all.Go(func() {
			s, err := tryOpen(server.URL("one"), Options{Create: true})
			if err != nil {
				t.Error(err)
				return
			}
			births[i] = s.birth
			s.Close()
		})
	}
	all.Wait()
	for _, b := range births {
		if b != births[0] {
			t.Error("two processes opened different stores")
		}
	}
}

func TestAddress(t *testing.T) {
	t.Setenv("PGSSLMODE", "disable")
	for _, tt := range []struct{ in, shown, fails string }{
		{"postgres://me:secret@db:5432,db2:5433/crawls?schema=docs", "postgres://me@db:5432,db2:5433/crawls?schema=docs", ""},
		{"postgresql://db/crawls", "postgresql://db/crawls?schema=skink", ""},
		{"postgres://me:se@cret@db/crawls?schema=a_b1&sslmode=disable", "postgres://me@db/crawls?schema=a_b1", ""},
		{"postgres://me:secret@db/", "", "does not name a database"},
		{"postgres://me:secret@db/crawls?schema=Docs", "", "lowercase"},
		{"postgres://me:secret@db:port/crawls", "", "cannot be read"},
		{"postgres://me:secret@db/crawls?sslmode=nonsense", "", "cannot be read"},
		{"redis://db/crawls", "", "begins with postgres://"},
	} {
		a, err := ParseAddress(tt.in)
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v, want one with %q and without the password", tt.in, err, tt.fails)
			}
			continue
		}
		if err != nil || a.String() != tt.shown {
			t.Errorf("%s: %s, %v, want %s", tt.in, a, err, tt.shown)
		}
	}
}

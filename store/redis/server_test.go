package redis

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"skink/store"
	"skink/store/redis/redistest"
)

// Tests share one server and one cluster, which are started by the first that asks for
// one. Each test has a store of its own name there.
var shared struct {
	server  func() (*redistest.Server, error)
	cluster func() (*redistest.Cluster, error)
	names   atomic.Int64
}

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "skink-redis")
	if err != nil {
		panic(err)
	}
	var stop []func()
	var mu sync.Mutex
	ends := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		stop = append(stop, f)
	}
	shared.server = sync.OnceValues(func() (*redistest.Server, error) {
		s, err := redistest.New(dir)
		if err == nil {
			ends(s.Kill)
		}
		return s, err
	})
	shared.cluster = sync.OnceValues(func() (*redistest.Cluster, error) {
		c, err := redistest.NewCluster(dir)
		if err == nil {
			ends(c.Kill)
		}
		return c, err
	})
	code := m.Run()
	for _, f := range stop {
		f()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// An engine is what keeps a store in a test.
type engine struct {
	name string
	at   func(t testing.TB) (servers string) // skips the test where it cannot be had
}

var engines = []engine{
	{"miniredis", func(t testing.TB) string { return miniredis.RunT(t).Addr() }},
	{"single", func(t testing.TB) string {
		needRedis(t)
		s, err := shared.server()
		if err != nil {
			t.Fatal(err)
		}
		return s.Addr
	}},
	{"cluster", func(t testing.TB) string {
		needRedis(t)
		c, err := shared.cluster()
		if err != nil {
			t.Fatal(err)
		}
		return c.Addrs()
	}},
}

func needRedis(t testing.TB) {
	t.Helper()
	for _, program := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s in PATH: install Debian's redis-server and redis-tools to run this test", program)
		}
	}
}

// onEach runs a test on each engine.
func onEach(t *testing.T, test func(t *testing.T, servers string)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { test(t, e.at(t)) })
	}
}

// onReal runs a test on real servers, and on the imitation, whose scripts take a
// hundred times as long, where there are none.
func onReal(t *testing.T, test func(t *testing.T, servers string)) {
	real := engines[1:]
	if _, err := exec.LookPath("redis-server"); err != nil || os.Getenv("SKINK_LONG") == "full" {
		real = engines
	}
	for _, e := range real {
		t.Run(e.name, func(t *testing.T) { test(t, e.at(t)) })
	}
}

// lookup asks one question.
func lookup(t testing.TB, s *Store, ask store.Ask) store.Found {
	t.Helper()
	found, err := s.Lookup(t.Context(), []store.Ask{ask})
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// outcome commits an entry.
func outcome(t testing.TB, s *Store, e *store.Entry) store.Outcome {
	t.Helper()
	outcomes, err := s.Commit(t.Context(), []*store.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes[0]
}

// newName is a name that no other test's store has.
func newName() string { return fmt.Sprintf("test%d", shared.names.Add(1)) }

// openNew opens a new store, and closes it at the end of the test.
func openNew(t testing.TB, servers string) *Store { return openNamed(t, servers, newName()) }

// openNamed opens a store of some name, and closes it at the end of the test.
func openNamed(t testing.TB, servers, name string) *Store {
	t.Helper()
	return openWith(t, servers, name, Options{Create: true})
}

// beside opens the store of another once more, as another process would.
func beside(t testing.TB, s *Store, opt Options) *Store {
	t.Helper()
	return openWith(t, strings.Join(s.address.Servers, ","), s.address.Name, opt)
}

func openWith(t testing.TB, servers, name string, opt Options) *Store {
	t.Helper()
	a, err := ParseAddress("redis://" + servers + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), a, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

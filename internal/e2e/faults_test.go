//go:build unix

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/tools/postgrestest"
	"skink/store"
	"skink/store/postgres"
)

// # Faults
//
// Each test crawls generated sites with workers that share a store on servers, and breaks something
// during the crawl. In the end, the store must have the same pages and the same clusters as after
// an undisturbed crawl by one process into a folder. No page may be missing or occur twice.

// A worker is a process that crawls.
type worker struct {
	*exec.Cmd
	said  transcript
	ended chan struct{} // closed when the process has ended
	err   error         // error with which the process ended; valid after ended is closed
}

// startWorker starts a process of the program, which is killed at the end of the test.
func startWorker(t *testing.T, skink string, args ...string) *worker {
	t.Helper()
	w := &worker{Cmd: exec.Command(skink, args...), ended: make(chan struct{})}
	w.Stdout, w.Stderr = &w.said, &w.said
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w.err = w.Wait()
		close(w.ended)
	}()
	t.Cleanup(func() {
		_ = w.Process.Kill()
		<-w.ended
	})
	return w
}

// awaitEnds waits until workers have ended. The time limit allows for busy machines. If a worker
// does not end, all running workers print their goroutines, because it may be waiting for another
// one.
func awaitEnds(t *testing.T, workers ...*worker) {
	t.Helper()
	patience := time.After(5 * time.Minute)
	for _, w := range workers {
		select {
		case <-w.ended:
			continue
		case <-patience:
		}
		for i, w := range workers {
			if w.runs() {
				_ = w.Process.Signal(syscall.SIGQUIT)
				<-w.ended
				t.Errorf("worker %d of %d does not end; it said\n%s", i+1, len(workers), w.said.String())
			}
		}
		t.FailNow()
	}
}

// runs reports whether a worker is still running.
func (w *worker) runs() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// endWell waits until workers have ended. None may have failed.
func endWell(t *testing.T, workers ...*worker) {
	t.Helper()
	awaitEnds(t, workers...)
	for _, w := range workers {
		if w.err != nil {
			t.Fatalf("a worker ended with %v, and said\n%s", w.err, w.said.String())
		}
	}
}

// fails waits until a worker has ended. It must have failed with an error that contains all the
// given texts.
func (w *worker) fails(t *testing.T, texts ...string) {
	t.Helper()
	awaitEnds(t, w)
	if w.err == nil {
		t.Error("a worker ended as if nothing was wrong")
	}
	for _, text := range texts {
		if !strings.Contains(w.said.String(), text) {
			t.Errorf("a worker said\n%s\nwant %q in it", w.said.String(), text)
		}
	}
}

// A reference is the result of an undisturbed crawl by one process.
type reference struct {
	skink, store string
	sites        *sites
	asked        int // number of URLs that the crawl requested
}

// refer crawls sites into a folder, and then resets the counts of requests.
func refer(t *testing.T, hosts, pages int) *reference {
	t.Helper()
	r := &reference{skink: buildSkink(t), store: filepath.Join(t.TempDir(), "calm"), sites: startHosts(t, hosts, pages)}
	run(t, crawlArgs(r.store, r.sites, "--quiet")...)
	r.asked = r.sites.answered()
	r.sites.forget()
	return r
}

// worker starts a worker that crawls the sites of the reference into a store.
func (r *reference) worker(t *testing.T, store, name string, flags ...string) *worker {
	t.Helper()
	return startWorker(t, r.skink, crawlArgs(store, r.sites, append([]string{"--quiet", "--worker", name}, flags...)...)...)
}

// same checks that a store has the same content as the reference.
func (r *reference) same(t *testing.T, store string) {
	t.Helper()
	pages := exported(t, r.skink, store)
	samePages(t, pages, exported(t, r.skink, r.store))
	allFound(t, store, pages)
	sameClusters(t, completeReport(t, r.skink, store), completeReport(t, r.skink, r.store))
	sound(t, pages)
	if text, _ := run(t, "status", "--store", store); !strings.Contains(text, "pending          0") {
		t.Errorf("at the end the status is\n%s", text)
	}
}

// allFound checks that each page of a shared store can be found by its id. An export, which reads
// pages in the order of their commits, would not detect a page that cannot be found.
func allFound(t *testing.T, address string, pages []line) {
	t.Helper()
	a, err := postgres.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(t.Context(), a, postgres.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for some := range slices.Chunk(pages, 500) {
		var ids []dedup.Hash
		for _, p := range some {
			ids = append(ids, dedup.HashOf([]byte(p.URL)))
		}
		found, err := s.Pages(t.Context(), ids, store.WantRecord)
		if err != nil {
			t.Fatal(err)
		}
		for i, page := range found {
			if page == nil {
				t.Errorf("%s is in the store, and nothing is found by its id", some[i].URL)
			}
		}
	}
}

// TestWorkerStopped stops a worker for longer than its claims last, while the worker waits for a
// response. Another worker takes over its hosts and gets that response. When the first worker
// continues, it receives the old response, but must notice that it has lost the host, and must not
// store anything.
func TestWorkerStopped(t *testing.T) {
	long(t) // waits half a minute for claims to expire
	t.Parallel()
	store := postgrestest.Start(t).URL("web")
	skink := buildSkink(t)
	asked, release := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	counted := &sites{counts: map[string]int{}}
	pages := generated{pages: 40, number: 1}
	server := httptest.NewServer(counted.counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/9.html" && once.CompareAndSwap(false, true) {
			close(asked)
			<-release
			fmt.Fprintf(w, "<!DOCTYPE html><html lang=en><title>Late</title><article>%s</article>", generated{pages: 40, number: 99}.article(1))
			return
		}
		pages.ServeHTTP(w, r)
	})))
	defer server.Close()
	counted.seeds = []string{server.URL + "/"}

	stopped := startWorker(t, skink, crawlArgs(store, counted, "--quiet", "--worker", "stopped", "--timeout", "5m")...)
	<-asked
	if err := stopped.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	other := startWorker(t, skink, crawlArgs(store, counted, "--quiet", "--worker", "other")...)
	endWell(t, other)
	before := exported(t, skink, store)
	close(release)
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	endWell(t, stopped)
	after := exported(t, skink, store)
	if len(before) != 41 {
		t.Errorf("%d pages, want 41", len(before))
	}
	samePages(t, after, before)
	if again, most := counted.fetchedAgain(); most > 2 || again > 16 {
		t.Errorf("%d URLs were fetched again, one of them %d times; 16 were in flight at most", again, most)
	}
}

// TestWorkerKilled kills a worker during a crawl. When its claims have expired, another worker must
// continue with its hosts. Only requests that were in flight may be repeated.
func TestWorkerKilled(t *testing.T) {
	long(t) // waits half a minute for claims to expire
	t.Parallel()
	r := refer(t, 4, 120)
	store := postgrestest.Start(t).URL("web")
	due := r.sites.after(100)
	killed := r.worker(t, store, "killed")
	<-due
	other := r.worker(t, store, "other")
	_ = killed.Process.Kill()
	endWell(t, other)
	if again, most := r.sites.fetchedAgain(); again > 16 || most > 2 {
		t.Errorf("%d URLs were fetched again, one of them %d times; 16 were in flight at most", again, most)
	}
	r.same(t, store)
}

// A wire is a proxy to a server. Its connections can be interrupted.
type wire struct {
	net.Listener
	to string

	mu    sync.Mutex
	mode  wireMode          // guarded by mu
	conns map[net.Conn]bool // guarded by mu
}

type wireMode int

const (
	whole   wireMode = iota
	silent           // no data passes, and connections stay open
	refused          // connections are closed immediately
)

// startWire starts a proxy to the server at an address.
func startWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		w.set(refused)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

// set changes the mode in which existing and new connections are treated.
func (w *wire) set(mode wireMode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = mode
	if mode == refused {
		for c := range w.conns {
			c.Close()
		}
	}
}

func (w *wire) is() wireMode {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode
}

// keep registers connections so that set can close them. It reports whether the mode allows them.
func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		w.conns[c] = true
	}
	return w.mode != refused
}

func (w *wire) carry(c net.Conn) {
	defer c.Close()
	s, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer s.Close()
	if !w.keep(c, s) {
		return
	}
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{c, s}, {s, c}} {
		both.Go(func() {
			defer pair[0].Close()
			defer pair[1].Close()
			buf := make([]byte, 32<<10)
			for {
				n, err := pair[0].Read(buf)
				for w.is() == silent {
					time.Sleep(10 * time.Millisecond)
				}
				if err != nil || w.is() == refused {
					return
				}
				if _, err := pair[1].Write(buf[:n]); err != nil {
					return
				}
			}
		})
	}
	both.Wait()
}

// TestWorkerCutOff interrupts the connection of a worker to its store for a while, first without
// closing connections, and then with refused connections. The worker must wait and continue when
// the store is available again. No page may be lost or fetched again.
func TestWorkerCutOff(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 4, 120)
	for _, tt := range []struct {
		name string
		mode wireMode
	}{{"silent", silent}, {"refused", refused}} {
		t.Run(tt.name, func(t *testing.T) {
			server := postgrestest.Start(t)
			wire := startWire(t, server.Addr)
			r.sites.forget()
			due := r.sites.after(100)
			cut := r.worker(t, postgrestest.URL("web", wire.Addr().String()), "cut")
			<-due
			wire.set(tt.mode)
			time.Sleep(3 * time.Second)
			wire.set(whole)
			endWell(t, cut)
			if again, _ := r.sites.fetchedAgain(); again > 0 {
				t.Errorf("%d URLs were fetched again", again)
			}
			r.same(t, server.URL("web"))
		})
	}
}

// TestWorkerCutOffForGood interrupts the connection of a worker to its store for longer than the
// worker waits. The worker must fail with the reason, and the same command must continue when the
// store is available again.
func TestWorkerCutOffForGood(t *testing.T) {
	long(t) // waits until the worker gives up, and for its claims
	t.Parallel()
	r := refer(t, 4, 120)
	server := postgrestest.Start(t)
	wire := startWire(t, server.Addr)
	due := r.sites.after(100)
	cut := r.worker(t, postgrestest.URL("web", wire.Addr().String()), "cut", "--store-patience", "5s", "--quiet=false")
	<-due
	wire.set(refused)
	cut.fails(t, wire.Addr().String(), " does not respond: trying again for up to 5s\n", "are not responding: gave up after", "continue with: skink crawl")
	wire.set(whole)
	endWell(t, r.worker(t, postgrestest.URL("web", wire.Addr().String()), "again"))
	if again, _ := r.sites.fetchedAgain(); again > 16 {
		t.Errorf("%d URLs were fetched again; 16 were in flight at most", again)
	}
	r.same(t, server.URL("web"))
}

// TestServerRestarts kills and restarts the database server twice during a crawl. The workers must
// wait, and no page may be fetched again.
func TestServerRestarts(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 6, 240)
	server := postgrestest.Start(t)
	due := r.sites.after(150)
	workers := []*worker{r.worker(t, server.URL("web"), "one"), r.worker(t, server.URL("web"), "two")}
	for range 2 {
		<-due
		due = r.sites.after(100)
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	endWell(t, workers...)
	if again, _ := r.sites.fetchedAgain(); again > 0 {
		t.Errorf("%d URLs were fetched again", again)
	}
	r.same(t, server.URL("web"))
}

// TestSchemaGone drops, empties or replaces the schema during a crawl. Each worker must end with
// exit code 1 and the reason. A worker that starts later must distinguish an emptied schema from a
// missing one.
func TestSchemaGone(t *testing.T) {
	needServer(t)
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	server := postgrestest.Start(t)
	r := refer(t, 4, 240)
	const all = "turn, visit, page, posting, known, queue, host, worker, counter, meta"
	tables := strings.ReplaceAll(all, ", ", ", emptied.")
	for _, tt := range []struct{ name, sql, then string }{
		{"dropped", "DROP SCHEMA dropped CASCADE", ""},
		{"emptied", "TRUNCATE emptied." + tables, "was emptied"},
		{"replaced", "UPDATE replaced.turn SET birth = gen_random_uuid()", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.sites.forget()
			due := r.sites.after(60)
			workers := []*worker{r.worker(t, server.URL(tt.name), "one"), r.worker(t, server.URL(tt.name), "two")}
			<-due
			if err := server.Exec(t.Context(), tt.sql); err != nil {
				t.Fatal(err)
			}
			awaitEnds(t, workers...)
			for _, w := range workers {
				if code := w.ProcessState.ExitCode(); code != 1 || !strings.Contains(w.said.String(), "dropped, emptied or replaced") {
					t.Errorf("a worker ended with exit code %d, want 1, and said\n%s", code, w.said.String())
				}
			}
			switch {
			case tt.then != "":
				r.worker(t, server.URL(tt.name), "again").fails(t, tt.then)
			case tt.name == "dropped":
				endWell(t, r.worker(t, server.URL(tt.name), "again"))
				r.same(t, server.URL(tt.name))
			}
		})
	}
}

// TestSecureStore crawls into a server that requires TLS and a password. The password is in the
// environment or in the address. It must not be printed or stored.
func TestSecureStore(t *testing.T) {
	needServer(t)
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	const password = "hidden-treasure"
	r := refer(t, 2, 60)
	server, cert := postgrestest.StartTLS(t)
	if err := server.Exec(t.Context(), "CREATE ROLE crawler LOGIN PASSWORD '"+password+"'; GRANT CREATE ON DATABASE skink TO crawler"); err != nil {
		t.Fatal(err)
	}
	if err := server.RequirePassword(); err != nil {
		t.Fatal(err)
	}
	address := func(password, cert string) string {
		return "postgres://crawler" + password + "@" + server.Addr + "/skink?schema=web&sslmode=verify-full&sslrootcert=" + cert
	}
	var printed strings.Builder
	ask := func(env []string, args ...string) (string, error) {
		cmd := exec.Command(r.skink, args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		printed.Write(out)
		return string(out), err
	}
	asked := func(env []string, args ...string) string {
		out, err := ask(env, args...)
		if err != nil {
			t.Errorf("skink %s: %v\n%s", args[0], err, out)
		}
		return out
	}
	asked([]string{"PGPASSWORD=" + password}, append([]string{"crawl", "--store", address("", cert), "--delay", "0", "--budget", "off"}, r.sites.seeds...)...)
	asked(nil, "status", "--store", address(":"+password, cert))
	report := asked(nil, "report", "--store", address(":"+password, cert), "--complete", "--format", "json")
	sameClusters(t, report, completeReport(t, r.skink, r.store))
	if out, err := ask(nil, "status", "--store", address(":"+password+"-not", cert)); err == nil || !strings.Contains(out, "PGPASSWORD") {
		t.Errorf("a wrong password is answered with %v: %s", err, out)
	}
	stranger := filepath.Join(t.TempDir(), "stranger")
	_, other := postgrestest.StartTLS(t)
	if b, err := os.ReadFile(other); err != nil || os.WriteFile(stranger, b, 0o600) != nil {
		t.Fatal(err)
	}
	if out, err := ask(nil, "status", "--store", address(":"+password, stranger)); err == nil || !strings.Contains(out, "certificate is not trusted") || !strings.Contains(out, "sslrootcert=FILE") {
		t.Errorf("a certificate that nobody trusts is answered with %v: %s", err, out)
	}
	if strings.Contains(printed.String(), password) {
		t.Errorf("the password is printed:\n%s", printed.String())
	}
	stored, err := server.Text(t.Context(), "SELECT schema_to_xml('web', true, false, '')::text")
	if err != nil || !strings.Contains(stored, "<turn") || strings.Contains(stored, password) {
		t.Errorf("what is stored has %d bytes, %v, and must not hold the password", len(stored), err)
	}
}

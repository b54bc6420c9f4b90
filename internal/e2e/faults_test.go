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
	"skink/store"
	"skink/store/postgres"
	"skink/store/postgres/postgrestest"
)

// # What must hold when something breaks
//
// Each test crawls generated sites with workers that share a store on servers, breaks one thing in
// the middle, and compares what the store holds at the end with an undisturbed crawl by one process
// into a folder: the same pages, none lost and none twice, and the same clusters over all pages.

// A worker is a crawl in a process of its own.
type worker struct {
	*exec.Cmd
	said  transcript
	ended chan struct{} // closed when it has ended
	err   error         // how it ended: read after that
}

// startWorker starts a process of the program. It is killed at the end of the test.
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

// awaitEnds waits until workers have ended. The patience is for busy machines. If one does not end, all
// that run say what they are doing: it may be another that the one waits for.
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

// runs says whether a worker has not ended yet.
func (w *worker) runs() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// endWell waits until workers have ended, and wants no error of any.
func endWell(t *testing.T, workers ...*worker) {
	t.Helper()
	awaitEnds(t, workers...)
	for _, w := range workers {
		if w.err != nil {
			t.Fatalf("a worker ended with %v, and said\n%s", w.err, w.said.String())
		}
	}
}

// fails waits until a worker has ended, and wants an error that says all of some texts.
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

// A reference is what an undisturbed crawl by one process has found.
type reference struct {
	skink, store string
	sites        *sites
	asked        int // how many URLs it asked for
}

// refer crawls sites into a folder, and forgets what was asked of them.
func refer(t *testing.T, hosts, pages int) *reference {
	t.Helper()
	r := &reference{skink: buildSkink(t), store: filepath.Join(t.TempDir(), "calm"), sites: startHosts(t, hosts, pages)}
	run(t, crawlArgs(r.store, r.sites, "--quiet")...)
	r.asked = r.sites.answered()
	r.sites.forget()
	return r
}

// worker starts a worker that crawls the sites into a store.
func (r *reference) worker(t *testing.T, store, name string, flags ...string) *worker {
	t.Helper()
	return startWorker(t, r.skink, crawlArgs(store, r.sites, append([]string{"--quiet", "--worker", name}, flags...)...)...)
}

// same wants a store to hold what the undisturbed crawl has found.
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

// allFound wants each page of a store on servers to be found by its id. An export reads them in the
// order of their commits, and would not notice that it is lost where one is.
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

// TestWorkerStopped stops a worker for longer than its claims last, while it waits for an answer.
// Another takes its hosts over and gets that answer. When the first goes on, it has the old answer
// in hand, notices that the host is no longer its own, and writes nothing of it.
func TestWorkerStopped(t *testing.T) {
	long(t) // waits half a minute until claims run out
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

// TestWorkerKilled kills a worker in the middle. What it held, another goes on with when the claims
// have run out, and only what was in flight is fetched again.
func TestWorkerKilled(t *testing.T) {
	long(t) // waits half a minute until claims run out
	t.Parallel()
	r := refer(t, 4, 240)
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

// A wire is a proxy in front of a server, which can be cut.
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
	silent           // nothing comes through, and nobody is told
	refused          // connections are closed at once
)

// startWire starts a proxy to an address.
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

// set cuts the wire, or mends it.
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

// keep remembers connections, so that they can be cut, and says whether they may be.
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

// TestWorkerCutOff cuts a worker off from its store for a while, so that nothing comes through, and
// so that connections are refused. It waits, and goes on when the store is back: nothing is lost,
// and nothing fetched again.
func TestWorkerCutOff(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 4, 240)
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

// TestWorkerCutOffForGood cuts a worker off for longer than it has patience. It ends and says why,
// and the same command goes on when the store is back.
func TestWorkerCutOffForGood(t *testing.T) {
	long(t) // waits half a minute for a worker's patience to end
	t.Parallel()
	r := refer(t, 4, 240)
	server := postgrestest.Start(t)
	wire := startWire(t, server.Addr)
	due := r.sites.after(100)
	cut := r.worker(t, postgrestest.URL("web", wire.Addr().String()), "cut")
	<-due
	wire.set(refused)
	cut.fails(t, wire.Addr().String(), "do not answer after", "continue with: skink crawl")
	wire.set(whole)
	endWell(t, r.worker(t, postgrestest.URL("web", wire.Addr().String()), "again"))
	if again, _ := r.sites.fetchedAgain(); again > 16 {
		t.Errorf("%d URLs were fetched again; 16 were in flight at most", again)
	}
	r.same(t, server.URL("web"))
}

// TestServerRestarts kills the server twice in the middle of a crawl and starts it again. The workers
// wait, and nothing is fetched again.
func TestServerRestarts(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 8, 480)
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

// TestSchemaGone drops, empties or replaces the schema while workers crawl. Each ends with exit code 1
// and says what happened. A worker that starts then tells an emptied schema from one that is not there.
func TestSchemaGone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	server := postgrestest.Start(t)
	r := refer(t, 4, 400)
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

// TestSecureStore crawls into a server that wants TLS and a password. The password comes from the
// environment, and from the address. It is in nothing that is printed or stored.
func TestSecureStore(t *testing.T) {
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

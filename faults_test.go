//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
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
	"skink/internal/cli"
	"skink/store"
	"skink/store/redis"
	"skink/store/redis/redistest"
)

// # What must hold when something breaks
//
// Each test crawls generated sites with workers that share a store on servers, breaks one thing in
// the middle, and compares what the store holds at the end with an undisturbed crawl by one process
// into a folder: the same pages, none lost and none twice, and the same clusters over all pages.

// A worker is a crawl in a process of its own.
type worker struct {
	*exec.Cmd
	store string // on servers, that it crawls into; "": another
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
		if w.store != "" {
			t.Error(held(w.store))
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

// held is what a store on servers holds of hosts (h), of claims (c) and of links on their way (o), by
// key: by that one sees what workers wait for.
func held(store string) string {
	addrs, name, _ := strings.Cut(strings.TrimPrefix(store, "redis://"), "/")
	var b strings.Builder
	for addr := range strings.SplitSeq(addrs, ",") {
		s := &redistest.Server{Addr: addr}
		role, err := s.CLI("role")
		role, _, _ = strings.Cut(role, "\n")
		fmt.Fprintf(&b, "%s: %s %v\n", addr, role, err)
		if role != "master" {
			continue
		}
		keys, _ := s.CLI("--scan", "--pattern", "{"+name+":*}[hco]")
		for key := range strings.FieldsSeq(keys) {
			ask := []string{"hgetall", key}
			switch key[len(key)-1] {
			case 'c':
				ask = []string{"zrange", key, "0", "-1", "withscores"}
			case 'o':
				ask = []string{"hkeys", key}
			}
			value, err := s.CLI(ask...)
			fmt.Fprintf(&b, "%s: %q %v\n", key, value, err)
		}
	}
	return b.String()
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
	w := startWorker(t, r.skink, crawlArgs(store, r.sites, append([]string{"--quiet", "--worker", name}, flags...)...)...)
	w.store = store
	return w
}

// same wants a store to hold what the undisturbed crawl has found.
func (r *reference) same(t *testing.T, store string) {
	t.Helper()
	r.samePages(t, store)
	sound(t, exported(t, r.skink, store))
}

// samePages is same without the verdicts of the crawl. A failover can lose the record of a leader,
// which is judged again, and may then follow another while its members still follow it.
func (r *reference) samePages(t *testing.T, store string) {
	t.Helper()
	pages := exported(t, r.skink, store)
	samePages(t, pages, exported(t, r.skink, r.store))
	allFound(t, store, pages)
	sameClusters(t, completeReport(t, r.skink, store), completeReport(t, r.skink, r.store))
	if text, _ := run(t, "status", "--store", store); !strings.Contains(text, "pending          0") {
		t.Errorf("at the end the status is\n%s", text)
	}
}

// allFound wants each page of a store on servers to be found by its id. An export reads them in the
// order of their commits, and would not notice that it is lost where one is.
func allFound(t *testing.T, address string, pages []line) {
	t.Helper()
	a, err := redis.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := redis.Open(t.Context(), a, redis.Options{ReadOnly: true})
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
	store := "redis://" + redistest.Start(t).Addr + "/web"
	skink := buildSkink(t)
	asked, release := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	counted := &sites{counts: map[string]int{}}
	pages := generated{40, 1}
	server := httptest.NewServer(counted.counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/9.html" && once.CompareAndSwap(false, true) {
			close(asked)
			<-release
			fmt.Fprintf(w, "<!DOCTYPE html><html lang=en><title>Late</title><article>%s</article>", generated{40, 99}.article(1))
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
	store := "redis://" + redistest.Start(t).Addr + "/web"
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
			server := redistest.Start(t)
			wire := startWire(t, server.Addr)
			r.sites.forget()
			due := r.sites.after(100)
			cut := r.worker(t, "redis://"+wire.Addr().String()+"/web", "cut")
			<-due
			wire.set(tt.mode)
			time.Sleep(3 * time.Second)
			wire.set(whole)
			endWell(t, cut)
			if again, _ := r.sites.fetchedAgain(); again > 0 {
				t.Errorf("%d URLs were fetched again", again)
			}
			r.same(t, "redis://"+server.Addr+"/web")
		})
	}
}

// TestWorkerCutOffForGood cuts a worker off for longer than it has patience. It ends and says why,
// and the same command goes on when the store is back.
func TestWorkerCutOffForGood(t *testing.T) {
	long(t) // waits half a minute for a worker's patience to end
	t.Parallel()
	r := refer(t, 4, 240)
	server := redistest.Start(t)
	wire := startWire(t, server.Addr)
	due := r.sites.after(100)
	cut := r.worker(t, "redis://"+wire.Addr().String()+"/web", "cut")
	<-due
	wire.set(refused)
	cut.fails(t, "redis://"+wire.Addr().String()+"/web", "nothing is lost", "resumed with")
	wire.set(whole)
	endWell(t, r.worker(t, "redis://"+wire.Addr().String()+"/web", "again"))
	if again, _ := r.sites.fetchedAgain(); again > 16 {
		t.Errorf("%d URLs were fetched again; 16 were in flight at most", again)
	}
	r.same(t, "redis://"+server.Addr+"/web")
}

// TestClusterRestarts kills all servers of a cluster at once in the middle of a crawl, and starts
// them again. They keep a log of what they are told (AOF), and so forget nothing.
func TestClusterRestarts(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 8, 480)
	cluster := redistest.StartCluster(t, "--appendonly", "yes")
	store := "redis://" + cluster.Addrs() + "/web"
	due := r.sites.after(150)
	workers := []*worker{r.worker(t, store, "one"), r.worker(t, store, "two")}
	<-due
	cluster.Kill()
	for _, s := range cluster.Servers {
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
	}
	endWell(t, workers...)
	r.same(t, store)
}

// TestPrimaryDies kills a primary of a cluster in the middle of a crawl, whose replica takes over
// and knows nothing of what was written in the last half of a second. Pages whose records are gone
// by that are fetched again, and no URL is lost.
func TestPrimaryDies(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 8, 480)
	cluster := redistest.StartCluster(t)
	store := "redis://" + cluster.Addrs() + "/web"
	due := r.sites.after(150)
	workers := []*worker{r.worker(t, store, "one"), r.worker(t, store, "two")}
	<-due
	if _, err := cluster.KillPrimary(0, 500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	endWell(t, workers...)
	r.samePages(t, store)
}

// TestSlotsMove moves a third of all slots from one primary to another while workers crawl.
func TestSlotsMove(t *testing.T) {
	long(t)
	t.Parallel()
	r := refer(t, 8, 480)
	cluster := redistest.StartCluster(t)
	store := "redis://" + cluster.Addrs() + "/web"
	due := r.sites.after(100)
	workers := []*worker{r.worker(t, store, "one"), r.worker(t, store, "two")}
	<-due
	if err := cluster.Move(0, 1, 5000); err != nil {
		t.Fatal(err)
	}
	endWell(t, workers...)
	if again, _ := r.sites.fetchedAgain(); again > 0 {
		t.Errorf("%d URLs were fetched again", again)
	}
	r.same(t, store)
}

// TestMemoryFull crawls into a server whose memory is full soon. The crawl stops, says why and how
// to go on, and goes on when there is room.
func TestMemoryFull(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	r := refer(t, 4, 400)
	server := redistest.Start(t, "--maxmemory", "2500kb")
	store := "redis://" + server.Addr + "/web"
	full := r.worker(t, store, "full")
	full.fails(t, "full", "maxmemory", "nothing is lost", "resumed with")
	if n := r.sites.answered(); n < 20 || n > 380 {
		t.Fatalf("%d of 404 URLs were asked for before the server was full", n)
	}
	if out, err := server.CLI("config", "set", "maxmemory", "0"); err != nil || out != "OK" {
		t.Fatal(out, err)
	}
	endWell(t, r.worker(t, store, "again"))
	r.same(t, store)
}

// TestServersTooOld covers servers that say they are too old for a store, before and after Redis
// learned to say hello.
func TestServersTooOld(t *testing.T) {
	for _, version := range []string{"5.0.14", "6.0.16"} {
		t.Run(version, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go actAs(c, version)
				}
			}()
			var said bytes.Buffer
			args := []string{"crawl", "--store", "redis://" + l.Addr().String() + "/web", "http://127.0.0.1:1/"}
			if code := cli.Run(t.Context(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &said}); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(said.String(), "needs Redis 6.2 or later") {
				t.Errorf("it says %q", &said)
			}
		})
	}
}

// actAs answers as far as a server of that version does before anything is stored.
func actAs(c net.Conn, version string) {
	defer c.Close()
	r := &respReader{c: c}
	for {
		args, err := r.command()
		if err != nil {
			return
		}
		answer := "-ERR unknown command `" + args[0] + "`, with args beginning with: \r\n"
		switch strings.ToUpper(args[0]) {
		case "HELLO":
			if !strings.HasPrefix(version, "5.") {
				answer = "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$" + fmt.Sprint(len(version)) + "\r\n" + version + "\r\n$5\r\nproto\r\n:3\r\n"
			}
		case "CLIENT", "SELECT":
			answer = "+OK\r\n"
		case "PING":
			answer = "+PONG\r\n"
		case "CLUSTER":
			answer = "-ERR This instance has cluster support disabled\r\n"
		case "INFO":
			text := "# Server\r\nredis_version:" + version + "\r\nmaxmemory_policy:noeviction\r\n"
			answer = fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// A respReader reads commands of the Redis protocol.
type respReader struct{ c io.Reader }

func (r *respReader) line() (string, error) {
	var b []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(r.c, one); err != nil {
			return "", err
		}
		if b = append(b, one[0]); bytes.HasSuffix(b, []byte("\r\n")) {
			return string(b[:len(b)-2]), nil
		}
	}
}

func (r *respReader) command() (args []string, err error) {
	head, err := r.line()
	if err != nil {
		return nil, err
	}
	var n int
	if _, err := fmt.Sscanf(head, "*%d", &n); err != nil {
		return nil, err
	}
	for range n {
		if head, err = r.line(); err != nil {
			return nil, err
		}
		var size int
		if _, err := fmt.Sscanf(head, "$%d", &size); err != nil {
			return nil, err
		}
		arg := make([]byte, size+2)
		if _, err := io.ReadFull(r.c, arg); err != nil {
			return nil, err
		}
		args = append(args, string(arg[:size]))
	}
	return args, nil
}

// TestSecureStore crawls into a server that talks TLS only and wants a password. The password comes
// from the environment, and from the address. It is in nothing that is printed or stored.
func TestSecureStore(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	const password = "hidden-treasure"
	r := refer(t, 2, 60)
	server := redistest.StartTLS(t, "--requirepass", password)
	trust := append(os.Environ(), "SSL_CERT_FILE="+server.Cert)
	asked := func(store string, env []string, args ...string) string {
		cmd := exec.Command(r.skink, append(args, "--store", store)...)
		cmd.Env = append(slices.Clone(trust), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("skink %s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	printed := asked("rediss://"+server.Addr+"/web", []string{"SKINK_REDIS_PASSWORD=" + password}, append([]string{"crawl", "--delay", "0", "--budget", "off"}, r.sites.seeds...)...)
	printed += asked("rediss://:"+password+"@"+server.Addr+"/web", nil, "status")
	report := asked("rediss://:"+password+"@"+server.Addr+"/web", nil, "report", "--complete", "--format", "json")
	sameClusters(t, report, completeReport(t, r.skink, r.store))
	refusal := exec.Command(r.skink, "status", "--store", "rediss://:"+password+"-not@"+server.Addr+"/web")
	refusal.Env = trust
	out, err := refusal.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "password") {
		t.Errorf("a wrong password is answered with %v: %s", err, out)
	}
	stranger, err := exec.Command(r.skink, "status", "--store", "rediss://"+server.Addr+"/web").CombinedOutput()
	if err == nil || !strings.Contains(string(stranger), "certificate") {
		t.Errorf("a certificate that nobody trusts is answered with %v: %s", err, stranger)
	}
	if printed += report + string(out) + string(stranger); strings.Contains(printed, password) {
		t.Errorf("the password is printed:\n%s", printed)
	}
	if out, err := server.CLI("-a", password, "--no-auth-warning", "config", "set", "rdbcompression", "no"); err != nil {
		t.Fatal(out, err)
	}
	dump, err := server.CLI("-a", password, "--no-auth-warning", "--rdb", "-")
	if err != nil || !strings.Contains(dump, "{web:") || strings.Contains(dump, password) {
		t.Errorf("what is stored has %d bytes, %v, and must not hold the password", len(dump), err)
	}
}

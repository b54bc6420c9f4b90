package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// A farm is a server for many hosts. It answers each page after a delay, and records which worker
// has requested it. Each worker has a user agent of its own.
type farm struct {
	hosts, each int
	answers     time.Duration
	mirrored    bool // pairs of hosts are mirrors, and half of their articles are on all hosts

	mu          sync.Mutex
	first, last time.Time       // guarded by mu: times of the first and the last answer
	pages       map[string]int  // guarded by mu: number of answered pages by worker
	asked       map[string]bool // guarded by mu: URLs that were requested
	again       int             // guarded by mu: number of requests for URLs that had been requested before
	gate        *gate           // guarded by mu: delays requests; nil if there is none
}

// A gate delays requests until each worker has one in flight. Then it lets all waiting requests
// pass. It repeats this for the given number of pages.
type gate struct {
	workers, pages int
	waiting        map[string]int
	open           chan struct{} // closed to let waiting requests pass
}

func startFarm(t *testing.T, hosts, each int, answers time.Duration) (f *farm, seeds []string) {
	f = &farm{hosts: hosts, each: each, answers: answers}
	f.forget()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for h := range hosts {
		seeds = append(seeds, fmt.Sprintf("http://h%d.localhost:%s/", h, port))
	}
	return f, seeds
}

func (f *farm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var host int
	fmt.Sscanf(r.Host, "h%d.", &host)
	if r.URL.Path == "/robots.txt" || strings.Contains(r.URL.Path, "sitemap") {
		http.NotFound(w, r)
		return
	}
	worker, _, _ := strings.Cut(r.UserAgent(), "/")
	time.Sleep(f.answers)
	f.pass(worker)
	f.site(host).ServeHTTP(w, r)
	f.note(worker, r.Host+r.URL.Path)
}

func (f *farm) site(host int) generated {
	if f.mirrored {
		return generated{pages: f.each, number: 1 + host/2}
	}
	return generated{pages: f.each, number: 1 + host, own: true}
}

// pass waits at the gate, if there is one.
func (f *farm) pass(worker string) {
	f.mu.Lock()
	g := f.gate
	if g == nil {
		f.mu.Unlock()
		return
	}
	g.waiting[worker]++
	open := g.open
	if len(g.waiting) == g.workers {
		for _, n := range g.waiting {
			g.pages -= n
		}
		f.openGate()
	}
	f.mu.Unlock()
	<-open
}

// openGate lets the waiting requests pass, and removes the gate when enough have passed. The caller
// must hold mu.
func (f *farm) openGate() {
	g := f.gate
	close(g.open)
	g.open, g.waiting = make(chan struct{}), map[string]int{}
	if g.pages <= 0 {
		f.gate = nil
	}
}

func (f *farm) note(worker, url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last = time.Now(); f.first.IsZero() {
		f.first = f.last
	}
	f.pages[worker]++
	if f.asked[url] {
		f.again++
	}
	f.asked[url] = true
}

func (f *farm) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first, f.pages, f.asked, f.again = time.Time{}, map[string]int{}, map[string]bool{}, 0
}

// rate returns the number of answered pages per second, from the first answer to the last.
func (f *farm) rate() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return float64(len(f.asked)) / f.last.Sub(f.first).Seconds()
}

// crawlFarm crawls with several workers, each in a process. It checks that they fetch every page
// once, and the first page under two URLs. It returns the workers' processor time for each page.
func (f *farm) crawlFarm(t *testing.T, skink, store string, workers int, seeds []string, flags ...string) (cost time.Duration) {
	t.Helper()
	f.forget()
	var wg sync.WaitGroup
	var took atomic.Int64
	for n := range workers {
		args := append([]string{"crawl", "--store", store, "--quiet", "--delay", "0", "--budget", "off", "--user-agent", fmt.Sprintf("w%d/1", n)}, flags...)
		wg.Go(func() {
			cmd := exec.Command(skink, append(args, seeds...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("worker %d: %v\n%s", n, err, out)
			}
			took.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
		})
	}
	wg.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if want := f.hosts * (f.each + 1); len(f.asked) != want || f.again > 0 {
		t.Errorf("%d pages were fetched, %d of them again; want %d", len(f.asked), f.again, want)
	}
	return time.Duration(took.Load()) / time.Duration(len(f.asked))
}

// TestWorkersShare crawls with four processes. For half of all pages, the sites answer only when
// all four workers have a request in flight. So each worker must get hosts, whichever worker claims
// first, and must fetch its share of that half.
func TestWorkersShare(t *testing.T) {
	long(t)
	if testing.Short() {
		t.Skip("starts processes")
	}
	const hosts, each, workers = 16, 20, 4
	server := postgrestest.Start(t)
	skink := buildSkink(t)
	f, seeds := startFarm(t, hosts, each, 0)
	f.gate = &gate{workers: workers, pages: hosts * each / 2, waiting: map[string]int{}, open: make(chan struct{})}
	patience := time.AfterFunc(2*time.Minute, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.gate != nil {
			t.Errorf("the four workers never had requests in flight at once: waiting are %v, answered %v", f.gate.waiting, f.pages)
			f.gate.pages = 0
			f.openGate()
		}
	})
	defer patience.Stop()
	f.crawlFarm(t, skink, server.URL("web"), workers, seeds, "--connections", "2")
	t.Logf("pages by worker: %v", f.pages)
	const least = hosts * each / 2 / workers / 2 // each time the gate opens, at least one of a worker's two connections passes
	for n := range workers {
		if got := f.pages[fmt.Sprint("w", n)]; got < least {
			t.Errorf("worker %d fetched %d pages, want %d at least", n, got, least)
		}
	}
}

// TestSpeedOfWorkers measures pages per second. First it compares four workers with one, for sites
// that answer after 20 ms and a store that is 2 ms away. Each worker has only two requests in
// flight, so that it is limited by waiting and not by the processor. Then it compares one worker
// without any delay that crawls into a folder with one that crawls into a server, on the same
// cores. The second comparison is made for hosts with different articles and for mirrors.
//
//	SKINK_LONG=full go test -run TestSpeedOfWorkers -v ./internal/e2e
func TestSpeedOfWorkers(t *testing.T) {
	if long(t) != full {
		t.Skip("takes a quiet machine: SKINK_LONG=full runs it")
	}
	hosts, each := 32, 200 // makes the first seconds, in which hosts are distributed, less important
	skink := buildSkink(t)
	server := postgrestest.Start(t)
	far := postgrestest.Delayed(t, server.Addr, 2*time.Millisecond)
	f, seeds := startFarm(t, hosts, each, 20*time.Millisecond)
	f.crawlFarm(t, skink, postgrestest.URL("one", far), 1, seeds, "--connections", "2")
	one := f.rate()
	f.crawlFarm(t, skink, postgrestest.URL("four", far), 4, seeds, "--connections", "2")
	four := f.rate()
	t.Logf("%d pages of %d hosts, 20 ms away, 2 ms to the store: one worker %.0f pages/s, four %.0f: %.2f times; pages by worker %v", hosts*each, hosts, one, four, four/one, f.pages)
	if four < 3.2*one {
		t.Errorf("four workers are %.2f times as fast as one, want 3.2", four/one)
	}

	each *= 2
	for _, mirrored := range []bool{false, true} {
		f, seeds := startFarm(t, hosts, each, 0)
		f.mirrored = mirrored
		least := .45
		if mirrored { // every third page changes the leader of its cluster; see internal/ingest/elect.go
			least = 0
		}
		speedOfStores(t, skink, f, seeds, least)
	}
}

// speedOfStores alternates between crawls of a farm into a folder and into a server, because the
// speed of a machine varies. The median of the ratios must be least or more.
func speedOfStores(t *testing.T, skink string, f *farm, seeds []string, least float64) {
	var times []float64
	for n := range 4 {
		t.Run(fmt.Sprintf("mirrored=%v/%d", f.mirrored, n+1), func(t *testing.T) { // each round begins with empty stores
			folderCost := f.crawlFarm(t, skink, filepath.Join(t.TempDir(), "folder"), 1, seeds)
			folder := f.rate()
			server := postgrestest.Start(t, "fsync=on")
			idle := server.CPU()
			nearCost := f.crawlFarm(t, skink, server.URL("near"), 1, seeds)
			near, served := f.rate(), (server.CPU()-idle)/time.Duration(len(f.asked))
			times = append(times, near/folder)
			t.Logf("%d pages, all on the same cores: into a folder %.0f pages/s, into a server %.0f: %.2f times; processor time of a page: %v, and %v with %v of the server",
				len(f.asked), folder, near, near/folder, folderCost.Round(time.Microsecond), nearCost.Round(time.Microsecond), served.Round(time.Microsecond))
		})
	}
	slices.Sort(times)
	median := times[len(times)/2]
	t.Logf("mirrored: %v: the median is %.2f times", f.mirrored, median)
	if median < least {
		t.Errorf("a crawl into a server is %.2f times as fast as one into a folder, want %.2f", median, least)
	}
}

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// scaleNights is the number of times that [TestScale] visits all pages again.
const scaleNights = 3

// TestScale does with one store what an operator does: crawl, be killed and continue, report,
// compare all pages, audit, visit all pages again for three nights, export what each night changed,
// and view the store. It prints the cost of each step, and of the crawl for each tenth of the pages.
// It checks the numbers of pages after each step, and that each export has exactly the pages that
// changed.
//
// SKINK_LONG=short has 4,000 pages, and SKINK_LONG=full 100,000. SKINK_SCALE sets another number.
// SKINK_SCALE_DIR names a folder that keeps the store. A test that was stopped during its first
// crawl continues with this store:
//
//	SKINK_LONG=full SKINK_SCALE=10000000 SKINK_SCALE_DIR=/big/scale go test -run TestScale -v -timeout 0 ./internal/e2e
func TestScale(t *testing.T) {
	pages := 4000
	if long(t) == full {
		pages = 100_000
	}
	if asked := os.Getenv("SKINK_SCALE"); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1000 {
			t.Fatalf("SKINK_SCALE is %q; want a number of pages, at least 1000", asked)
		}
		pages = n
	}
	dir := os.Getenv("SKINK_SCALE_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	site := &nightSite{pages: pages}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	s := &scaled{t: t, skink: buildSkink(t), dir: dir, site: site, seed: server.URL + "/"}
	s.crawlAndKill()
	s.report(pages)
	if got := s.export(); got != (exportedPages{fresh: pages}) {
		t.Errorf("the first export has %+v, want %d new pages", got, pages)
	}
	for night := 1; night <= scaleNights; night++ {
		site.night.Store(int64(night))
		s.crawl(fmt.Sprint("night ", night), "--recrawl", "0s")
		if got, want := s.export(), site.changes(night); got != want {
			t.Errorf("night %d: the export has %+v, want %+v", night, got, want)
		}
	}
	s.report(site.alive(scaleNights))
	s.measure("check", "check", "--store", s.store())
	s.view()
}

// A scaled is a store that [TestScale] fills and reads.
type scaled struct {
	t          *testing.T
	skink, dir string
	site       *nightSite
	seed       string
}

func (s *scaled) store() string { return filepath.Join(s.dir, "store") }

func (s *scaled) crawlArgs(more ...string) []string {
	args := []string{"crawl", "--store", s.store(), "--quiet", "--delay", "0", "--audit", "--allow-private", "127.0.0.0/8"}
	return append(append(args, more...), s.seed)
}

// crawlAndKill crawls half of the pages, kills the crawl, and crawls the rest.
func (s *scaled) crawlAndKill() {
	half := exec.Command(s.skink, s.crawlArgs()...)
	if err := half.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- half.Wait() }()
	stop := s.watch(half.Process.Pid)
	for running := true; running && s.site.served.Load() < int64(s.site.pages/2); {
		select {
		case err := <-ended: // the store was already complete
			ended <- err
			running = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	_ = half.Process.Kill()
	<-ended
	stop()
	before, start := s.site.served.Load(), time.Now()
	first := make(chan time.Duration, 1)
	go func() {
		for s.site.served.Load() == before && s.t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		first <- time.Since(start)
	}()
	s.crawl("the rest after kill -9")
	s.t.Logf("first request %v after the start", (<-first).Round(time.Millisecond))
}

// crawl runs a crawl to its end.
func (s *scaled) crawl(what string, more ...string) { s.measure(what, s.crawlArgs(more...)...) }

// report prints everything that is printed about a store, and checks the number of pages with text.
func (s *scaled) report(pages int) {
	s.measure("status", "status", "--store", s.store())
	out := s.measure("report", "report", "--store", s.store(), "--format", "json", "--top", "10")
	var totals struct{ Pages int }
	if err := json.Unmarshal(out, &totals); err != nil {
		s.t.Fatalf("%v\n%.500s", err, out)
	}
	if totals.Pages != pages {
		s.t.Errorf("the report has %d pages, want %d", totals.Pages, pages)
	}
	s.measure("report --complete", "report", "--store", s.store(), "--complete")
	s.measure("report --about audit", "report", "--store", s.store(), "--about", "audit")
	s.measure("report --about folders", "report", "--store", s.store(), "--about", "folders")
}

// export exports what has changed since the last export, and counts it.
func (s *scaled) export() (c exportedPages) {
	s.t.Helper()
	out := filepath.Join(s.dir, "changes.jsonl")
	s.measure("export --cursor", "export", "--store", s.store(), "--cursor", filepath.Join(s.dir, "cursor"), "--out", out)
	f, err := os.Open(out)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for dec := json.NewDecoder(f); dec.More(); {
		var line struct{ URL, Change string }
		if err := dec.Decode(&line); err != nil {
			s.t.Fatal(err)
		}
		n, _ := strconv.Atoi(line.URL[strings.LastIndexByte(line.URL, '/')+1:])
		switch {
		case line.Change == "gone":
			c.gone++
		case s.site.since(n) == int(s.site.night.Load()):
			c.fresh++
		default:
			c.changed++
		}
	}
	return c
}

// view opens pages of the view, and prints how long each takes before and after the audit has ended.
func (s *scaled) view() {
	address := startView(s.t, s.dir)
	start := time.Now()
	s.open(address, "/")
	for bytes.Contains(s.open(address, "/audit"), []byte("The audit is running")) {
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Logf("view: the audit took %v", time.Since(start).Round(10*time.Millisecond))
	for _, page := range []string{"/", "/pages", "/pages?q=17", "/clusters", "/audit", "/map", "/similarity", "/now"} {
		s.open(address, page)
		start := time.Now()
		n := len(s.open(address, page))
		s.t.Logf("view %s: %v, %d bytes", page, time.Since(start).Round(time.Millisecond), n)
	}
}

// open returns a page of the view.
func (s *scaled) open(address, page string) []byte {
	resp, err := http.Get(address + page)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Errorf("view %s: status %d, %v", page, resp.StatusCode, err)
	}
	return text
}

// measure runs skink, prints the cost, and returns what skink prints.
func (s *scaled) measure(what string, args ...string) []byte {
	s.t.Helper()
	cmd := exec.Command(s.skink, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	stop := s.watch(cmd.Process.Pid)
	err := cmd.Wait()
	stop()
	took, used := time.Since(start), cmd.ProcessState
	if err != nil {
		s.t.Fatalf("%s: %v\n%.2000s", what, err, &said)
	}
	peak := used.SysUsage().(*syscall.Rusage).Maxrss / 1024
	s.t.Logf("%s: %v, %v of processor (%.3f ms a page), peak %d MB with files; store %d MB", what, took.Round(10*time.Millisecond),
		(used.UserTime() + used.SystemTime()).Round(10*time.Millisecond), float64((used.UserTime()+used.SystemTime()).Microseconds())/1000/float64(s.site.pages),
		peak, bytesIn(s.t, s.store())>>20)
	return out.Bytes()
}

// watch prints the state of a process each time that the site has served another tenth of its pages,
// until stop is called.
func (s *scaled) watch(pid int) (stop func()) {
	done, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		step := int64(max(s.site.pages/10, 1))
		start, work, from := time.Now(), time.Duration(0), s.site.served.Load()
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if served := s.site.served.Load(); served >= from+step {
				now, spent := time.Now(), processorOf(pid)
				files, _ := os.ReadDir(s.store())
				s.t.Logf("%9d to %9d responses: %5.0f pages/s, %.3f ms of processor a page; %d MB own, %d files of %d MB", from, served,
					float64(served-from)/now.Sub(start).Seconds(), float64((spent-work).Microseconds())/1000/float64(served-from),
					statusOf(pid, "RssAnon:")>>10, len(files), bytesIn(s.t, s.store())>>20)
				start, work, from = now, spent, served
			}
		}
	}()
	return func() { close(done); <-ended }
}

// processorOf returns the processor time of a running process, or 0 if it has ended.
func processorOf(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100 // a tick is a hundredth of a second on Linux
}

// statusOf returns a number in KB from the status of a running process, or 0 if it has ended.
func statusOf(pid int, name string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), name)
	var kb int64
	_, _ = fmt.Sscan(rest, &kb)
	return kb
}

// # A site that changes each night
//
// Page n links to the pages 3n+1, 3n+2 and 3n+3. Each night, 1% of the pages get another paragraph,
// new pages are added after the last one (0.5% of the first night's number), and 0.3% of the pages
// without links are gone. Pages with even numbers have an ETag, so half of the visits that find no
// change end with status 304.
type nightSite struct {
	pages  int // number of pages before the first night
	night  atomic.Int64
	served atomic.Int64 // number of requests
}

// exportedPages counts the pages of an export.
type exportedPages struct{ fresh, changed, gone int }

func (s *nightSite) total(night int) int { return s.pages + night*(s.pages/200) }

// since returns the night in which page n appears.
func (s *nightSite) since(n int) int {
	if n < s.pages {
		return 0
	}
	return 1 + (n-s.pages)/(s.pages/200)
}

// luck returns a number below 1000 for page n, which is the same in each run.
func luck(n, night int) uint64 { return rand.New(rand.NewPCG(uint64(n), uint64(night))).Uint64N(1000) }

// version returns the last night up to the given one in which page n changed, or 0.
func (s *nightSite) version(n, night int) int {
	for ; night > s.since(n); night-- {
		if luck(n, night) < 10 {
			return night
		}
	}
	return 0
}

// goneIn returns the night in which page n goes away, or a later night than all if it stays.
func (s *nightSite) goneIn(n int) int {
	if n < s.pages && 3*n+1 >= s.total(scaleNights) {
		for night := 1; night <= scaleNights; night++ {
			if luck(n, 100+night) < 3 {
				return night
			}
		}
	}
	return scaleNights + 1
}

func (s *nightSite) changes(night int) (c exportedPages) {
	for n := range s.total(night) {
		switch gone := s.goneIn(n); {
		case gone < night:
		case gone == night:
			c.gone++
		case s.since(n) == night:
			c.fresh++
		case s.version(n, night) == night:
			c.changed++
		}
	}
	return c
}

// alive returns the number of pages that exist in a night.
func (s *nightSite) alive(night int) (all int) {
	for n := range s.total(night) {
		if s.goneIn(n) > night {
			all++
		}
	}
	return all
}

func (s *nightSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.served.Add(1)
	night := int(s.night.Load())
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if r.URL.Path == "/" {
		n, err = 0, nil
	}
	total := s.total(night)
	if err != nil || n >= total || s.goneIn(n) <= night {
		http.NotFound(w, r)
		return
	}
	if n%2 == 0 {
		tag := fmt.Sprintf(`"%d-%d-%d"`, n, s.version(n, night), min(max(total-3*n-1, 0), 3))
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	b := fmt.Appendf(nil, "<!DOCTYPE html><html lang=en><title>Page %d</title><article><h1>Page %[1]d</h1>", n)
	for paragraph := range 5 {
		seed := uint64(paragraph)
		if paragraph == 2 {
			seed += uint64(s.version(n, night)) << 8
		}
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		b = append(b, "<p>"...)
		for range 60 {
			b = append(strconv.AppendUint(append(b, 'w'), rng.Uint64N(4000), 36), ' ')
		}
	}
	b = append(b, "</article><nav>"...)
	for to := 3*n + 1; to <= 3*n+3 && to < total; to++ {
		b = fmt.Appendf(b, "<a href=/%d>page %[1]d</a> ", to)
	}
	_, _ = w.Write(append(b, "</nav></html>"...))
}

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/cli"
	"skink/store"
	"skink/store/badger"
)

// TestSoak crawls a generated web with known properties (internal/tools/webgen) from one seed, and
// compares the store with these properties. Each URL must have the expected record, the numbers of
// verdicts must be right, each duplicate must be in the group of its leader, and no URL may be
// fetched twice. During the crawl, the test samples memory, goroutines and open files. They must
// not grow once the crawl has warmed up.
//
// SKINK_LONG=short has 4,000 pages. SKINK_LONG=full has 200,000 pages on 2,000 hosts, and takes
// some minutes.
func TestSoak(t *testing.T) {
	hosts, pages := 200, 4000
	if long(t) == full {
		hosts, pages = 2000, 200_000
	}
	web := startWebgen(t, hosts, pages)

	dir := filepath.Join(t.TempDir(), "store")
	var printed bytes.Buffer
	args := []string{"crawl", "--store", dir, "--delay", "0", "--scope", "any", "--allow-private", "127.0.0.0/8", "--learn", "off", web.truth.URL} // the crawl makes no probes, and postpones no URLs
	running := sampleProcess()
	code := cli.Run(t.Context(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &printed})
	samples := running.stop()
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, &printed)
	}

	records := readRecords(t, dir)
	web.readTruth(t)
	web.checkRecords(t, records)
	web.checkCounts(t, records)
	web.checkAsked(t)
	checkFlat(t, records, samples)
}

// A webgen is a generated web that is being served, with its known properties.
type webgen struct {
	truth struct {
		URL                                           string
		Pages, Unique, Exact, Near, Thin              int64
		Gone, Broken, Redirects, Blocked, Other, Busy int64
	}
	stop      func()
	list      string // file with the list of addresses
	addresses map[string]address
}

// An address is the expected result for a URL.
type address struct {
	URL, Kind, Problem, Location, Form, Change string
	Group                                      int
}

// startWebgen builds the generator and starts it in a separate process, so that its memory is not
// counted.
func startWebgen(t *testing.T, hosts, pages int) *webgen {
	t.Helper()
	return runWebgen(t, buildWebgen(t), "--hosts", fmt.Sprint(hosts), "--pages", fmt.Sprint(pages))
}

func buildWebgen(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "webgen")
	if out, err := exec.Command("go", "build", "-o", bin, "./internal/tools/webgen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// runWebgen runs the generator until stop is called or the test ends.
func runWebgen(t *testing.T, bin string, args ...string) *webgen {
	t.Helper()
	w := &webgen{list: filepath.Join(t.TempDir(), "truth.jsonl"), addresses: map[string]address{}}
	cmd := exec.Command(bin, append(args, "--truth", w.list)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // closing standard input ends the process; the system closes it if this process is killed
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.stop = sync.OnceFunc(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("webgen: %v", err)
		}
	})
	t.Cleanup(w.stop)
	if err := json.NewDecoder(stdout).Decode(&w.truth); err != nil {
		t.Fatalf("read what webgen says: %v", err)
	}
	return w
}

// readTruth reads the known properties. It is called only after the crawl, because the memory of
// the crawl is measured.
func (w *webgen) readTruth(t *testing.T) {
	t.Helper()
	f, err := os.Open(w.list)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var a address
		if err := dec.Decode(&a); err != nil {
			t.Fatal(err)
		}
		w.addresses[a.URL] = a
	}
}

func readRecords(t *testing.T, dir string) (all []*store.Record) {
	t.Helper()
	s, err := badger.Open(dir, badger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for page, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &page.Record)
	}
	counts, err := s.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if counts.Pending != 0 {
		t.Errorf("%d URLs are still pending", counts.Pending)
	}
	return all
}

// checkRecords checks that each address has exactly one record with the expected content.
func (w *webgen) checkRecords(t *testing.T, records []*store.Record) {
	t.Helper()
	wrong := 0
	fail := func(format string, args ...any) {
		if wrong++; wrong <= 20 {
			t.Errorf(format, args...)
		}
	}
	seen := map[string]bool{}
	for _, r := range records {
		a, ok := w.addresses[r.URL]
		leader := w.addresses[r.DuplicateOf]
		switch {
		case !ok:
			fail("%s: no such address", r.URL)
		case seen[r.URL]:
			fail("%s has two records", r.URL)
		case string(r.Kind) != a.Kind || a.Problem != "" && r.Problem != a.Problem || r.Location != a.Location:
			fail("%s: %s %q %q, want %+v", r.URL, r.Kind, r.Problem, r.Location, a)
		case r.DuplicateOf != "" && (leader.Group != a.Group || r.Resemblance < dedup.DefaultSimilarity):
			fail("%s: of group %d, and a duplicate of %s of group %d by %v", r.URL, a.Group, leader.URL, leader.Group, r.Resemblance)
		case r.Kind == store.Page && !possible[a.Form][r.Verdict]:
			fail("%s: %s, and is %s", r.URL, r.Verdict, a.Form)
		}
		seen[r.URL] = true
	}
	for url := range w.addresses {
		if !seen[url] {
			fail("%s has no record", url)
		}
	}
	if wrong > 20 {
		t.Errorf("and %d more", wrong-20)
	}
}

// possible maps the kind of a group to the verdicts that its members may have.
var possible = map[string]map[dedup.VerdictKind]bool{
	"alone": {dedup.Unique: true},
	"exact": {dedup.Unique: true, dedup.Exact: true},
	"near":  {dedup.Unique: true, dedup.Near: true},
	"thin":  {dedup.Thin: true, dedup.Exact: true},
}

func (w *webgen) checkCounts(t *testing.T, records []*store.Record) {
	t.Helper()
	var got store.Tally
	for _, r := range records {
		got.Add(r)
	}
	want := store.Tally{
		Unique: w.truth.Unique, Exact: w.truth.Exact, Near: w.truth.Near, Thin: w.truth.Thin,
		Redirects: w.truth.Redirects, Blocked: w.truth.Blocked, Other: w.truth.Other, Errors: w.truth.Gone + w.truth.Broken,
	}
	got.Problems, got.GivenUp, got.Bytes = nil, nil, 0 // checkRecords examines each record
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// checkAsked compares the requests that the server has counted with the expected ones.
func (w *webgen) checkAsked(t *testing.T) {
	t.Helper()
	u, err := url.Parse(w.truth.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://127.0.0.1:" + u.Port() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var asked struct{ Pages, Again, Robots, Wrong int64 }
	if err := json.NewDecoder(resp.Body).Decode(&asked); err != nil {
		t.Fatal(err)
	}
	if asked.Pages != w.truth.Pages || asked.Again != 0 || asked.Wrong != 0 {
		t.Errorf("the server was asked for %+v, want %d pages, none again, nothing wrong", asked, w.truth.Pages)
	}
}

// # Memory of a crawl
//
// Live memory is the memory in use after the last garbage collection. It varies: a compaction of
// the store temporarily needs up to two hundred megabytes. What must not grow is the minimum of
// live memory over a period of the crawl. It consists of bounded caches: 64 MB of leaders'
// shingles, badger's memtables, recent postings, and filters of 10 bits for each key. The cache of
// shingles is not full before the end, because a leader is added only with its first
// near-duplicate. Heap profiles show 12 MB of shingles after 50,000 pages, 25 after 90,000, 42
// after 130,000 and 57 after 186,000. Nothing else grows.
//
// Resident memory does not include mapped files of the store, which the system can free at any
// time.

// These are the bounds of TestSoak. If the server has to wait for a processor, all allowed
// connections are in use.
const (
	inUse, idle   = 1024, 256              // numbers of connections
	maxGoroutines = 3*inUse + 2*idle + 200 // two goroutines for each connection, a third for each connection in use, and 200 for workers and badger
	maxFiles      = inUse + idle + 300     // connections and badger's tables
	maxGrowth     = 1.25                   // bound for the minimum of live memory in the last quarter, relative to the second quarter
	growthFloor   = (64 + 16) << 20        // growth that is ignored: the leaders' shingles, and a compaction that lasts for a whole short period
)

type sample struct {
	at                time.Time
	live, resident    uint64 // memory in bytes
	goroutines, files int
}

type sampler struct {
	done chan struct{}
	all  chan []sample
}

// sampleProcess samples this process ten times a second.
func sampleProcess() *sampler {
	s := &sampler{make(chan struct{}), make(chan []sample)}
	go func() {
		var all []sample
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				all = append(all, takeSample())
			case <-s.done:
				s.all <- all
				return
			}
		}
	}()
	return s
}

func (s *sampler) stop() []sample {
	close(s.done)
	return <-s.all
}

func takeSample() sample {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	s := sample{at: time.Now(), live: live[0].Value.Uint64(), goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil { // other systems have no /proc, and open files are not counted there
		s.files = len(files)
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, rest, _ := strings.Cut(string(status), "RssAnon:")
		fmt.Sscanf(rest, "%d kB", &s.resident)
		s.resident <<= 10
	}
	return s
}

// checkFlat compares the samples with the bounds, and logs them by eighths of the records.
func checkFlat(t *testing.T, records []*store.Record, samples []sample) {
	t.Helper()
	times := make([]time.Time, len(records))
	for i, r := range records {
		times[i] = r.FetchedAt
	}
	slices.SortFunc(times, time.Time.Compare)
	at := func(part float64) time.Time { return times[min(int(part*float64(len(times))), len(times)-1)] }
	between := func(from, to time.Time) (in []sample) {
		for _, s := range samples {
			if !s.at.Before(from) && s.at.Before(to) {
				in = append(in, s)
			}
		}
		return in
	}
	const parts = 8
	for i := range parts {
		from, to := at(float64(i)/parts), at(float64(i+1)/parts)
		in := between(from, to)
		if len(in) == 0 {
			continue
		}
		most := highest(in)
		t.Logf("up to %6d records: %5.0f a second, live memory %3d to %3d MB, at most %3d MB resident, %3d goroutines, %3d files",
			(i+1)*len(times)/parts, float64(len(times))/parts/to.Sub(from).Seconds(), minLive(in)>>20, most.live>>20, most.resident>>20, most.goroutines, most.files)
	}
	most := highest(samples)
	if most.goroutines > maxGoroutines || most.files > maxFiles {
		t.Errorf("%d goroutines and %d files, want no more than %d and %d", most.goroutines, most.files, maxGoroutines, maxFiles)
	}
	warm, end := between(at(0.25), at(0.5)), between(at(0.75), at(1))
	if len(warm) == 0 || len(end) == 0 {
		return // the crawl was too short for a comparison
	}
	if m, n := minLive(warm), minLive(end); float64(n) > maxGrowth*float64(m)+growthFloor {
		t.Errorf("the memory always held grew from %d MB in the second quarter to %d MB in the last", m>>20, n>>20)
	}
}

func highest(samples []sample) (most sample) {
	for _, s := range samples {
		most.live, most.resident = max(most.live, s.live), max(most.resident, s.resident)
		most.goroutines, most.files = max(most.goroutines, s.goroutines), max(most.files, s.files)
	}
	return most
}

func minLive(samples []sample) uint64 {
	return slices.MinFunc(samples, func(a, b sample) int { return cmp.Compare(a.live, b.live) }).live
}

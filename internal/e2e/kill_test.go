package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/report"
)

// TestKilled kills a crawl with SIGKILL at random moments, and resumes it with the same command
// each time. In the end, the result must equal that of an undisturbed crawl: the same pages, none
// lost or judged twice, and the same clusters (report --complete). The leader of every duplicate
// must exist and be similar enough. Only requests that were in flight may be repeated.
//
// SKINK_LONG=short kills the crawl of a small generated site six times, and SKINK_LONG=full that of
// a larger one a hundred times. SKINK_SITES names a folder whose subfolders are crawled instead,
// each as a site of static files.
func TestKilled(t *testing.T) {
	t.Parallel()
	kills, pages := 6, 1500
	if long(t) == full {
		kills, pages = 100, 20_000
	}
	skink := buildSkink(t)
	sites := startSites(t, pages)

	calm := filepath.Join(t.TempDir(), "calm")
	crawlOnce(t, skink, calm, sites, 0)
	want := exported(t, skink, calm)
	sites.forget()

	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	store := filepath.Join(t.TempDir(), "killed")
	killed := 0
	for left := kills; left > 0; left-- {
		// The kills are spread over the whole crawl. Each run is killed after a random part of the
		// remaining responses, on average after its share of them. Responses are counted instead of time,
		// because machines differ in speed.
		share := (len(want) - sites.answered()) / left
		if crawlOnce(t, skink, store, sites, 1+rng.IntN(max(2*share, 1))) {
			killed++
		}
	}
	crawlOnce(t, skink, store, sites, 0)
	got := exported(t, skink, store)

	again, most := sites.fetchedAgain()
	t.Logf("seed %d: %d of %d runs killed; %d pages; %d URLs fetched again, at most %d a kill in flight", seed, killed, kills, len(got), again, parallel)
	if killed < max(kills/2, 1) { // a run that ends before its kill leaves nothing to crawl for the later runs
		t.Errorf("only %d of %d runs were killed before they ended", killed, kills)
	}
	if again > killed*parallel {
		t.Errorf("%d URLs were fetched again by %d kills; at most %d were in flight at each", again, killed, parallel)
	}
	if most > killed+1 {
		t.Errorf("one URL was fetched %d times with %d kills", most, killed)
	}
	samePages(t, got, want)
	sameClusters(t, completeReport(t, skink, store), completeReport(t, skink, calm))
	sound(t, got)
}

const parallel = 16

// buildSkink builds the program once for all tests, and returns its path. The program is built without the race
// detector, so a test that needs it shows no races: it is skipped if the tests run with the race detector.
func buildSkink(t *testing.T) string {
	t.Helper()
	if raced {
		t.Skip("this test runs a program that was built without the race detector")
	}
	bin, err := builtSkink()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

var builtSkink = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skink-built-")
	if err != nil {
		return "", err
	}
	atTheEnd = append(atTheEnd, func() { os.RemoveAll(dir) })
	bin := filepath.Join(dir, "skink")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// crawlOnce runs the crawl. If answers is not 0, it kills the process after that many responses of
// the sites and a short random time. The result killed reports whether the process was killed
// before it ended.
func crawlOnce(t *testing.T, skink, store string, sites *sites, answers int, more ...string) (killed bool) {
	t.Helper()
	cmd := exec.Command(skink, sites.crawl(store, more)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var due <-chan struct{} // nil means that the process is never killed
	if answers > 0 {
		due = sites.after(answers)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-due:
		time.Sleep(rand.N(10 * time.Millisecond))
		_ = cmd.Process.Kill() // ignore an error, because the process may just have ended
		if err = <-ended; err != nil && cmd.ProcessState.ExitCode() == -1 {
			return true
		}
	}
	if err != nil {
		t.Fatalf("crawl: %v\n%s", err, out.String())
	}
	return false
}

// A line contains the fields of a line that skink export --include all writes.
type line struct {
	URL         string            `json:"url"`
	Text        string            `json:"text"`
	Hash        dedup.Hash        `json:"hash"`
	Words       int               `json:"words"`
	Verdict     dedup.VerdictKind `json:"verdict"`
	DuplicateOf string            `json:"duplicate_of"`
	Resemblance float64           `json:"resemblance"`
}

func exported(t *testing.T, skink, store string) []line {
	t.Helper()
	cmd := exec.Command(skink, "export", "--store", store, "--include", "all")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	var lines []line
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// completeReport returns the report --complete of a store, which does not depend on the order of
// the crawl.
func completeReport(t *testing.T, skink, store string) string {
	t.Helper()
	cmd := exec.Command(skink, "report", "--store", store, "--complete", "--format", "json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("report: %v", err)
	}
	return string(out)
}

// sameClusters checks that two complete reports have the same pages in the same clusters, with the
// same leaders.
func sameClusters(t *testing.T, got, want string) {
	t.Helper()
	gotSets, wantSets := clusterSets(t, got), clusterSets(t, want)
	if len(wantSets) == 0 {
		t.Fatal("the undisturbed crawl has no clusters")
	}
	if !slices.Equal(gotSets, wantSets) {
		t.Fatalf("clusters of the complete report:\n got %s\nwant %s", strings.Join(gotSets, "\n"), strings.Join(wantSets, "\n"))
	}
}

// clusterSets returns the URLs of the pages in each cluster of a report: the leader, and then the
// sorted members.
func clusterSets(t *testing.T, text string) (sets []string) {
	t.Helper()
	var r report.Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Clusters {
		urls := []string{c.Leader.URL}
		for _, m := range c.Members {
			urls = append(urls, m.URL)
		}
		slices.Sort(urls[1:])
		sets = append(sets, strings.Join(urls, " "))
	}
	slices.Sort(sets)
	return sets
}

// samePages checks that two crawls have the same pages with the same texts, each page once.
func samePages(t *testing.T, got, want []line) {
	t.Helper()
	texts := map[string]dedup.Hash{}
	for _, l := range want {
		texts[l.URL] = l.Hash
	}
	seen := map[string]bool{}
	for _, l := range got {
		h, ok := texts[l.URL]
		switch {
		case seen[l.URL]:
			t.Errorf("%s was judged twice", l.URL)
		case !ok:
			t.Errorf("%s is only in the killed crawl", l.URL)
		case h != l.Hash:
			t.Errorf("%s has another text", l.URL)
		}
		seen[l.URL] = true
	}
	for url := range texts {
		if !seen[url] {
			t.Errorf("%s was lost", url)
		}
	}
}

// sound checks every verdict against the texts.
func sound(t *testing.T, pages []line) {
	t.Helper()
	byURL := map[string]*line{}
	for i := range pages {
		byURL[pages[i].URL] = &pages[i]
	}
	for _, p := range pages {
		if p.Verdict != dedup.Exact && p.Verdict != dedup.Near {
			continue
		}
		leader := byURL[p.DuplicateOf]
		if leader == nil {
			t.Errorf("%s: its leader %s is not there", p.URL, p.DuplicateOf)
			continue
		}
		if leader.DuplicateOf != "" {
			t.Errorf("%s: its leader %s is a duplicate itself", p.URL, leader.URL)
		}
		truth := dedup.Resemblance(shingles(p.Text), shingles(leader.Text))
		if truth < dedup.DefaultSimilarity || truth != p.Resemblance {
			t.Errorf("%s: resembles its leader by %v, and the verdict says %v", p.URL, truth, p.Resemblance)
		}
	}
}

func shingles(text string) dedup.Set {
	var canon dedup.Text
	canon.Read([]byte(text))
	return canon.Set(dedup.DefaultShingle)
}

// sites are web servers on loopback that count their requests.
type sites struct {
	seeds []string

	mu     sync.Mutex
	counts map[string]int // guarded by mu: number of responses by host and URL
	left   int            // guarded by mu: number of responses before due is closed
	due    chan struct{}  // guarded by mu: closed when left reaches 0
	pace   time.Duration  // guarded by mu: least time from one response to the next
	next   time.Time      // guarded by mu: time of the next response
}

// startSites serves the folders in SKINK_SITES, or two generated sites with the given number of
// pages in total.
func startSites(t testing.TB, pages int) *sites {
	s := &sites{counts: map[string]int{}}
	serve := func(h http.Handler) {
		server := httptest.NewServer(s.counting(h))
		t.Cleanup(server.Close)
		s.seeds = append(s.seeds, server.URL+"/")
	}
	dir := os.Getenv("SKINK_SITES")
	if dir == "" {
		serve(generated{pages: pages / 2, number: 1})
		serve(generated{pages: pages / 2, number: 2})
		return s
	}
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		serve(http.FileServer(http.Dir(filepath.Join(dir, f.Name()))))
	}
	return s
}

// crawl returns the arguments of a crawl of the sites into a store.
func (s *sites) crawl(store string, more []string) []string {
	n := fmt.Sprint(parallel)
	// A budget would postpone URLs depending on the order of the responses, which differs between
	// crawls.
	args := []string{"crawl", "--store", store, "--budget", "off", "--delay", "0", "--per-host", n, "--parallel", n, "--connections", n, "--quiet"}
	return slices.Concat(args, more, s.seeds)
}

func (s *sites) counting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counts[r.Host+r.URL.RequestURI()]++
		if s.left--; s.left == 0 {
			close(s.due)
		}
		if now := time.Now(); s.next.Before(now) {
			s.next = now
		}
		s.next = s.next.Add(s.pace)
		wait := time.After(time.Until(s.next))
		s.mu.Unlock()
		select {
		case <-wait:
		case <-r.Context().Done():
		}
		h.ServeHTTP(w, r)
	})
}

// after returns a channel that is closed after the given number of further responses.
func (s *sites) after(answers int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.due = answers, make(chan struct{})
	return s.due
}

// slow makes all sites together answer only once in pace, so that a crawl lasts.
func (s *sites) slow(pace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace = pace
}

// answered returns the number of different URLs that were requested since the last call of forget.
func (s *sites) answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.counts)
}

func (s *sites) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.counts)
}

// fetchedAgain returns the total number of repeated requests, and the largest number of requests
// for one URL. It ignores robots.txt, which each process requests again.
func (s *sites) fetchedAgain() (again, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for url, n := range s.counts {
		if !strings.HasSuffix(url, "/robots.txt") {
			again += n - 1
			most = max(most, n)
		}
	}
	return again, most
}

// generated is a site of the given number of pages, each with links to a few others. A third of the
// pages are copies of another page, or differ from it in one sentence. If own is false, the two
// sites share half of their articles.
type generated struct {
	pages, number int
	own           bool
}

func (g generated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &n); r.URL.Path != "/" && (err != nil || n >= g.pages) {
		http.NotFound(w, r)
		return
	}
	time.Sleep(time.Millisecond) // makes a crawl last long enough to be killed
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><html lang=en><title>Page %d</title><article>%s</article><nav>", n, g.article(n))
	for _, to := range []int{2*n + 1, 2*n + 2, n + 1, (n * 7) % g.pages} {
		if to < g.pages {
			fmt.Fprintf(w, "<a href=\"/%d.html\">%d</a> ", to, to)
		}
	}
	fmt.Fprint(w, "</nav></html>")
}

// article returns the text of page n. For a third of the pages it is the text of page n-1, or
// nearly the same.
func (g generated) article(n int) string {
	story, changed := n, ""
	switch n % 6 {
	case 2:
		story = n - 1
	case 4:
		story, changed = n-1, fmt.Sprintf("<p>Changed on day %d of the year by hand.", n)
	}
	site := g.number
	if story%2 == 0 && !g.own {
		site = 0 // both sites have this article
	}
	rng := rand.New(rand.NewPCG(uint64(site), uint64(story)))
	var b strings.Builder
	for range 12 {
		b.WriteString("<p>")
		for range 25 {
			fmt.Fprintf(&b, "%s ", words[rng.IntN(len(words))])
		}
	}
	return b.String() + changed
}

var words = strings.Fields(`harbour lamp winter keeper stone letter boat window river ladder garden copper
	evening island paper bridge salt candle forest thread market signal barrel orchard tower willow engine
	blanket compass meadow lantern anchor kettle saddle marble feather cellar pepper violin hammer carpet
	button ribbon needle basket mirror pencil curtain shutter gravel timber velvet walnut ginger saffron`)

//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// A calendar is a site that changes from day to day. The page /daily/N has a new text every N days. The page
// /new exists from day 6 on, and the page /old until day 10. The calendar records all visits.
type calendar struct {
	*httptest.Server
	name   string // its texts depend on the length of its name
	mu     sync.Mutex
	day    int           // guarded by mu
	visits []dayVisit    // guarded by mu
	held   chan struct{} // guarded by mu: if not nil, requests wait until it is closed
	down   bool          // guarded by mu: connections are closed without a response
}

type dayVisit struct {
	path         string
	day, version int // a version of -1 means that there was no page
	at           time.Time
}

func startCalendar(t *testing.T, name string) *calendar {
	c := &calendar{name: name}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *calendar) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	day, held, down, every := c.day, c.held, c.down, 0
	version, robots := 0, r.URL.Path == "/robots.txt"
	switch fmt.Sscanf(r.URL.Path, "/daily/%d", &every); {
	case every > 0:
		version = day / every
	case r.URL.Path == "/new" && day < 6, r.URL.Path == "/old" && day >= 10, r.URL.Path != "/" && r.URL.Path != "/new" && r.URL.Path != "/old":
		version = -1
	}
	if !robots {
		c.visits = append(c.visits, dayVisit{r.URL.Path, day, version, time.Now()})
	}
	c.mu.Unlock()
	if down {
		panic(http.ErrAbortHandler)
	}
	if held != nil && !robots {
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}
	if version < 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title><main><p>", r.URL.Path)
	for i, part := range []int{0, 100 * version} { // a page whose whole text has changed would be fetched twice
		random := rand.New(rand.NewPCG(uint64(every), uint64(part+len(r.URL.Path)+1000*len(c.name))))
		for range []int{400, 30}[i] {
			fmt.Fprintf(w, "%x ", random.Uint32())
		}
	}
	fmt.Fprint(w, "</main>")
	if r.URL.Path == "/" {
		for _, to := range []string{"daily/1", "daily/2", "daily/3", "daily/4", "daily/5", "daily/99", "old", "new"}[:7+min(day/6, 1)] {
			fmt.Fprintf(w, ` <a href="/%s">%s</a>`, to, to)
		}
	}
}

func (c *calendar) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// seen returns the visits from the given number on.
func (c *calendar) seen(from int) []dayVisit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.visits[from:len(c.visits):len(c.visits)]
}

const (
	aDay      = 1100 * time.Millisecond // at least; a day ends when each worker has also begun and ended a round in it
	leastDays = time.Second             // --recrawl-min
	mostDays  = 2 * time.Second         // --recrawl-max
)

// pass lets a day pass for workers that crawl.
func (c *calendar) pass(t *testing.T, workers ...*worker) {
	t.Helper()
	c.change(func() { c.day++ })
	began := time.Now()
	for _, w := range workers {
		sleeps := strings.Count(w.said.String(), "Sleeping until")
		eventually(t, "each worker begins and ends a round on each day", func() bool {
			if !w.runs() {
				t.Fatalf("a worker has ended: %v\n%s", w.err, w.said.String())
			}
			return strings.Count(w.said.String(), "Sleeping until") > sleeps+1
		})
	}
	time.Sleep(time.Until(began.Add(aDay)))
}

// check checks that each change was found when the page was due, which is at most two days after the last visit. A
// round that begins on the third day visits it. Two visits to a page must be at least --recrawl-min apart, unless
// a worker was killed in between. Half of it is enough here, because a request may be late on a busy machine.
func (c *calendar) check(t *testing.T, kills []time.Time) {
	t.Helper()
	visits, last := c.seen(0), map[string]time.Time{}
	found := func(path string, version, since, within int) {
		if since+within > c.day {
			return
		}
		for _, v := range visits {
			if v.path == path && v.version == version && v.day >= since && v.day < since+within {
				return
			}
		}
		t.Errorf("version %d of %s, which is there from day %d on, was not found within %d days", version, path, since, within)
	}
	for every := 1; every <= 5; every++ {
		for version := range c.day/every + 1 {
			if every >= 3 { // others may have changed again
				found(fmt.Sprintf("/daily/%d", every), version, every*version, 3)
			}
		}
	}
	found("/new", 0, 6, 4)
	found("/old", -1, 10, 3)
	for _, v := range visits {
		before, again := last[v.path]
		last[v.path] = v.at
		for _, k := range kills {
			again = again && !(k.After(before) && k.Before(v.at))
		}
		if again && v.at.Sub(before) < leastDays/2 {
			t.Errorf("%s was visited again after %v, on day %d", v.path, v.at.Sub(before), v.day)
		}
	}
}

func (c *calendar) days(paths ...string) (n int) {
	for _, v := range c.seen(0) {
		for _, p := range paths {
			if v.path == p {
				n++
			}
		}
	}
	return n
}

// TestForever crawls two sites for 24 days, each of which is a second or longer. Every change must be found when
// the page is due, also while the other site does not respond. The crawl is killed twice, and continued with the same
// command. Its feed must equal an export in the end, and its memory must not grow.
func TestForever(t *testing.T) {
	long(t)
	t.Parallel()
	site, other, skink, dir := startCalendar(t, "site"), startCalendar(t, "other"), buildSkink(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	begin := func() *worker {
		w := startWorker(t, skink, "crawl", "--store", at("store"), "--delay", "0", "--retries", "0", "--timeout", "2m", "--sitemaps", "off", "--recrawl", "due", "--recrawl-min", leastDays.String(), "--recrawl-max", mostDays.String(),
			"--forever", "--feed", at("feed.jsonl"), "--warc", at("archive"), "--metrics", "0", site.URL+"/", other.URL+"/")
		eventually(t, "the crawl sleeps", func() bool { return strings.Contains(w.said.String(), "Sleeping until") })
		return w
	}
	w := begin()
	var kills []time.Time
	heap := map[int]float64{}
	for day := 1; day <= 24; day++ {
		switch day {
		case 8, 16:
			n := len(site.seen(0))
			eventually(t, "there is a visit", func() bool { return len(site.seen(n)) > 0 })
			_ = w.Process.Kill()
			<-w.ended
			kills = append(kills, time.Now())
			w = begin()
		case 12: // the other site keeps the round open
			held := make(chan struct{})
			n := len(other.seen(0))
			other.change(func() { other.held = held })
			eventually(t, "the other site is visited", func() bool { return len(other.seen(n)) > 0 })
			n = site.days("/daily/1")
			eventually(t, "pages are visited although a host is slow", func() bool { return site.days("/daily/1") > n+1 })
			other.change(func() { other.held = nil })
			close(held)
		case 14, 15:
			other.change(func() { other.down = day == 14 })
		case 18, 24:
			heap[day] = heapOf(t, w)
		}
		site.pass(t, w)
	}
	if out, err := exec.Command(skink, "control", "--store", at("store"), "stop").CombinedOutput(); err != nil {
		t.Fatalf("control stop: %v\n%s", err, out)
	}
	if <-w.ended; w.err != nil {
		t.Errorf("the crawl ended with %v\n%s", w.err, w.said.String())
	}
	site.check(t, kills)
	if often, seldom := site.days("/daily/1", "/daily/2"), site.days("/daily/99", "/"); often < seldom {
		t.Errorf("two pages that change often were visited %d times, and two that never change %d times", often, seldom)
	}
	t.Logf("%d visits, heap of %.1f MB on day 18 and %.1f MB on day 24", len(site.seen(0)), heap[18]/1e6, heap[24]/1e6)
	if heap[24] > 1.2*heap[18]+2e6 {
		t.Errorf("the heap has grown from %.0f to %.0f bytes", heap[18], heap[24])
	}
	feed, err := os.ReadFile(at("feed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := exec.Command(skink, "export", "--store", at("store")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, want := appliedFeed(t, string(feed)), appliedFeed(t, string(whole))
	for id, line := range want {
		if got[id] != line {
			t.Errorf("the feed has\n%s\nfor a page that the export has as\n%s", got[id], line)
		}
		delete(got, id)
	}
	for _, line := range got {
		t.Errorf("the export lacks %s", line)
	}
}

// appliedFeed returns the last line of each page in a feed.
func appliedFeed(t *testing.T, feed string) map[string]string {
	pages := map[string]string{}
	for line := range strings.Lines(feed) {
		var l struct{ ID, Change string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if pages[l.ID] = plainLine(t, line); l.Change == "gone" {
			delete(pages, l.ID)
		}
	}
	return pages
}

// heapOf returns the size of the live objects of a crawl, the least of five.
func heapOf(t *testing.T, w *worker) float64 {
	t.Helper()
	least := math.Inf(1)
	for range 5 { // a round in progress has a heap of its own
		least = min(least, heapNow(t, w))
		time.Sleep(aDay / 4)
	}
	return least
}

func heapNow(t *testing.T, w *worker) float64 {
	t.Helper()
	url := regexp.MustCompile(`served at (http\S+)/metrics`).FindStringSubmatch(w.said.String())[1]
	var text []byte
	for _, path := range []string{"/debug/pprof/heap?gc=1", "/metrics"} {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	heap, err := strconv.ParseFloat(string(regexp.MustCompile(`(?m)^go_memstats_heap_alloc_bytes (\S+)$`).FindSubmatch(text)[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return heap
}

// TestForeverTogether crawls two sites with two workers for three days, with SKINK_LONG=full for six. They sleep and wake together. No page may be
// visited twice for the same due time. In the end, the index to which one of them sends its feed must equal an export.
func TestForeverTogether(t *testing.T) {
	days := map[form]int{short: 3, full: 6}[long(t)]
	t.Parallel()
	site, other, skink, store := startCalendar(t, "site"), startCalendar(t, "other"), buildSkink(t), postgrestest.Start(t).URL("web")
	x := &index{docs: map[string]map[string]any{}}
	fed := httptest.NewServer(x)
	defer fed.Close()
	begin := func(name string, more ...string) *worker {
		args := []string{"crawl", "--store", store, "--worker", name, "--delay", "0", "--sitemaps", "off", "--recrawl", "due", "--recrawl-min", leastDays.String(), "--recrawl-max", mostDays.String(),
			"--forever", site.URL + "/", other.URL + "/"}
		w := startWorker(t, skink, append(args, more...)...)
		eventually(t, "the crawl sleeps", func() bool { return strings.Contains(w.said.String(), "Sleeping until") })
		return w
	}
	workers := []*worker{begin("a", "--feed", fed.URL+"/pages"), begin("b")}
	for range days {
		other.change(func() { other.day++ })
		site.pass(t, workers...)
	}
	stop := func(workers ...*worker) {
		if out, err := exec.Command(skink, "control", "--store", store, "stop").CombinedOutput(); err != nil {
			t.Fatalf("control stop: %v\n%s", err, out)
		}
		awaitEnds(t, workers...)
	}
	stop(workers...)
	stop(begin("a", "--feed", fed.URL+"/pages")) // the other worker may have ended last: its last pages are fed now
	for _, w := range workers {
		if w.err != nil || !strings.Contains(w.said.String(), "Revisiting") {
			t.Errorf("a worker ended with %v\n%s", w.err, w.said.String())
		}
	}
	site.check(t, nil)
	other.check(t, nil)
	whole, err := exec.Command(skink, "export", "--store", store).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := appliedFeed(t, string(whole))
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, line := range want {
		var page map[string]any
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			t.Fatal(err)
		}
		if doc := x.docs[id]; doc == nil || doc["url"] != page["url"] || doc["text"] != page["text"] {
			t.Errorf("the index has %v\nwant %s", doc, line)
		}
	}
	if len(x.docs) != len(want) || len(want) < 12 {
		t.Errorf("the index has %d documents, the export %d", len(x.docs), len(want))
	}
	t.Logf("%d and %d visits, %d pages in the index", len(site.seen(0)), len(other.seen(0)), len(want))
}

// TestSelectorDies kills the worker that selects the URLs of a round while a lock of the database holds it up. The
// other worker must go on when it counts the first as dead, and visit all pages.
func TestSelectorDies(t *testing.T) {
	long(t)
	t.Parallel()
	site, skink, server := startCalendar(t, "site"), buildSkink(t), postgrestest.Start(t)
	workers := map[string]*worker{}
	for _, name := range []string{"a", "b"} {
		workers[name] = startWorker(t, skink, "crawl", "--store", server.URL("web"), "--worker", name, "--delay", "0", "--sitemaps", "off",
			"--recrawl", "due", "--recrawl-min", leastDays.String(), "--recrawl-max", mostDays.String(), "--forever", site.URL+"/")
		eventually(t, "the crawl sleeps", func() bool { return strings.Contains(workers[name].said.String(), "Sleeping until") })
	}
	conn, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE web.queue, web.run, web.known IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	var selector string
	eventually(t, "a worker selects URLs", func() bool {
		selector, err = server.Text(t.Context(), "SELECT coalesce(convert_from(value, 'UTF8')::json->>'selector', '') FROM web.meta WHERE kind = 0 AND name = 'round'")
		return err == nil && selector != ""
	})
	_ = workers[selector].Process.Kill()
	<-workers[selector].ended
	n := len(site.seen(0))
	if _, err := conn.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/daily/1", "/daily/2", "/daily/3", "/daily/4", "/daily/5", "/daily/99", "/old"} {
		eventually(t, "the other worker visits "+path, func() bool {
			return slices.ContainsFunc(site.seen(n), func(v dayVisit) bool { return v.path == path })
		})
	}
}

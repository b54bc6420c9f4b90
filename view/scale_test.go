package view

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/complete"
	"skink/store"
	"skink/store/badger"
)

// TestScale opens every page of the view of a large store, and logs the slowest answer and the
// memory that the rows take. Then it opens all pages again and again while the pages of the store
// are compared with each other. No answer may be larger than a megabyte. With SKINK_LONG=full, on a
// machine that runs nothing else, no answer may take longer than 200 ms once the store has been
// read.
//
// SKINK_LONG sets the size of the store: short means 20,000 pages, middle 100,000, and full
// 1,000,000. The full test takes half an hour and 2 GB of disk.
func TestScale(t *testing.T) {
	pages := map[string]int{"short": 20_000, "middle": 100_000, "full": 1_000_000}[os.Getenv("SKINK_LONG")]
	if pages == 0 {
		t.Skip("set SKINK_LONG to short, middle or full")
	}
	dir := t.TempDir()
	began := time.Now()
	generate(t, dir, pages)
	t.Logf("%d pages were made in %v", pages, time.Since(began).Round(time.Second))

	s, err := badger.Open(dir, badger.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := heap()
	began = time.Now()
	v, server := newView(t, s, func(o *Options) { o.Moment, o.Alike = momentOfTally, compareAll })
	for fetch(t, server, "/pages"); v.index.progress().Reading; time.Sleep(10 * time.Millisecond) {
	}
	t.Logf("read in %v; %d bytes a page", time.Since(began).Round(10*time.Millisecond), (heap()-before)/pages)
	for _, c := range columns { // each order is made in the background when it is first asked for
		for path := "/pages?sort=" + c.name; v.unsorted(path); time.Sleep(10 * time.Millisecond) {
			fetch(t, server, path)
		}
	}
	id, menu := idOf(scaleURL(pages/2)).String(), idOf(scaleURL(4)).String() // the pages id and menu; all pages link to the latter
	before, began = heap(), time.Now()
	for fetch(t, server, "/page/"+id); v.incoming.now().Making; time.Sleep(10 * time.Millisecond) {
	}
	t.Logf("links read in %v; %d bytes more a page", time.Since(began).Round(10*time.Millisecond), (heap()-before)/pages)
	paths := []string{
		"/overview", "/now", "/pages", "/pages?sort=url&down=1", "/pages?sort=size&from=777", "/pages?sort=words&from=" + fmt.Sprint(pages/3), "/pages?q=number+77", "/pages?q=e", "/pages?q=nothing-like-it",
		"/pages?q=word&in=text", "/pages?host=h7.example&sort=size", "/pages?verdict=near&sort=resemblance", "/page/" + id, "/page/" + menu, "/clusters", "/clusters?host=h7.example", "/clusters?from=5000",
		"/cluster/" + idOf(scaleURL(0)).String(), "/compare?a=" + id + "&b=" + idOf(scaleURL(1)).String(), "/map", "/map?from=500",
	}
	slowest, which := time.Duration(0), ""
	for _, path := range paths {
		fetch(t, server, path) // the first request fills the caches
		took, size := fetch(t, server, path)
		t.Logf("%8v %7d bytes  %s", took.Round(100*time.Microsecond), size, path)
		if took > slowest {
			slowest, which = took, path
		}
		if size > 1<<20 {
			t.Errorf("%s: %d bytes", path, size)
		}
	}
	if full := os.Getenv("SKINK_LONG") == "full"; full && slowest > 200*time.Millisecond {
		t.Errorf("%s took %v", which, slowest)
	}

	began = time.Now()
	for v.beside.Go(v.compareAll); !v.comparison.now().Making; time.Sleep(time.Millisecond) {
	}
	var took []time.Duration
	for comparing := true; comparing; {
		for _, path := range append(paths, "/similarity") {
			one, _ := fetch(t, server, path)
			if comparing = v.comparison.now().Making; !comparing {
				break
			}
			if took = append(took, one); one == slices.Max(took) {
				which = path
			}
		}
	}
	if failed := v.comparison.now().Failed; failed != nil {
		t.Fatal(failed)
	}
	slices.Sort(took)
	t.Logf("all pages were compared in %v: of %d answers meanwhile, half took up to %v, 99 of 100 up to %v, and %s %v; the process has %d MB of the system",
		time.Since(began).Round(time.Second), len(took), took[len(took)/2], took[len(took)*99/100], which, took[len(took)-1], ofSystem()>>20)
}

// compareAll compares all pages of a store, as skink view does.
func compareAll(ctx context.Context, s store.Reader, tell func(float64)) (*Alike, error) {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err == nil {
		_, err = complete.FindAlike(ctx, s, complete.Options{Rule: rule, Sparing: true, Progress: tell}, complete.EachTwentieth(rule.Similarity)...)
	}
	return &Alike{}, err
}

// ofSystem returns the number of bytes of memory that the process has from the operating system.
func ofSystem() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// unsorted reports whether the order of the column in the address path has not been made yet.
func (v *View) unsorted(path string) bool {
	col := columnNamed(path[len("/pages?sort="):])
	v.index.orders.mu.Lock()
	defer v.index.orders.mu.Unlock()
	return col > 0 && len(v.index.orders.sorted[col]) < v.index.rows.n
}

func fetch(t *testing.T, server *httptest.Server, path string) (took time.Duration, size int) {
	t.Helper()
	began := time.Now()
	resp, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
	return time.Since(began), len(b)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func scaleURL(i int) string {
	return fmt.Sprintf("https://h%d.example/section-%d/article-%d.html", i%2000, i%97, i)
}

// scaleLinks returns thirty links of a page. Ten lead to the first ten pages, as a menu does, and
// the others lead to pages after the linking page.
func scaleLinks(from string, i, pages int) []byte {
	var links []store.Link
	for k := range 30 {
		to := k
		if k >= 10 {
			to = (i + k*k) % pages
		}
		links = append(links, store.Link{URL: scaleURL(to), Text: fmt.Sprintf("The article number %d", to), Kind: store.LinkAnchor})
	}
	return store.PackLinks(from, links)
}

// generate writes a store with the given number of pages on 2,000 hosts. A quarter of the pages are
// near-duplicates, a tenth of these in one large cluster.
func generate(t *testing.T, dir string, pages int) {
	t.Helper()
	s, err := badger.Open(dir, badger.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(84, 10))
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var entries []*store.Entry
	for i := range pages {
		text := fmt.Sprintf("This is the article numbered %d. %s", i, words(i%500, i%500+60+i%200))
		u := scaleURL(i)
		r := store.Record{
			ID: idOf(u), URL: u, Title: fmt.Sprintf("The article number %d about things of kind %d", i, i%1000), Kind: store.Page, Judged: store.Judged{Verdict: dedup.Unique}, Status: 200,
			Fetch: store.Fetch{Words: 66 + i%200, Size: int64(2000 + random.IntN(40000)), Depth: i % 9, Hash: dedup.HashOf([]byte(text)), FetchedAt: at.Add(time.Duration(i) * time.Second)}, Lang: "en",
		}
		if i%4 == 3 {
			leader := scaleURL(i - 3)
			if i%40 == 3 {
				leader = scaleURL(0)
			}
			r.Verdict, r.Leader, r.DuplicateOf, r.Resemblance = dedup.Near, idOf(leader), leader, 0.8+0.2*random.Float64()
		}
		sketch := new(dedup.Sketch)
		for k := range sketch {
			sketch[k] = random.Uint32()
		}
		entries = append(entries, &store.Entry{Record: r, State: frontier.Fetched, Text: store.Pack([]byte(text)), Sketch: sketch, Out: scaleLinks(u, i, pages)})
		if len(entries) == 500 || i == pages-1 {
			commit(t, s, entries...)
			entries = entries[:0]
		}
	}
}

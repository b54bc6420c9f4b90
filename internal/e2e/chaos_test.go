package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/internal/cli"
)

// # A site that breaks and heals
//
// A site of 40 pages is visited again and again. Between the visits, pages change, disappear,
// return, move and become copies of each other. During some visits, all URLs of the site fail in
// one of many ways. Then the site stays unchanged for a few visits. In the end the store must have
// the same pages and texts as a first crawl of the site.

// The crawls ignore robots.txt, because a crawl would wait for a host that serves its robots.txt
// but no pages.
const chaosPages = 40

// A breaking is a site that changes. An element of words is the number of a page's text, or 0 if
// the page does not exist. Pages with the same number are copies.
type breaking struct {
	mu     sync.Mutex
	words  [chaosPages]int // guarded by mu: number of the text of each page; 0 if the page does not exist
	moved  [chaosPages]int // guarded by mu: index of the page to which each page redirects; -1 if none
	outage string          // guarded by mu: the current element of outages; "" if the site works
	day    int             // guarded by mu: number of calls of change
}

// outages lists the ways in which the whole site can fail.
var outages = []string{"404", "503", "maintenance", "maintenance that names the page", "empty", "login", "reset", "home page for all"}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	n, known := -1, r.URL.Path == "/"
	if _, err := fmt.Sscanf(r.URL.Path, "/page/%d", &n); err == nil && 0 <= n && n < chaosPages {
		known = b.words[n] > 0 || b.moved[n] >= 0
	}
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(w, r)
	case b.outage == "404":
		http.NotFound(w, r)
	case b.outage == "503":
		http.Error(w, "come back later", http.StatusServiceUnavailable)
	case b.outage == "maintenance":
		fmt.Fprintf(w, "<title>Maintenance</title><h1>Maintenance</h1><p>%s", strings.Repeat("We are working on the site and will be back soon. ", 8))
	case b.outage == "maintenance that names the page":
		fmt.Fprintf(w, "<title>Maintenance</title><h1>Maintenance</h1><p>The page %s cannot be shown on day %d. %s", r.URL.Path, b.day, strings.Repeat("We are working on the site and will be back soon. ", 8))
	case b.outage == "empty":
	case b.outage == "login" && r.URL.Path != "/login":
		http.Redirect(w, r, "/login", http.StatusFound)
	case b.outage == "login":
		fmt.Fprintf(w, "<title>Login</title><h1>Login</h1><p>%s", strings.Repeat("Name and password please, as only members may read this. ", 8))
	case b.outage == "reset":
		panic(http.ErrAbortHandler)
	case !known:
		http.NotFound(w, r)
	case n < 0 || b.outage == "home page for all":
		fmt.Fprint(w, essay("home", "", ""))
		for n := range chaosPages {
			fmt.Fprintf(w, "<a href=/page/%d>%d</a> ", n, n)
		}
	case b.moved[n] >= 0:
		http.Redirect(w, r, fmt.Sprintf("/page/%d", b.moved[n]), http.StatusMovedPermanently)
	default:
		fmt.Fprint(w, chaosText(b.words[n], b.day))
	}
}

// chaosText returns a page with the text of the given number. Every fifth text is a table whose
// figures change every day.
func chaosText(number, day int) string {
	random := rand.New(rand.NewPCG(uint64(number), 1))
	var text strings.Builder
	for range 80 {
		if number%5 == 0 {
			fmt.Fprintf(&text, "pressure %d temperature %d ", 1+random.IntN(1000)*day, 1+random.IntN(1000)*day)
			continue
		}
		for range 3 + random.IntN(6) {
			text.WriteByte(byte('a' + random.IntN(26)))
		}
		text.WriteByte(' ')
	}
	return fmt.Sprintf("<!DOCTYPE html><html lang=en><title>Text %d</title><article><h1>Text %d</h1><p>%s</p></article>", number, number, text.String())
}

// change changes some pages at random, and sets the outage of the next day.
func (b *breaking) change(random *rand.Rand, outage string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.day++
	b.outage = outage
	for range random.IntN(12) {
		n := random.IntN(chaosPages)
		switch b.moved[n] = -1; random.IntN(6) {
		case 0:
			b.words[n] = 0
		case 1:
			b.words[n] = b.words[random.IntN(chaosPages)] // the page becomes a copy of another page
		case 2:
			if to := random.IntN(chaosPages); to != n && b.moved[to] < 0 {
				b.words[n], b.moved[n] = 0, to
			}
		default:
			b.words[n] = 1 + random.IntN(10_000)
		}
	}
}

// TestChaos checks that the store of a site that has failed in many ways equals that of a new
// crawl. Each seed stands for eight visits with changes and three without.
func TestChaos(t *testing.T) {
	t.Parallel()
	histories := 4
	if long(t) == full {
		histories = 200
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 7))
			b := &breaking{day: 1}
			for n := range chaosPages {
				b.words[n], b.moved[n] = 1+random.IntN(10_000), -1
			}
			server := httptest.NewServer(b)
			defer server.Close()
			kept, fresh := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "fresh")
			goneAfter := fmt.Sprint(1 + random.IntN(3))
			crawl := func(dir string, args ...string) {
				args = append([]string{"crawl", "--store", dir, "--quiet", "--delay", "0", "--per-host", "1", "--allow-private", "127.0.0.0/8", "--sitemaps", "off",
					"--learn", "off", "--ignore-robots", "--budget", "off", "--retries", "0", "--gone-after", goneAfter}, args...)
				var said bytes.Buffer
				code := cli.Run(t.Context(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &said})
				if code != 0 && !strings.Contains(said.String(), "no page was fetched") {
					t.Errorf("%q: exit code %d\n%s", args, code, &said)
				}
			}
			crawl(kept, server.URL+"/")
			var history []string
			for range 8 {
				outage := ""
				if random.IntN(2) == 0 {
					outage = outages[random.IntN(len(outages))]
				}
				history = append(history, outage)
				b.change(random, outage)
				crawl(kept, "--recrawl", "0s")
			}
			b.change(random, "")
			for range 4 {
				crawl(kept, "--recrawl", "0s")
			}
			crawl(fresh, server.URL+"/")
			got, want := textsOf(t, kept), textsOf(t, fresh)
			for _, url := range slices.Sorted(maps.Keys(want)) {
				if got[url] != want[url] {
					t.Errorf("%s has the text %.40q, want %.40q", url, got[url], want[url])
				}
			}
			for url := range got {
				if want[url] == "" {
					t.Errorf("%s is stored with the text %.40q, and is no page", url, got[url])
				}
			}
			if t.Failed() {
				t.Logf("gone after %s, outages %q", goneAfter, history)
			}
		})
	}
}

// textsOf returns the texts of all pages in a store, by URL.
func textsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	export, _ := run(t, "export", "--include", "all", "--store", dir)
	for line := range strings.Lines(export) {
		var page struct{ URL, Text string }
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			t.Fatal(err)
		}
		all[page.URL] = page.Text
	}
	return all
}

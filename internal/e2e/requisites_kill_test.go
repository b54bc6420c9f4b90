package e2e

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/internal/corpus"
	"skink/store"
	"skink/store/badger"
	"skink/warc"
)

// TestKilledRequisites kills a crawl with --warc and --requisites several times at random moments,
// and continues it each time. In the end, each requisite must be a record of the store, must be in
// the archive exactly once, and must have been requested. Only requests that were in flight may be
// repeated. Store and archive must agree about all pages and requisites.
//
// SKINK_LONG=short kills the crawl of a small site four times, SKINK_LONG=full that of a larger one
// twenty-five times.
func TestKilledRequisites(t *testing.T) {
	t.Parallel()
	kills, pages := 4, 100
	if long(t) == full {
		kills, pages = 25, 1500
	}
	skink := buildSkink(t)
	sites, requisites := startFurnished(t, pages)
	dir := t.TempDir()
	name, archive := filepath.Join(dir, "store"), filepath.Join(dir, "archive")
	crawl := func(answers int) bool {
		return crawlOnce(t, skink, name, sites, answers, "--warc", archive, "--warc-size", "100KB", "--requisites", "--sitemaps", "off", "--allow-private", "127.0.0.1")
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	all := pages + len(requisites)
	killed := 0
	for left := kills; left > 0; left-- {
		share := (all - sites.answered()) / left
		if crawl(1 + rng.IntN(max(2*share, 1))) {
			killed++
		}
	}
	crawl(0)
	again, most := sites.fetchedAgain()
	t.Logf("seed %d: %d of %d runs killed; %d pages and %d requisites; %d URLs fetched again", seed, killed, kills, pages, len(requisites), again)
	if killed < max(kills/2, 1) {
		t.Errorf("only %d of %d runs were killed before they ended", killed, kills)
	}
	shared := 0 // files that a later page needs, so that the crawl requests them once more
	for url := range requisites {
		if strings.Contains(url, "/shared/") {
			shared++
		}
	}
	if again > killed*parallel+shared || most > killed+2 {
		t.Errorf("%d requests were repeated after %d kills, one of them %d times; at most %d were in flight at each kill", again, killed, most-1, parallel)
	}

	s, err := badger.Open(name, badger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		switch status, ok := requisites[c.Record.URL]; {
		case ok != c.Record.Requisite:
			t.Errorf("%s: requisite: %v, want %v", c.Record.URL, c.Record.Requisite, ok)
		case ok && c.Record.Status != status:
			t.Errorf("%s has status %d, want %d", c.Record.URL, c.Record.Status, status)
		case ok:
			stored++
		}
	}
	if stored != len(requisites) {
		t.Errorf("the store has %d requisites, want %d", stored, len(requisites))
	}
	agree(t, s, archive)
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	archived := archivedRequisites(t, archive)
	for url := range requisites {
		sites.mu.Lock()
		requests := sites.counts[strings.TrimPrefix(url, "http://")]
		sites.mu.Unlock()
		if n := archived[url]; n != 1 && !(n == 2 && strings.Contains(url, "/shared/")) || requests == 0 {
			t.Errorf("%s is %d times in the archive and was requested %d times, want once, or twice if it is shared", url, n, requests)
		}
	}
	for url := range archived {
		if _, ok := requisites[url]; !ok {
			t.Errorf("the archive has the requisite %s, which no page needs", url)
		}
	}
}

// archivedRequisites returns the number of answers in the files of an archive for each URL that was
// fetched as a requisite. The indexes must have the same URLs.
func archivedRequisites(t *testing.T, archive string) map[string]int {
	t.Helper()
	all := map[string]int{}
	files, err := filepath.Glob(filepath.Join(archive, "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r := warc.NewReader(f)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if rec.Header.Get(corpus.PageField) == corpus.IsRequisite {
				all[rec.URI()]++
			}
		}
		f.Close()
	}
	indexed := indexedURLs(t, filepath.Dir(archive), filepath.Base(archive))
	for _, url := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(indexed, url) {
			t.Errorf("the index lacks %s", url)
		}
	}
	return all
}

// startFurnished serves a site with the given number of pages, and a second host for some of the
// files that the pages need. The map requisites contains the status of each of these files, by URL.
// Each page has a style sheet and a picture of its own, and shares other files with other pages.
func startFurnished(t *testing.T, pages int) (s *sites, requisites map[string]int) {
	t.Helper()
	s = &sites{counts: map[string]int{}}
	cdn := httptest.NewServer(s.counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { furnish(w, r, "") })))
	t.Cleanup(cdn.Close)
	site := httptest.NewServer(s.counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/page/%d", &n); err != nil || n >= pages {
			furnish(w, r, cdn.URL)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>Page %d</title><link rel=stylesheet href="/own/%d.css"><script src="%s/shared/%d.js"></script>`, n, n, cdn.URL, n%20)
		fmt.Fprintf(w, `<img src="/own/%d.png" alt=""><img src="/missing/%d.png" alt=""><p>%s`, n, n%5, frogs)
		for i := range 60 {
			fmt.Fprintf(w, "Pond %d of the year %d held %d frogs. ", i, n, (n+3)*(i+7)%97)
		}
		for _, to := range []int{2*n + 1, 2*n + 2} {
			if to < pages {
				fmt.Fprintf(w, `<a href="/page/%d">Page %d</a> `, to, to)
			}
		}
	})))
	t.Cleanup(site.Close)
	s.seeds = []string{site.URL + "/page/0"}
	requisites = map[string]int{site.URL + "/favicon.ico": http.StatusNotFound}
	for n := range pages {
		requisites[fmt.Sprintf("%s/own/%d.css", site.URL, n)] = http.StatusOK
		requisites[fmt.Sprintf("%s/own/%d.png", site.URL, n)] = http.StatusOK
		requisites[fmt.Sprintf("%s/behind/%d.png", site.URL, n)] = http.StatusOK
		requisites[fmt.Sprintf("%s/shared/%d.css", cdn.URL, n%10)] = http.StatusOK
		requisites[fmt.Sprintf("%s/shared/%d.js", cdn.URL, n%20)] = http.StatusOK
		requisites[fmt.Sprintf("%s/missing/%d.png", site.URL, n%5)] = http.StatusNotFound
	}
	return s, requisites
}

// furnish answers requests for the requisites of a furnished site. The style sheet of page n refers
// to a picture, and to a shared style sheet of the other host.
func furnish(w http.ResponseWriter, r *http.Request, cdn string) {
	var n int
	fmt.Sscanf(strings.TrimLeft(r.URL.Path, "/abcdefghijklmnopqrstuvwxyz"), "%d", &n)
	switch ending := filepath.Ext(r.URL.Path); {
	case strings.HasPrefix(r.URL.Path, "/missing/") || ending == "" || ending == ".txt" || ending == ".ico":
		http.NotFound(w, r)
	case ending == ".css":
		w.Header().Set("Content-Type", "text/css")
		if cdn != "" {
			fmt.Fprintf(w, `@import "%s/shared/%d.css"; body { background: url(/behind/%d.png) } `, cdn, n%10, n)
		}
		fmt.Fprintf(w, "h1 { width: %dpx }", n)
	case ending == ".js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "var page = %d;", n)
	default:
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprintf(w, "\x89PNG\r\n\x1a\n picture %s", r.URL.Path)
	}
}

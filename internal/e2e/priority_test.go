package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/internal/tools/postgrestest"
)

// TestPriorities checks the order of requests in a folder and on PostgreSQL: pages of a seed with a priority come first,
// and when pages are visited again, those that have changed come before the others of their seed. Each crawl is cut
// in two, so the order also holds over runs.
func TestPriorities(t *testing.T) {
	needServer(t)
	t.Parallel()
	for kind, store := range map[string]string{"folder": filepath.Join(t.TempDir(), "store"), "postgres": postgrestest.Start(t).URL("priority")} {
		t.Run(kind, func(t *testing.T) { testPriorities(t, store) })
	}
}

func testPriorities(t *testing.T, store string) {
	var mu sync.Mutex
	var asked []string // guarded by mu
	round := 0         // guarded by mu
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		path, version := r.URL.Path, 0
		if path == "/robots.txt" {
			return
		}
		asked = append(asked, path)
		if path == "/high/2" || path == "/low/3" {
			version = round
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>The page %s in its version %d.", path, version)
		for i := range 4 {
			if strings.HasSuffix(path, "/") {
				fmt.Fprintf(w, " <a href=%d>%d</a>", i, i)
			}
		}
	}))
	defer server.Close()
	config := filepath.Join(t.TempDir(), "skink.toml")
	text := fmt.Sprintf("[[seed]]\nurl = \"%[1]s/low/\"\nscope = \"prefix\"\n[[seed]]\nurl = \"%[1]s/high/\"\nscope = \"prefix\"\npriority = 3\n", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	crawl := func(cut []string, more ...string) []string {
		flags := append([]string{"crawl", "--store", store, "--config", config, "--delay", "0", "--parallel", "1", "--sitemaps", "off", "--learn", "off", "--quiet"}, more...)
		mu.Lock()
		asked = nil
		mu.Unlock()
		run(t, append(slices.Clone(flags), cut...)...)
		run(t, flags...)
		mu.Lock()
		defer mu.Unlock()
		round++
		return asked
	}
	first := crawl([]string{"--max-pages", "4"})
	high := slices.IndexFunc(first, func(p string) bool { return strings.HasPrefix(p, "/low/") && p != "/low/" })
	if len(first) != 10 || high < 5 || slices.ContainsFunc(first[high:], func(p string) bool { return strings.HasPrefix(p, "/high/") }) {
		t.Errorf("the first visits are in the order %v", first)
	}
	crawl([]string{"--max-bytes", "200"}, "--recrawl", "0s")
	again := crawl([]string{"--max-bytes", "200"}, "--recrawl", "0s")
	want := []string{"/high/2", "/high/", "/high/0", "/high/1", "/high/3", "/low/3", "/low/", "/low/0", "/low/1", "/low/2"}
	if len(again) < len(want) || !slices.Equal(again[:len(want)], want) { // later requests look again at changed pages
		t.Errorf("pages are visited again in the order %v, want %v", again, want)
	}
}

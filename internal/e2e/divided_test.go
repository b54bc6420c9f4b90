package e2e

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skink/internal/tools/postgrestest"
)

// TestDivided crawls two sites, of which the second has all texts of the first and more, once into one store, and once
// into a store for each. The unique pages of the two stores, compared as docs/many-machines.md says, must be as many as
// those of the one store.
func TestDivided(t *testing.T) {
	pages := 400
	if os.Getenv("SKINK_LONG") == string(full) {
		pages = 20_000
	}
	var seeds []string
	for _, n := range []int{pages, 2 * pages} {
		site := httptest.NewServer(generated{pages: n, number: 1})
		t.Cleanup(site.Close)
		seeds = append(seeds, site.URL+"/")
	}
	t.Run("folder", func(t *testing.T) { divide(t, seeds, func(name string) string { return name }) })
	t.Run("postgres", func(t *testing.T) { divide(t, seeds, postgrestest.Start(t).URL) })
}

func divide(t *testing.T, seeds []string, store func(name string) string) {
	dir := t.TempDir()
	crawl := func(name string, seeds ...string) {
		runIn(t, dir, append([]string{"crawl", "--store", store(name), "--quiet", "--delay", "0", "--budget", "off", "--scope", "host", "--allow-private", "127.0.0.0/8"}, seeds...)...)
		runIn(t, dir, "export", "--store", store(name), "--complete", "--out", name+".jsonl")
	}
	crawl("whole", seeds...)
	crawl("a", seeds[0])
	crawl("b", seeds[1])
	runIn(t, dir, "dedup", "--quiet", "--store", "a-folder", "a.jsonl")
	runIn(t, dir, "dedup", "--quiet", "--against", "a-folder", "--unique", "only-in-b.jsonl", "b.jsonl")
	lines := func(name string) int {
		text, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	whole, a, b, only := lines("whole"), lines("a"), lines("b"), lines("only-in-b")
	t.Logf("%d unique pages in one store; %d and %d in two, of which %d are only in the second", whole, a, b, only)
	if a+only != whole || only == 0 || only == b {
		t.Errorf("two stores have %d unique pages, one store has %d", a+only, whole)
	}
}

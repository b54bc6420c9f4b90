package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A mirror is a site whose pages other mirrors have, too. Its sitemap lists the copies of its own
// pages. The first sitemap is read after the pages that it lists, the second one is plain text.
type mirror struct {
	mu     sync.Mutex
	copied chan struct{} // closed when a copy has been served
	served bool          // guarded by mu
}

const mirrored = 6 // pages of a mirror, besides their copies and the home page

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, copied := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "-copy")
	page := func(n int) {
		fmt.Fprintf(w, "<title>%s</title><h1>Page</h1>", r.URL.Path)
		for i := range 12 {
			fmt.Fprintf(w, "<p>The keeper of lighthouse %d wrote in chapter %d about the weather, the %d ships and the sea.", n, i*n, i+n)
		}
	}
	switch {
	case r.URL.Path == "/robots.txt":
		fmt.Fprintf(w, "Sitemap: http://%s/first.xml\nSitemap: http://%[1]s/second.txt\n", r.Host)
	case r.URL.Path == "/first.xml":
		select {
		case <-m.copied:
		case <-time.After(3 * time.Second):
		}
		fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/1-copy</loc></url><url><loc>http://%[1]s/2-copy</loc></url></urlset>`, r.Host)
	case r.URL.Path == "/second.txt":
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "http://%s/3-copy\nhttp://%[1]s/4-copy\n", r.Host)
	case name == "":
		for n := range mirrored {
			fmt.Fprintf(w, "<p><a href=/%d>%[1]d</a> <a href=/%[1]d-copy>copy</a>", n+1)
		}
	case len(name) == 1 && name >= "1" && name <= "6":
		w.Header().Set("Content-Type", "text/html")
		page(int(name[0] - '0'))
		m.mu.Lock()
		if copied && !m.served {
			m.served = true
			close(m.copied)
		}
		m.mu.Unlock()
	default:
		http.NotFound(w, r)
	}
}

// A crawl from an archive has the verdicts and leaders of the crawl, whatever the order of its seeds,
// also if a later run added a seed: the archive has the order of hosts and the lists of sitemaps.
func TestArchiveOrder(t *testing.T) {
	long(t)
	t.Parallel()
	skink := buildSkink(t)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			var seeds []string
			for range order {
				server := httptest.NewServer(&mirror{copied: make(chan struct{})})
				t.Cleanup(server.Close)
				seeds = append(seeds, server.URL+"/")
			}
			dir := t.TempDir()
			crawled, archive, again := filepath.Join(dir, "crawled"), filepath.Join(dir, "archive"), filepath.Join(dir, "again")
			args := []string{"crawl", "--quiet", "--store", crawled, "--warc", archive, "--delay", "0", "--per-host", "4", "--budget", "off", "--prefer", "/5-copy"}
			run(t, slices.Concat(args, []string{"--max-pages", "9", seeds[order[0]], seeds[order[1]]})...)
			run(t, slices.Concat(args, []string{seeds[order[2]]})...)
			replayed(t, skink, again, archive)
			got, want := exportLines(t, skink, again), exportLines(t, skink, crawled)
			if !slices.Equal(got, want) {
				t.Errorf("the export of the archive differs:\n got %s\nwant %s", strings.Join(got, ""), strings.Join(want, ""))
			}
			first := fmt.Sprintf("%q", seeds[order[0]]+"1-copy")
			if leaders := strings.Join(want, ""); !strings.Contains(leaders, `"duplicate_of":`+first) {
				t.Errorf("%s leads nothing: %s", first, leaders)
			}
		})
	}
}

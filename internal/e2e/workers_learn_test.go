//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"skink/crawler/learn"
	"skink/internal/tools/postgrestest"
)

// A catalogue is a site whose pages link to themselves with a parameter that has no effect. It
// answers requests for missing pages with status 200.
type catalogue struct{ pages int }

func (c catalogue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var n int
	_, err := fmt.Sscanf(r.URL.Path, "/page/%d", &n)
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(w, r)
		return
	case r.URL.Path == "/":
	case err != nil || n >= c.pages:
		n = -1
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><html lang=en><article><p>%s</article>", c.text(n))
	if n < 0 {
		return
	}
	for to := n + 1; to <= min(n+2, c.pages-1); to++ {
		fmt.Fprintf(w, "<a href=\"/page/%d\">a</a> <a href=\"/page/%d?from=%d\">b</a>", to, n, to)
	}
	fmt.Fprintf(w, "<a href=\"/old/%d\">c</a>", n)
}

func (c catalogue) text(n int) string {
	rng := rand.New(rand.NewPCG(uint64(n+1), 7))
	var b strings.Builder
	for range 80 {
		fmt.Fprintf(&b, "w%d ", rng.IntN(10_000))
	}
	return b.String()
}

// asked returns the URLs that were requested since the last call of forget.
func (s *sites) asked() (urls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for url := range s.counts {
		urls = append(urls, "http://"+url)
	}
	return urls
}

// TestWorkersLearn begins a crawl with one worker and finishes it with another. The second worker
// must know the evidence that the first has collected, without further probes: it must postpone
// URLs with the parameter, and recognise soft 404s. Learned facts that are deleted must be deleted
// for both.
func TestWorkersLearn(t *testing.T) {
	needServer(t)
	t.Parallel()
	const pages = 120
	shared := postgrestest.Start(t).URL("web")
	s := &sites{counts: map[string]int{}}
	server := httptest.NewServer(s.counting(catalogue{pages}))
	defer server.Close()
	s.seeds = []string{server.URL + "/"}
	probe := learn.ProbeOf([]string{server.URL + "/old/1"}, nil)
	withParameter := func(url string) bool { return strings.Contains(url, "from=") }
	crawl := func(worker string, flags ...string) {
		run(t, crawlArgs(shared, s, append(flags, "--quiet", "--budget", "on", "--sitemaps", "off", "--worker", worker)...)...)
	}

	crawl("one", "--max-pages", "60")
	first := s.asked()
	if !slices.ContainsFunc(first, withParameter) || !slices.Contains(first, probe) {
		t.Fatalf("the first worker had nothing to learn from: %q", first)
	}
	learned, _ := run(t, "status", "--store", shared)
	if !strings.Contains(learned, "kept returning duplicates") || !strings.Contains(learned, "soft 404") {
		t.Fatalf("of the first worker it is known:\n%s", learned)
	}
	s.forget()
	crawl("two")
	second, copies := s.asked(), 0
	for _, url := range second {
		if withParameter(url) {
			copies++
		}
		if url == probe {
			t.Errorf("the second worker asked for %s", url)
		}
	}
	if copies > pages/2 {
		t.Errorf("the second worker asked for %d URLs with the parameter", copies)
	}
	if len(second) < pages/2 {
		t.Errorf("the second worker asked for %d URLs alone", len(second))
	}
	ended, _ := run(t, "status", "--store", shared, "--urls", "failed")
	postponed, _ := run(t, "status", "--store", shared, "--urls", "postponed")
	if n := strings.Count(ended, "/old/") / 2; n == 0 || n != strings.Count(ended, "soft 404") || n+strings.Count(postponed, server.URL+"/old/") < pages-1 {
		t.Errorf("%d of %d pages are known to say that there is none:\n%s\npostponed:\n%s", n, pages, ended, postponed)
	}
}

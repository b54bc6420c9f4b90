package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// TestWorkersLead crawls a site together with copies of it on other hosts, by several workers. The
// site answers slowly. The copies answer immediately, have shorter URLs, and name their own pages
// as canonical. Some copies add a sentence, so that they are near-duplicates. The site is the first
// seed, so all its pages must lead, even after a visit during which it was not available.
func TestWorkersLead(t *testing.T) {
	needServer(t)
	t.Parallel()
	const stories = 24
	site := startTwin(t, 100*time.Millisecond)
	copies := []*twin{startTwin(t, 0), startTwin(t, 0), startTwin(t, 0)}
	put := func() {
		var links strings.Builder
		for n := range stories {
			path := fmt.Sprintf("/articles/2026/story-%d", n)
			fmt.Fprintf(&links, "<a href=%s>%d</a> ", path, n)
			site.put(path, essay(fmt.Sprintf("story%dword", n), "", ""))
		}
		site.put("/", essay("home", "", links.String()))
	}
	put()
	for c, other := range copies {
		var links strings.Builder
		for n := range stories {
			path := fmt.Sprintf("/%d", n)
			fmt.Fprintf(&links, "<a href=%s>%d</a> ", path, n)
			text := essay(fmt.Sprintf("story%dword", n), "<link rel=canonical href="+other.url(path)+">", "")
			if c > 0 {
				text = strings.Replace(text, "</p>", fmt.Sprintf("One sentence by copy %d.</p>", c), 1)
			}
			other.put(path, text)
		}
		other.put("/", essay(fmt.Sprintf("copy%dhome", c), "", links.String()))
	}
	shared := postgrestest.Start(t).URL("web")
	crawl := func(args ...string) {
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				run(t, append([]string{"crawl", "--quiet", "--store", shared, "--worker", fmt.Sprint("worker", w), "--delay", "0", "--per-host", "2",
					"--ignore-robots", "--allow-private", "127.0.0.0/8", "--sitemaps", "off", "--learn", "off"}, args...)...)
			})
		}
		wg.Wait()
	}
	wantLed := func(when string) {
		t.Helper()
		for _, args := range [][]string{nil, {"--complete"}} {
			out, _ := run(t, append([]string{"export", "--include", "all", "--store", shared}, args...)...)
			got := verdictsOf(t, out)
			for n := range stories {
				leader := site.url(fmt.Sprintf("/articles/2026/story-%d", n))
				if got[leader] != "unique" {
					t.Errorf("%s, %v: %s is %q", when, args, leader, got[leader])
				}
				for c, other := range copies {
					want := "exact " + leader
					if c > 0 {
						want = "near " + leader
					}
					if url := other.url(fmt.Sprintf("/%d", n)); got[url] != want {
						t.Errorf("%s, %v: %s is %q, want %q", when, args, url, got[url], want)
					}
				}
			}
		}
	}
	crawl(site.url("/"), copies[0].url("/"), copies[1].url("/"), copies[2].url("/"))
	wantLed("at first")

	for n := range stories {
		site.drop(fmt.Sprintf("/articles/2026/story-%d", n))
	}
	crawl("--recrawl", "0s", "--gone-after", "1")
	out, _ := run(t, "export", "--include", "all", "--store", shared)
	got := verdictsOf(t, out)
	for n := range stories {
		if url := copies[0].url(fmt.Sprintf("/%d", n)); got[url] != "unique" {
			t.Errorf("while the site is away, %s is %q", url, got[url])
		}
	}
	put()
	crawl("--recrawl", "0s", "--gone-after", "1")
	wantLed("after it came back")
}

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// # Two hosts with one text
//
// In the tests below, a site and its copy are two servers on loopback. Their different ports make
// them different hosts.

// A twin is one of the two servers.
type twin struct {
	*httptest.Server
	wait time.Duration // delay before the server answers a request for its home page

	mu    sync.Mutex
	pages map[string]string // guarded by mu: HTML pages by path
}

func startTwin(t *testing.T, wait time.Duration) *twin {
	t.Helper()
	h := &twin{wait: wait, pages: map[string]string{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *twin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	html, ok := h.pages[r.URL.Path]
	h.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.URL.Path == "/" {
		time.Sleep(h.wait)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, html)
}

// put sets the page at a path.
func (h *twin) put(path, html string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages[path] = html
}

// drop removes the page at a path.
func (h *twin) drop(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, path)
}

// url returns the URL of a path.
func (h *twin) url(path string) string { return h.URL + path }

// essay returns a page with a text that differs for each name.
func essay(name, head, links string) string {
	var text strings.Builder
	for i := range 90 {
		fmt.Fprintf(&text, "%s%d ", name, i*i)
	}
	return "<!DOCTYPE html><html lang=en><head><title>" + name + "</title>" + head + "</head><body><article><h1>" + name +
		"</h1><p>" + text.String() + "</p></article><nav>" + links + "</nav></body></html>"
}

// crawlTwins crawls hosts into a store, with one request at a time for each host.
func crawlTwins(t *testing.T, dir string, args ...string) {
	t.Helper()
	runIn(t, dir, append([]string{"crawl", "--quiet", "--delay", "0", "--per-host", "1", "--ignore-robots", "--allow-private", "127.0.0.0/8", "--sitemaps", "off", "--learn", "off"}, args...)...)
}

// exportedVerdicts returns the verdict and the leader of each page, by URL.
func exportedVerdicts(t *testing.T, dir string, args ...string) map[string]string {
	t.Helper()
	return verdictsOf(t, string(runIn(t, dir, append([]string{"export", "--include", "all"}, args...)...)))
}

// verdictsOf returns the verdict and the leader of each page in an export, by URL.
func verdictsOf(t *testing.T, export string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(export) {
		var page struct {
			URL         string `json:"url"`
			Verdict     string `json:"verdict"`
			DuplicateOf string `json:"duplicate_of"`
		}
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			t.Fatal(err)
		}
		all[page.URL] = strings.TrimSpace(page.Verdict + " " + page.DuplicateOf)
	}
	return all
}

// If another host has a copy of a seed's home page and answers sooner, the seed must keep its
// articles, even if links of duplicates are skipped.
func TestSkipLosesNoSeed(t *testing.T) {
	t.Parallel()
	const articles = 200
	site, other := startTwin(t, 150*time.Millisecond), startTwin(t, 0)
	var links strings.Builder
	for i := range articles {
		path := fmt.Sprintf("/article/%d", i)
		fmt.Fprintf(&links, "<a href=%s>%d</a> ", path, i)
		site.put(path, essay(fmt.Sprintf("article%dword", i), "", ""))
	}
	site.put("/", essay("home", "", links.String()))
	other.put("/", essay("home", "", ""))
	dir := t.TempDir()
	crawlTwins(t, dir, "--on-duplicate", "skip", site.url("/"), other.url("/"))
	found := 0
	for url, verdict := range exportedVerdicts(t, dir) {
		if strings.HasPrefix(url, site.url("/article/")) && verdict == "unique" {
			found++
		}
	}
	if found != articles {
		t.Errorf("%d of %d articles were found", found, articles)
	}
}

// wantLeads checks the leaders of pages in the crawl, in the feed of all pages, and in the
// comparison of all pages. The argument led maps the URL of a page to the URL of its leader, or to
// "" if the page itself leads.
func wantLeads(t *testing.T, dir, why string, led map[string]string) {
	t.Helper()
	wantLeadsIn(t, dir, nil, why, led)
	wantLeadsIn(t, dir, []string{"--complete"}, why, led)
}

// wantLeadsIn does the same for the given flags of skink export and report.
func wantLeadsIn(t *testing.T, dir string, flags []string, why string, led map[string]string) {
	t.Helper()
	got := exportedVerdicts(t, dir, flags...)
	for url, leader := range led {
		want := "unique"
		if leader != "" {
			want = "exact " + leader
		}
		if got[url] != want {
			t.Errorf("%q: %s is %q, want %q", flags, url, got[url], want)
		}
	}
	if text := string(runIn(t, dir, append([]string{"report"}, flags...)...)); !strings.Contains(text, "("+why+")") {
		t.Errorf("skink report %q does not say %q:\n%s", flags, why, text)
	}
}

// A copy on another host must not lead the original. It must not help that the copy answers sooner,
// has a shorter URL, is the canonical URL of other copies, or was available while the original was
// away for an hour.
func TestCaptured(t *testing.T) {
	t.Parallel()
	link := func(urls ...string) (links string) {
		for _, url := range urls {
			links += "<a href='" + url + "'>more</a> "
		}
		return links
	}
	canonical := func(url string) string { return "<link rel=canonical href='" + url + "'>" }

	t.Run("it answers sooner and has a shorter URL", func(t *testing.T) {
		t.Parallel()
		site, other := startTwin(t, 150*time.Millisecond), startTwin(t, 0)
		site.put("/", essay("home", "", link("/articles/2026/story")))
		site.put("/articles/2026/story", essay("story", "", ""))
		other.put("/", essay("home", "", link("/s")))
		other.put("/s", essay("story", "", ""))
		dir := t.TempDir()
		crawlTwins(t, dir, site.url("/"), other.url("/"))
		wantLeads(t, dir, "order of hosts", map[string]string{
			site.url("/"): "", site.url("/articles/2026/story"): "",
			other.url("/"): site.url("/"), other.url("/s"): site.url("/articles/2026/story"),
		})
		text := string(runIn(t, dir, "report"))
		if !strings.Contains(text, "hosts whose pages are mostly duplicates of pages on another host\n  "+other.Listener.Addr().String()+": 2 of 2 pages are duplicates of pages on "+site.Listener.Addr().String()) {
			t.Errorf("the report does not list the host of copies:\n%s", text)
		}

		// With --prefer, the other host must lead.
		dir = t.TempDir()
		crawlTwins(t, dir, "--prefer", "^"+other.URL, site.url("/"), other.url("/"))
		wantLeads(t, dir, "preferred", map[string]string{site.url("/"): other.url("/"), other.url("/"): ""})
	})

	t.Run("other copies name it", func(t *testing.T) {
		t.Parallel()
		site, other := startTwin(t, 50*time.Millisecond), startTwin(t, 0)
		site.put("/", essay("home", "", link("/story")))
		site.put("/story", essay("story", "", ""))
		other.put("/", essay("index", "", link("/copy/1", "/copy/2", "/copy/3")))
		for _, path := range []string{"/copy/1", "/copy/2"} {
			other.put(path, essay("story", canonical(other.url("/copy/3")), ""))
		}
		other.put("/copy/3", essay("story", "", ""))
		dir := t.TempDir()
		crawlTwins(t, dir, site.url("/"), other.url("/"))
		wantLeads(t, dir, "order of hosts", map[string]string{
			site.url("/story"): "", other.url("/copy/1"): site.url("/story"), other.url("/copy/2"): site.url("/story"), other.url("/copy/3"): site.url("/story"),
		})
	})

	t.Run("the page that loses by it names it", func(t *testing.T) {
		t.Parallel()
		site, other := startTwin(t, 50*time.Millisecond), startTwin(t, 0)
		other.put("/", essay("index", "", link("/story")))
		other.put("/story", essay("story", "", ""))
		site.put("/", essay("home", "", link("/story")))
		site.put("/story", essay("story", canonical(other.url("/story")), ""))
		dir := t.TempDir()
		crawlTwins(t, dir, site.url("/"), other.url("/"))
		wantLeads(t, dir, "canonical link", map[string]string{site.url("/story"): other.url("/story"), other.url("/story"): ""})
	})

	t.Run("the original had a bad hour", func(t *testing.T) {
		t.Parallel()
		for name, bad := range map[string]string{"gone": "", "maintenance": essay("maintenance", "", "")} {
			site, other := startTwin(t, 0), startTwin(t, 0)
			site.put("/", essay("home", "", link("/story")))
			site.put("/story", essay("story", "", ""))
			other.put("/", essay("index", "", link("/s", "/copy")))
			other.put("/s", essay("story", "", ""))
			other.put("/copy", essay("story", "", ""))
			dir := t.TempDir()
			back := func() { crawlTwins(t, dir, "--recrawl", "0s", "--gone-after", "1") }
			crawlTwins(t, dir, site.url("/"), other.url("/"))
			led := map[string]string{site.url("/story"): "", other.url("/s"): site.url("/story"), other.url("/copy"): site.url("/story")}
			wantLeads(t, dir, "order of hosts", led)
			if bad == "" {
				site.drop("/story")
			} else {
				site.put("/story", bad)
			}
			back()
			if got := exportedVerdicts(t, dir)[other.url("/s")] + exportedVerdicts(t, dir)[other.url("/copy")]; !strings.Contains(got, "unique") {
				t.Errorf("%s: no copy leads while the original is away: %s", name, got)
			}
			site.put("/story", essay("story", "", ""))
			back()
			wantLeads(t, dir, "order of hosts", led)
		}
	})

	t.Run("first seen, among hosts that are no seeds", func(t *testing.T) {
		t.Parallel()
		hub, first, later := startTwin(t, 0), startTwin(t, 0), startTwin(t, 0)
		hub.put("/", essay("hub", "", link(first.url("/a/long/way/to/the/story"))))
		first.put("/a/long/way/to/the/story", essay("story", "", link(later.url("/s"))))
		later.put("/s", essay("story", "", ""))
		dir := t.TempDir()
		back := func() { crawlTwins(t, dir, "--scope", "any", "--recrawl", "0s", "--gone-after", "1") }
		crawlTwins(t, dir, "--scope", "any", hub.url("/"))
		led := map[string]string{first.url("/a/long/way/to/the/story"): "", later.url("/s"): first.url("/a/long/way/to/the/story")}
		wantLeadsIn(t, dir, nil, "first seen", led)
		whole := map[string]string{first.url("/a/long/way/to/the/story"): later.url("/s"), later.url("/s"): ""} // the comparison of all pages knows no times
		wantLeadsIn(t, dir, []string{"--complete"}, "shortest path", whole)
		first.put("/a/long/way/to/the/story", essay("maintenance", "", link(later.url("/s"))))
		back()
		if got := exportedVerdicts(t, dir)[later.url("/s")]; got != "unique" {
			t.Errorf("while the first page is away, the other one is %q", got)
		}
		first.put("/a/long/way/to/the/story", essay("story", "", link(later.url("/s"))))
		back()
		wantLeadsIn(t, dir, nil, "first seen", led)
	})
}

// A page in the sitemap must lead its duplicates on the same host, even if it is fetched last.
func TestInSitemap(t *testing.T) {
	t.Parallel()
	site := startTwin(t, 0)
	site.put("/", essay("home", "", "<a href=/a>a</a> <a href=/b>b</a> <a href=/the/listed/page>c</a>"))
	for _, path := range []string{"/a", "/b", "/the/listed/page"} {
		site.put(path, essay("story", "", ""))
	}
	site.put("/sitemap.xml", `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>`+site.url("/the/listed/page")+`</loc></url></urlset>`)
	dir := t.TempDir()
	crawlTwins(t, dir, "--sitemaps", "on", site.url("/"))
	wantLeads(t, dir, "in the sitemap", map[string]string{
		site.url("/the/listed/page"): "", site.url("/a"): site.url("/the/listed/page"), site.url("/b"): site.url("/the/listed/page"),
	})
}

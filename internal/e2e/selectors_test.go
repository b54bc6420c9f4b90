package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"skink/internal/tools/postgrestest"
)

// A catalog is a shop, a forum and a manual of 100 pages each, whose text and fields are known. Servers answer a
// request for an unchanged page with 304.
type catalog struct {
	*sites
	config string // sections of the hosts, with %s for each name

	round atomic.Int64 // in round 1, the stock of each tenth product is another
	whole atomic.Int64 // responses with a page
}

const catalogPages = 100

// A known is what must be read of a page.
type known struct {
	Text   string         `json:"text"`
	Fields map[string]any `json:"fields"`
}

// page returns the body of a page of a site and what must be read of it.
func (c *catalog) page(site, n int) (body string, want known) {
	story := fmt.Sprintf("Number %d of site %d is about the harbour, the mill and %d boats that wait for the tide.", n, site, n*7+3)
	switch site {
	case 0:
		stock := n
		if n%10 == 0 {
			stock += int(c.round.Load())
		}
		body = fmt.Sprintf(`<nav class=menu>All <span class=price>0</span> goods</nav><article class=product data-stock=%d><h1>Chair %d</h1>
<p>%s</p><div class=ads>Buy <b>now</b></div><p>Sold <i class=badge>new</i> here.</p><p class=old>%d.00</p></article><p class=price> %d.50
 &euro;</p><meta itemprop=sku content="S-%d"><ul><li class=tag>wood<li class=tag>n%d</ul>`, stock, n, story, n+1, n, n, n)
		want = known{fmt.Sprintf("Chair %d\n%s\nSold here.\n%d.00", n, story, n+1), map[string]any{
			"price": "0", "sku": fmt.Sprintf("S-%d", n), "tags": []any{"wood", fmt.Sprintf("n%d", n)}, "stock": fmt.Sprint(stock)}}
	case 1:
		body = fmt.Sprintf(`<table><tr><td class=author>ann%d<td class=post>%s<div class=signature>Sent from afar</div></table>
<div class=who><a class=author href=/u>bob</a></div><div class=post><p>Thanks, number %d.</p><blockquote>So it is.</blockquote></div>`, n, story, n)
		want = known{fmt.Sprintf("%s\nThanks, number %d.\nSo it is.", story, n), map[string]any{"authors": []any{fmt.Sprintf("ann%d", n), "bob"}}}
	default:
		body = fmt.Sprintf(`<div id=toc><a href=#x>Contents</a></div><div id=content><h1>Command %d<a class=headerlink href=#x>link</a></h1><p>%s</p>
<pre>run --number %d</pre></div><footer>Since <b class=since>%d.2</b></footer>`, n, story, n, n)
		want = known{fmt.Sprintf("Command %d\n%s\nrun --number %d", n, story, n), map[string]any{"since": fmt.Sprintf("%d.2", n)}}
		if n%2 == 0 {
			body += fmt.Sprintf(`<p class=see><a href="/other/%d">other</a>`, n)
			want.Fields["see"] = fmt.Sprintf("/other/%d", n)
		}
	}
	return body, want
}

func startCatalog(t *testing.T) *catalog {
	c := &catalog{sites: &sites{counts: map[string]int{}}, config: `
[host."%s"]
main = "article.product"
drop = [".ads", ".badge"]
fields = { price = ".price", sku = "[itemprop=sku]@content", tags = [".tag"], stock = ".product@data-stock" }
[host."%s"]
main = ".post"
drop = ".signature"
fields = { authors = [".author"] }
[host."%s"]
main = "#content"
drop = [".headerlink"]
[host."%s".fields]
since = ".since"
see = ".see a@href"
never = "#never"
`}
	var hosts []any
	for site := range 3 {
		server := httptest.NewServer(c.counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var n int
			body := "<p>All pages."
			if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err == nil && n < catalogPages {
				body, _ = c.page(site, n)
			} else if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			for n := range catalogPages {
				body += fmt.Sprintf("<a href=/%d>%d</a> ", n, n)
			}
			tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body)))
			w.Header().Set("ETag", tag)
			if r.Header.Get("If-None-Match") == tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			c.whole.Add(1)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!DOCTYPE html><title>Page</title>", body)
		})))
		t.Cleanup(server.Close)
		c.seeds, hosts = append(c.seeds, server.URL+"/"), append(hosts, strings.TrimPrefix(server.URL, "http://"))
	}
	c.config = fmt.Sprintf(c.config, append(hosts, hosts[2])...)
	return c
}

// check compares all pages of a store with the truth. The function adjust changes what must be read.
func (c *catalog) check(t *testing.T, skink, store string, adjust func(site int, want *known)) {
	t.Helper()
	out, err := exec.Command(skink, "export", "--store", store, "--include", "all").Output()
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	got := map[string]known{}
	for line := range strings.Lines(string(out)) {
		var page struct {
			URL string `json:"url"`
			known
		}
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			t.Fatal(err)
		}
		got[page.URL] = page.known
	}
	wrong := 0
	for site, seed := range c.seeds {
		for n := range catalogPages {
			_, want := c.page(site, n)
			if adjust != nil {
				adjust(site, &want)
			}
			if url := seed + fmt.Sprint(n); !reflect.DeepEqual(got[url], want) {
				if wrong++; wrong <= 3 {
					t.Errorf("%s\n got %+v\nwant %+v", url, got[url], want)
				}
			}
		}
	}
	if wrong > 0 || len(got) != 3*catalogPages+3 {
		t.Errorf("%d of %d pages are wrong", wrong, len(got))
	}
}

// TestSelectors crawls a shop, a forum and a manual with selectors, and compares text and fields of each page with the
// truth: after a kill, from the archive, when only fields have changed, and with other selectors.
func TestSelectors(t *testing.T) {
	t.Parallel()
	c, skink, dir := startCatalog(t), buildSkink(t), t.TempDir()
	store, archive, config := filepath.Join(dir, "store"), filepath.Join(dir, "archive"), filepath.Join(dir, "skink.toml")
	write := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	crawl := func(more ...string) string {
		t.Helper()
		out, err := exec.Command(skink, slices.DeleteFunc(c.crawl(store, more), func(s string) bool { return s == "--quiet" })...).CombinedOutput()
		if err != nil {
			t.Fatalf("crawl: %v\n%s", err, out)
		}
		return string(out)
	}
	write(c.config)
	if !crawlOnce(t, skink, store, c.sites, 60, "--config", config, "--warc", archive) {
		t.Fatal("the crawl was not killed")
	}
	said := crawl("--warc", archive) // the store has a copy of the configuration
	c.check(t, skink, store, nil)
	if !strings.Contains(said, "found nothing in ") || !strings.Contains(said, " pages: fields.never #never") || strings.Contains(said, "pages: fields.see") {
		t.Errorf("the summary does not name the selector that found nothing:\n%s", said)
	}
	again := filepath.Join(dir, "again")
	replayed(t, skink, again, archive, "--config", config)
	c.check(t, skink, again, nil)

	// Only the stock of ten products changes, which is not in the text.
	cursor, changes := filepath.Join(dir, "cursor"), filepath.Join(dir, "changes.jsonl")
	export := func() string {
		t.Helper()
		run(t, "export", "--store", store, "--cursor", cursor, "--out", changes)
		text, err := os.ReadFile(changes)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	export()
	c.round.Store(1)
	c.whole.Store(0)
	if said := crawl("--recrawl", "0s"); !strings.Contains(said, "10 changed otherwise") || c.whole.Load() != 10 {
		t.Errorf("%d pages were sent whole, want 10:\n%s", c.whole.Load(), said)
	}
	c.check(t, skink, store, nil)
	if text := export(); strings.Count(text, `"change":"changed"`) != 10 || strings.Count(text, "\n") != 10 {
		t.Errorf("the changes are\n%s", text)
	}

	// Other selectors need a recrawl, which reads all pages of their host again.
	write(strings.Replace(c.config, `price = ".price"`, `price = ".old"`, 1))
	out, err := exec.Command(skink, c.crawl(store, []string{"--config", config})...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "was crawled with other selectors") || !strings.Contains(string(out), "--recrawl") {
		t.Errorf("a crawl with other selectors: %v\n%s", err, out)
	}
	c.check(t, skink, store, nil)
	c.whole.Store(0)
	crawl("--config", config, "--recrawl", "0s")
	if n := c.whole.Load(); n != catalogPages+1 {
		t.Errorf("%d pages were read again with other selectors, want all of the shop", n)
	}
	older := func(site int, want *known) {
		if site == 0 {
			want.Fields = maps.Clone(want.Fields)
			want.Fields["price"] = want.Text[strings.LastIndex(want.Text, "\n")+1:]
		}
	}
	c.check(t, skink, store, older)
	c.whole.Store(0)
	crawl("--recrawl", "0s")
	if n := c.whole.Load(); n != 0 {
		t.Errorf("%d pages were read again though nothing has changed", n)
	}
	c.check(t, skink, store, older)
}

// TestSelectorsOfWorkers crawls with two workers on PostgreSQL. Only one of them has the configuration.
func TestSelectorsOfWorkers(t *testing.T) {
	t.Parallel()
	needServer(t)
	c, skink := startCatalog(t), buildSkink(t)
	shared, config := postgrestest.Start(t).URL("web"), filepath.Join(t.TempDir(), "skink.toml")
	if err := os.WriteFile(config, []byte(c.config), 0o666); err != nil {
		t.Fatal(err)
	}
	one := crawlArgs(shared, c.sites, "--quiet", "--worker", "one", "--config", config)
	if out, err := exec.Command(skink, append(one, "--max-pages", "5")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var wg sync.WaitGroup
	for _, args := range [][]string{one, crawlArgs(shared, c.sites, "--quiet", "--worker", "two")} {
		wg.Go(func() {
			if out, err := exec.Command(skink, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	c.check(t, skink, shared, nil)
}

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/internal/tools/postgrestest"
)

// A dressedSite is a site whose pages need files of two hosts to look right. It counts the requests
// for each URL, and records when each host was asked.
type dressedSite struct {
	site, cdn *httptest.Server
	tagged    atomic.Bool  // whether responses have an ETag
	edition   atomic.Int32 // from edition 1 on, page 1 has other words; from edition 2 on, headings have another colour

	mu    sync.Mutex
	asked map[string]int // guarded by mu
}

const frogs = "The keeper of the gardens counts the frogs of the pond each spring, and writes their number into a book that his grandfather began. "

// newDressedSite starts the two servers. In the pages, {CDN} stands for the URL of the other host.
func newDressedSite(t *testing.T, pages int) *dressedSite {
	t.Helper()
	d := &dressedSite{asked: map[string]int{}}
	files := map[string]string{
		"site/robots.txt":                "User-agent: *\nDisallow: /private/\n",
		"site/a.css":                     "@import \"deep/b.css\";\n@font-face { font-family: Own; src: url(/own.ttf) }\nh1 { font-family: Own; color: {SHADE} }\n.box { width: 120px; height: 120px; background: url(../not-there.png), url('/tile.png?v=2&utm_source=x') }\n#secret { background: url(/private/secret.png) }",
		"site/deep/b.css":                "body { margin: 24px; background: #eef url(\"../corner.png\") no-repeat right top }\n@namespace svg url(/never.svg);",
		"site/app.js":                    "document.body.insertAdjacentHTML('beforeend', '<p id=drawn style=\"background: #fd8\">This line comes from a script.</p>');",
		"site/app.webmanifest":           `{"icons": [{"src": "icons/big.png"}, {"src": ""}, {"src": "data:image/png;base64,AA=="}], "shortcuts": [{"icons": [{"src": " {CDN}/short.png"}]}]}`,
		"site/icons/big.png":             picture(96, 96, color.RGBA{90, 30, 200, 255}),
		"cdn/short.png":                  picture(24, 24, color.RGBA{90, 200, 30, 255}),
		"site/shared.png":                picture(50, 20, color.RGBA{9, 200, 30, 255}),
		"site/favicon.ico":               picture(16, 16, color.RGBA{200, 200, 30, 255}),
		"cdn/framed.html":                `<link rel=stylesheet href=framed.css><iframe src="inner.html"></iframe><a href="/never.html">a link</a><p>` + frogs,
		"cdn/framed.css":                 "p { background: url(dot.png) }",
		"cdn/inner.html":                 `<img src="inner.png"><iframe src="framed.html"></iframe><p>Deep.`,
		"cdn/inner.png":                  picture(30, 30, color.RGBA{30, 30, 30, 255}),
		"cdn/lib.css":                    "ul { list-style-image: url(dot.png) } .wide { display: block; height: 40px; background: url(\"{SITE}/wide.png\") repeat-x }",
		"site/own.ttf":                   font(),
		"site/tile.png?v=2&utm_source=x": picture(40, 40, color.RGBA{200, 30, 30, 255}),
		"site/corner.png":                picture(160, 90, color.RGBA{30, 30, 200, 255}),
		"site/small.png":                 picture(80, 80, color.RGBA{20, 160, 20, 255}),
		"site/large.png":                 picture(160, 160, color.RGBA{20, 160, 20, 255}),
		"site/wide.png":                  picture(30, 40, color.RGBA{160, 20, 160, 255}),
		"site/inline.png":                picture(60, 60, color.RGBA{250, 160, 20, 255}),
		"site/poster.png":                picture(200, 60, color.RGBA{20, 160, 160, 255}),
		"site/private/secret.png":        picture(9, 9, color.RGBA{1, 1, 1, 255}),
		"cdn/dot.png":                    picture(12, 12, color.RGBA{0, 0, 0, 255}),
	}
	serve := func(host string) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			d.mu.Lock()
			d.asked[host+r.URL.RequestURI()]++
			d.mu.Unlock()
			body, ok := files[host+r.URL.RequestURI()]
			switch {
			case ok:
			case host == "site" && r.URL.Path == "/moved.png":
				http.Redirect(w, r, "/small.png", http.StatusFound)
				return
			case host == "site" && !strings.Contains(r.URL.Path, "."):
				n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page/"))
				body = dressedPage(n, pages)
			default:
				http.NotFound(w, r)
				return
			}
			switch filepath.Ext(r.URL.Path) {
			case "", ".html":
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
			case ".css":
				w.Header().Set("Content-Type", "text/css")
			case ".ttf":
				w.Header().Set("Content-Type", "font/ttf")
			}
			if d.tagged.Load() {
				w.Header().Set("ETag", fmt.Sprintf("%q", dedup.HashOf([]byte(d.edit(body)))))
			}
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(d.edit(body)))
		}))
		t.Cleanup(s.Close)
		return s
	}
	d.cdn, d.site = serve("cdn"), serve("site")
	d.cdn.Start()
	d.site.Start()
	return d
}

// edit returns a body as the current edition has it.
func (d *dressedSite) edit(body string) string {
	frogs, shade := "Frogs of the year 1901", "#063"
	if d.edition.Load() >= 1 {
		frogs = "Toads of the year 1901"
	}
	if d.edition.Load() >= 2 {
		shade = "#b00"
	}
	return strings.NewReplacer("{CDN}", d.cdn.URL, "{SITE}", d.site.URL, "{SHADE}", shade, "Frogs of the year 1901", frogs).Replace(body)
}

// dressedPage returns page n of a site with the given number of pages. The pages differ only in
// their words, and each links to all.
func dressedPage(n, pages int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><html lang=en><title>Page %d</title><link rel=stylesheet href="/a.css"><link rel=stylesheet href="{CDN}/lib.css">
<link rel=manifest href=/app.webmanifest><meta property="og:image" content="/shared.png"><iframe src="{CDN}/framed.html"></iframe>
<style>.inline { width: 60px; height: 60px; background: url(/inline.png) }</style><h1>Frogs of the year %d</h1>
<div class=box></div><div class=inline></div><p><img src="/small.png" srcset="/small.png 1x, /large.png 2x" alt=Frog> <img src="/moved.png" alt=Frog>
<video poster="/poster.png" width=200 height=60></video><span class=wide></span><div id=secret></div><ul><li>one<li>two</ul><p>%s`, n, 1900+n, strings.Repeat(frogs, 4))
	if n > 1 { // a player does not show a page that contains itself as a browser does
		b.WriteString(`<iframe src="/page/1"></iframe>`)
	}
	for i := range 40 {
		fmt.Fprintf(&b, "Pond %d of the year %d held %d frogs. ", i, n, (n+3)*(i+7)%97)
	}
	for i := range pages {
		fmt.Fprintf(&b, "<a href=\"/page/%d\">Page %d</a> ", i, i)
	}
	b.WriteString(`<script src="/app.js"></script>`)
	return b.String()
}

func picture(width, height int, c color.Color) string {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			if (x/10+y/10)%2 == 0 {
				img.Set(x, y, c)
			} else {
				img.Set(x, y, color.White)
			}
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return b.String()
}

// font returns the data of a font file of this machine, or "" if there is none. Browsers do not use
// this font for text without a style.
func font() string {
	all, _ := filepath.Glob("/usr/share/fonts/truetype/*/*Mono*Bold*.ttf")
	if len(all) == 0 {
		return ""
	}
	f, _ := os.ReadFile(all[0])
	return string(f)
}

// times returns the number of requests for a URL of the form "site/path" or "cdn/path".
func (d *dressedSite) times(url string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[url]
}

// dress lists the files that the pages of a dressedSite need, except robots.txt.
var dress = []string{
	"site/a.css", "site/deep/b.css", "site/app.js", "site/own.ttf", "site/tile.png?v=2&utm_source=x", "site/corner.png", "site/not-there.png",
	"site/small.png", "site/large.png", "site/moved.png", "site/wide.png", "site/inline.png", "site/poster.png", "cdn/lib.css", "cdn/dot.png",
	"site/app.webmanifest", "site/icons/big.png", "cdn/short.png", "site/shared.png", "site/favicon.ico", "cdn/framed.html", "cdn/framed.css", "cdn/inner.html", "cdn/inner.png",
}

// TestRequisites crawls a site whose pages need the files of two hosts. It checks that the archive
// has each of these files, that each was requested once, and that none is treated as a page, not
// even in a crawl from the archive.
func TestRequisites(t *testing.T) {
	t.Parallel()
	d := newDressedSite(t, 12)
	dir := t.TempDir()
	crawl := func(args ...string) string {
		return string(runIn(t, dir, append([]string{"crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1"}, args...)...))
	}
	crawl("--store", "plain", "--warc", "plain-archive", d.site.URL+"/page/0")
	for _, file := range dress {
		if n := d.times(file); n != 0 {
			t.Errorf("without --requisites %s was requested %d times", file, n)
		}
	}
	crawl("--store", "dressed", "--warc", "archive", "--requisites", d.site.URL+"/page/0")
	before := map[string]int{}
	for _, file := range dress {
		if before[file] = d.times(file); before[file] != 1 && before[file] != 2 {
			t.Errorf("%s was requested %d times, want once, and once more if a later page needs it", file, before[file])
		}
	}
	for _, file := range []string{"site/private/secret.png", "site/never.svg", "cdn/never.html", "cdn/favicon.ico"} {
		if n := d.times(file); n != 0 {
			t.Errorf("%s was requested %d times, want 0", file, n)
		}
	}
	if n := d.times("cdn/robots.txt"); n == 0 {
		t.Error("robots.txt of the other host was not requested")
	}

	indexed := indexedURLs(t, dir, "archive")
	for _, file := range dress {
		host, path, _ := strings.Cut(file, "/")
		url := map[string]string{"site": d.site.URL, "cdn": d.cdn.URL}[host] + "/" + path
		if !slices.Contains(indexed, url) {
			t.Errorf("the archive lacks %s", url)
		}
	}
	plain, dressed := judgedPages(t, dir, "plain"), judgedPages(t, dir, "dressed")
	if !slices.Equal(plain, dressed) {
		t.Errorf("with requisites, the judged pages are %q, want %q", dressed, plain)
	}
	runIn(t, dir, "crawl", "--store", "again", "--from", "archive")
	if again := judgedPages(t, dir, "again"); !slices.Equal(again, dressed) {
		t.Errorf("the archive has the pages %q, want %q", again, dressed)
	}
	for line := range strings.Lines(string(runIn(t, dir, "status", "--store", "again", "--urls", "fetched"))) {
		if !strings.Contains(line, "/page/") && strings.Contains(line, "http") {
			t.Errorf("a file of the archive was taken for a page: %s", line)
		}
	}

	// A second crawl finds everything unchanged, and requests each file once more after the pages of its host, and
	// again if a later page needs it.
	crawl("--store", "dressed", "--warc", "archive", "--requisites", "--recrawl", "0s")
	for _, file := range dress {
		if n := d.times(file) - before[file]; n != 1 && n != 2 {
			t.Errorf("in a revisit %s was requested %d times", file, n)
		}
	}
}

// TestRequisitesAtLimits checks that pages within a limit of pages get their requisites, and that
// the crawl keeps the limit of requisites.
func TestRequisitesAtLimits(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"--max-pages", "--max-host-pages"} {
		d := newDressedSite(t, 200)
		dir := t.TempDir()
		runIn(t, dir, "crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--warc", "archive", "--requisites", limit, "5", d.site.URL+"/page/0")
		for _, file := range dress {
			if n := d.times(file); n != 1 && n != 2 {
				t.Errorf("with %s, %s was requested %d times, want once, and once more after the pages", limit, file, n)
			}
		}
		pages := 0
		d.mu.Lock()
		for url, n := range d.asked {
			if strings.HasPrefix(url, "site/page/") {
				pages += n
			}
		}
		d.mu.Unlock()
		if pages != 5 {
			t.Errorf("with %s 5, %d pages were requested", limit, pages)
		}
	}

	d := newDressedSite(t, 3)
	dir := t.TempDir()
	runIn(t, dir, "crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--warc", "archive", "--requisites", "--max-host-requisites", "1B", d.site.URL+"/page/0")
	requests := 0
	for _, file := range dress {
		requests += d.times(file)
	}
	if requests == 0 || requests > 4 {
		t.Errorf("with a limit that the first file exceeds, %d were requested", requests)
	}
	failed := string(runIn(t, dir, "status", "--urls", "failed"))
	if !strings.Contains(failed, "requisite limit") {
		t.Errorf("the status does not name the limit:\n%s", failed)
	}
	runIn(t, dir, "crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--warc", "archive", "--requisites", "--retry", "failed")
	for _, file := range dress {
		if n := d.times(file); n == 0 {
			t.Errorf("%s was not requested although the limit is gone", file)
		}
	}
}

// TestRequisitesOfWorkers runs two workers with one store on a server. Together they request each
// requisite once. The two archives together contain each file.
func TestRequisitesOfWorkers(t *testing.T) {
	needServer(t)
	t.Parallel()
	d := newDressedSite(t, 60)
	server := postgrestest.Start(t)
	dir := t.TempDir()
	var workers errgroup.Group
	for _, name := range []string{"one", "two"} {
		workers.Go(func() error {
			cmd := exec.Command("skink", "crawl", "--store", server.URL("web"), "--worker", name, "--delay", "0", "--sitemaps", "off",
				"--allow-private", "127.0.0.1", "--warc", filepath.Join(dir, name), "--requisites", d.site.URL+"/page/0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("worker %s: %w\n%s", name, err, out)
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, file := range dress {
		if n := d.times(file); n < 1 || n > 3 { // each worker may find that a later page needs the file
			t.Errorf("%s was requested %d times, want once, and once more after the pages", file, n)
		}
	}
	indexed := append(indexedURLs(t, dir, "one"), indexedURLs(t, dir, "two")...)
	slices.Sort(indexed)
	indexed = slices.Compact(indexed)
	if n := len(slices.DeleteFunc(indexed, func(url string) bool { return !strings.HasSuffix(url, ".css") })); n != 4 {
		t.Errorf("the archives have %d style sheets, want 4", n)
	}
}

// TestRequisitesOfRenderedPages checks that a file which the browser has loaded for a page is not
// requested again for the archive, unless a later page uses it.
func TestRequisitesOfRenderedPages(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	app := newWebApp(t, "react")
	dir := t.TempDir()
	runIn(t, dir, "crawl", "--delay", "0", "--render", "auto", "--warc", "archive", "--requisites", app.URL)
	files := 0
	app.mu.Lock()
	defer app.mu.Unlock()
	for path, n := range app.asked {
		if strings.HasPrefix(path, "/assets/") {
			files++
			if n > 3 { // a page that is found while the files are requested again needs them once more
				t.Errorf("%s was requested %d times, want once, and once more after the pages", path, n)
			}
		}
	}
	indexed := indexedURLs(t, dir, "archive")
	styled := slices.ContainsFunc(indexed, func(url string) bool { return strings.HasSuffix(url, ".css") })
	scripted := slices.ContainsFunc(indexed, func(url string) bool { return strings.HasSuffix(url, ".js") })
	if files < 2 || !styled || !scripted {
		t.Errorf("%d files of the application were requested, and the archive has %q", files, indexed)
	}
}

// judgedPages returns the URL and the number of words of each judged page in a store, in order.
func judgedPages(t *testing.T, dir, name string) (all []string) {
	t.Helper()
	for line := range bytes.Lines(runIn(t, dir, "export", "--store", name, "--include", "all")) {
		var d fed
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d", d.URL, d.Words))
	}
	slices.Sort(all)
	return all
}

// indexedURLs returns the URLs in the index of an archive.
func indexedURLs(t *testing.T, dir, archive string) (urls []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, archive, "*.cdxj"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, rest, _ := strings.Cut(line, `"url":"`)
			url, _, _ := strings.Cut(rest, `"`)
			urls = append(urls, strings.ReplaceAll(url, `\u0026`, "&"))
		}
	}
	return urls
}

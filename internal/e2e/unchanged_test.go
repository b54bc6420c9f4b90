package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// TestUnchanged crawls a site without validators, and visits it again twice: once by the rules of the first crawl, so
// that pages with the same bytes are not read, and once by other rules, so that all are. Nothing that is printed about
// the two stores may differ.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	files := http.FileServer(http.Dir("testdata/site"))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"If-Modified-Since", "If-None-Match"} {
			r.Header.Del(name)
		}
		files.ServeHTTP(&undated{w}, r)
	}))
	t.Cleanup(site.Close)
	kept, read := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "read")
	crawl := func(dir string, more ...string) {
		runIn(t, dir, append(append([]string{"crawl", "--audit", "--delay", "0", "--allow-private", "127.0.0.0/8"}, more...), site.URL+"/")...)
	}
	if err := os.Mkdir(kept, 0o777); err != nil {
		t.Fatal(err)
	}
	crawl(kept)
	if err := os.CopyFS(read, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
	crawl(kept, "--recrawl", "0s")
	crawl(read, "--recrawl", "0s", "--exclude", "matches-nothing")
	for _, args := range [][]string{
		{"export", "--include", "all"},
		{"report", "--format", "json"},
		{"report", "--about", "audit", "--format", "json"},
		{"report", "--changes"},
	} {
		said := func(dir string) string { return times.ReplaceAllString(string(runIn(t, dir, args...)), "TIME") }
		if a, b := said(kept), said(read); a != b {
			t.Errorf("skink %s differs:\n%s", strings.Join(args, " "), whereDifferent(a, b))
		}
	}
}

// An undated response has no Last-Modified, so that no later request is conditional.
type undated struct{ http.ResponseWriter }

func (w *undated) WriteHeader(status int) {
	w.Header().Del("Last-Modified")
	w.ResponseWriter.WriteHeader(status)
}

var times = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\b)|"took":\d+|\d+ ms`)

func whereDifferent(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	around := func(s string) string { return s[max(at-200, 0):min(at+200, len(s))] }
	return around(a) + "\n---\n" + around(b)
}

// TestDeeper crawls the first pages of a site, and then more of it. The first pages have not changed, but
// their links must be followed now.
func TestDeeper(t *testing.T) {
	t.Parallel()
	for _, tagged := range []bool{true, false} {
		t.Run(fmt.Sprintf("tagged=%v", tagged), func(t *testing.T) {
			var whole atomic.Int64
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n := strings.Count(r.URL.Path, "/a"); n > 4 || r.URL.Path == "/robots.txt" {
					http.NotFound(w, r)
					return
				}
				if tagged {
					w.Header().Set("Etag", `"`+r.URL.Path+`"`)
				}
				if tagged && r.Header.Get("If-None-Match") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				whole.Add(1)
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title><p>This is page %[1]s.<a href=%[1]s/a>More</a>", strings.TrimSuffix(r.URL.Path, "/"))
			}))
			t.Cleanup(site.Close)
			dir := t.TempDir()
			crawl := func(want int, more ...string) {
				t.Helper()
				whole.Store(0)
				runIn(t, dir, append(append([]string{"crawl", "--delay", "0", "--learn", "off", "--sitemaps", "off", "--allow-private", "127.0.0.0/8"}, more...), site.URL+"/")...)
				text := string(runIn(t, dir, "export", "--include", "all"))
				if got := strings.Count(text, "\n"); got != want {
					t.Errorf("after %v: %d pages, want %d\n%s", more, got, want, text)
				}
			}
			crawl(2, "--max-depth", "1")
			crawl(4, "--max-depth", "3", "--recrawl", "0s")
			crawl(4, "--max-depth", "3", "--recrawl", "0s")
			if n := whole.Load(); tagged && n > 0 {
				t.Errorf("%d pages were sent whole, though neither they nor the rules have changed", n)
			}
			crawl(5, "--recrawl", "0s")
		})
	}
}

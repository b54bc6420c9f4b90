package session

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skink/internal/tools/storetest"
)

// A crawl that archives asks again for the files that a later page needs, and for no other. A recrawl visits the files
// after the pages, and asks for each once.
func TestSharedFiles(t *testing.T) {
	words := "<p>" + strings.Repeat("The keeper counts the frogs of the pond. ", 30)
	site := map[string]string{
		"/":              `<link rel=stylesheet href=/shared.css><link rel=stylesheet href=/first.css><img src=/shared.png><img src=/first.png><a href=/second>2</a>` + words,
		"/second":        `<link rel=stylesheet href=/shared.css><link rel=stylesheet href=/second.css><img src=/shared.png><img src=/second.png>` + words,
		"/shared.css":    `@import "imported.css"; p { background: url(of-shared.png) }`,
		"/imported.css":  `p { list-style-image: url(of-imported.png) }`,
		"/first.css":     `p { background: url(of-first.png) }`,
		"/second.css":    `p { background: url(of-second.png) }`,
		"/of-first.png":  "f",
		"/of-second.png": "s",
	}
	twice := map[string]bool{"/shared.css": true, "/imported.css": true, "/of-shared.png": true, "/of-imported.png": true, "/shared.png": true}
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		body, ok := site[r.URL.Path]
		switch kind := filepath.Ext(r.URL.Path); {
		case kind == ".css":
			w.Header().Set("Content-Type", "text/css")
		case kind == ".png":
			w.Header().Set("Content-Type", "image/png")
		case ok:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		default:
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, body+r.URL.Path)
	}))
	defer server.Close()
	opt := quickly(server)
	opt.Crawl.Requisites, opt.Crawl.Sitemaps, opt.Archive.Dir, opt.Build.Version = true, false, t.TempDir(), "1"
	s := &NamedStore{Store: storetest.NewMemory(), Name: "memory"}
	for _, again := range []string{"", "0s"} {
		opt.Again.Recrawl = again
		if _, err := Run(t.Context(), s, opt, Output{Out: io.Discard, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		delete(asked, "/robots.txt")
		for path, n := range asked {
			want := 1
			if again == "" && twice[path] {
				want = 2
			}
			if n != want {
				t.Errorf("recrawl %q: %s was requested %d times, want %d", again, path, n, want)
			}
		}
		if len(asked) < 12 {
			t.Errorf("recrawl %q: only %v was requested", again, maps.Clone(asked))
		}
		clear(asked)
		mu.Unlock()
	}
}

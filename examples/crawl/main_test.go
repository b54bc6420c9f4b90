package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"skink/crawl"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	// Only the original page links to the copy, so that the original is fetched first.
	text := strings.Repeat("The lamp of the harbour was lit in a gale, by a keeper who had rowed out to it. ", 4) + `<a href="/old">Archive</a>`
	page := func(body string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("<article>" + body + "</article>")}
	}
	site := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html":     page(`<a href="lamp.html">The lamp</a> <a href="none.html">The keeper</a>`),
		"lamp.html":      page("<p>" + text),
		"old/index.html": page("<p>" + text),
	}))
	defer site.Close()
	opt := crawl.Defaults()
	opt.Delay = 0
	for range 2 { // the second run has nothing to fetch, and prints the same pages
		var out strings.Builder
		if err := run(t.Context(), &out, dir, []string{site.URL}, opt); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(out.String(), site.URL, "")), "\n")
		slices.Sort(lines) // pages are processed in parallel, and printed as they are stored
		got := strings.Join(lines, "\n")
		const want = "/ thin \n/lamp.html unique \n/none.html error status 404\n/old leads to /old/\n/old/ exact /lamp.html"
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

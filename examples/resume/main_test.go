package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/crawl"
)

// A run that is stopped after some pages is continued. The last line of the file is cut, as by a killed program.
func TestRun(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err != nil || i >= 6 {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<title>%d</title><main><h1>Page</h1><p>%s <a href=/%d>next</a></main>", i, strings.Repeat(fmt.Sprintf("word%d ", i), 60), i+1)
	}))
	defer site.Close()
	name := filepath.Join(t.TempDir(), "pages.jsonl")
	opt := crawl.Defaults()
	opt.Delay, opt.MaxPages = 0, 3
	if err := run(t.Context(), name, []string{site.URL + "/0"}, opt); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil || len(text) < 100 {
		t.Fatalf("the first run wrote %q, %v", text, err)
	}
	if err := os.Truncate(name, int64(len(text))-10); err != nil {
		t.Fatal(err)
	}
	opt.MaxPages = 0
	if err := run(t.Context(), name, nil, opt); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for text := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(l.Markdown, "# Page") || !strings.Contains(l.Markdown, "[next](") {
			t.Errorf("page %s has the Markdown %q", l.URL, l.Markdown)
		}
		titles = append(titles, l.Title)
	}
	slices.Sort(titles) // a page is in the file once
	if got := strings.Join(titles, " "); got != "0 1 2 3 4 5" {
		t.Errorf("the file has the pages %s, want 0 to 5", got)
	}
}

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"skink/store"
	"skink/store/badger"
)

// The pages of a host whose certificate nobody checked say so, also after they were read from an archive.
func TestInsecureArchive(t *testing.T) {
	t.Parallel()
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "<title>Rivers</title><main><p>"+rivers+"</p></main>")
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	runIn(t, dir, "crawl", "--quiet", "--store", "first", "--warc", "kept", "--insecure", strings.TrimPrefix(site.URL, "https://"), site.URL)
	runIn(t, dir, "crawl", "--quiet", "--store", "again", "--from", "kept")
	details := map[string]string{}
	for _, name := range []string{"first", "again"} {
		s, err := badger.Open(filepath.Join(dir, name), badger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Record.Kind == store.Page {
				details[name] += c.Record.Detail
			}
		}
	}
	if !strings.Contains(details["first"], "certificate") || details["first"] != details["again"] {
		t.Errorf("the details are %q", details)
	}
	if said, err := skink(t, nil, "crawl", "--store", "x", "--from", "kept", "--insecure", "example.org"); err == nil || !strings.Contains(said, "--from and --insecure cannot be used together") {
		t.Errorf("%v\n%s", err, said)
	}
}

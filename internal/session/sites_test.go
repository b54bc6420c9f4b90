package session

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"skink/crawler"
	"skink/crawler/access"
	"skink/internal/tools/storetest"
)

// A page that becomes private or public is fetched without the validators of the last visit.
func TestValidatorsOfOthers(t *testing.T) {
	var asked []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		asked = append(asked, r.Header.Get("If-None-Match")+r.Header.Get("X-Token"))
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "<main><p>A page for %q and others.</p></main>", r.Header.Get("X-Token"))
	}))
	t.Cleanup(site.Close)
	s := &NamedStore{Store: storetest.NewMemory(), Name: "memory"}
	for run, private := range []bool{true, true, false, false, true} {
		opt := quickly(site)
		if private {
			opt.Crawl.Hosts = access.Table{{Pattern: "127.0.0.1", Headers: map[string]access.Secret{"X-Token": "sesame"}}}
		}
		if run > 0 {
			opt.Again.Recrawl = "0s"
		}
		if _, err := Run(t.Context(), s, opt, Output{Out: io.Discard, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	asked = slices.Compact(asked) // a changed page may be requested again
	if want := []string{"sesame", `"one"sesame`, "", `"one"`, "sesame"}; !slices.Equal(asked, want) {
		t.Errorf("the visits sent %q, want %q", asked, want)
	}
}

// A host that has received an https request gets no secrets with http in a later run, also if it had
// no secrets then.
func TestStoreSecure(t *testing.T) {
	for _, first := range []int{0, 2} { // the first run with secrets
		t.Run(fmt.Sprintf("secrets from run %d", first), func(t *testing.T) { storeSecure(t, first) })
	}
}

func storeSecure(t *testing.T, first int) {
	var mu sync.Mutex
	var run, clear int // clear counts the requests of this run with secrets in clear
	var link string
	note := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, password, _ := r.BasicAuth()
		if r.TLS == nil && (r.Header.Get("X-Token") != "" || password != "") {
			clear++
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<main><p>A page that only a few may read.</p></main>")
		if run == 1 {
			fmt.Fprint(w, link)
		}
	}
	secure, plain := httptest.NewTLSServer(http.HandlerFunc(note)), httptest.NewServer(http.HandlerFunc(note))
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	link = "<a href=" + secure.URL + ">the same with https</a>"
	s := &NamedStore{Store: storetest.NewMemory(), Name: "memory"}
	for run = range 3 {
		opt := quickly(plain)
		opt.Crawl.Scope, _ = crawler.NewScope(crawler.ScopeAny, nil, nil)
		if run >= first {
			opt.Crawl.Hosts = access.Table{{Pattern: "127.0.0.1", Basic: &access.Basic{User: "me", Password: "sesame"}, Headers: map[string]access.Secret{"X-Token": "sesame"}}}
		}
		opt.Crawl.Roots = x509.NewCertPool()
		opt.Crawl.Roots.AddCert(secure.Certificate())
		if run > 0 {
			opt.Again.Recrawl = "0s"
		}
		clear = 0
		if _, err := Run(t.Context(), s, opt, Output{Out: io.Discard, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		if (clear > 0) != (run >= first && run < 2) { // the second run requests the plain page before the link
			t.Errorf("run %d sent secrets in clear with %d requests", run, clear)
		}
	}
}

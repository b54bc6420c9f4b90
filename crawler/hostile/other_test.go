package hostile

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"skink/crawler"
	"skink/internal/ingest"
	"skink/internal/tools/storetest"
	"skink/store"
)

// If the code panics while it reads a page, the page's record has the panic as its problem. URLs
// that need no reading are not affected. No page is known that causes a panic, so the test uses
// options that do: shingles of minus one word.
func TestHostilePanic(t *testing.T) {
	site := hostile{name: "panic", seeds: []string{"/", "/moved", "/picture"}, answer: func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/other", http.StatusFound)
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
		default:
			writeHTML(w, prose(r.URL.Path))
		}
	}}
	server := startHostile(t, []hostile{site})
	got := crawlHostile(t, server, storetest.NewMemory(), hostileOptions(server.hosts(site)...), func(o *ingest.Options) {
		o.Rule.Shingling.K = -1
	}, server.seeds(site)...)
	site.want = "/ error internal\n/moved redirect /other\n/other error internal\n/picture other"
	got.checkCase(t, site)
	if n := got.tally.Problems[string(crawler.ProblemInternal)]; n != 2 {
		t.Errorf("%d panics counted, want 2", n)
	}
	for _, r := range got.records {
		if r.Kind == store.Error && !strings.HasPrefix(r.Detail, "panic: ") {
			t.Errorf("%s: %q says nothing of a panic", r.URL, r.Detail)
		}
	}
}

// A host may be an IPv6 address with a port.
func TestHostileIPv6(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this system has no IPv6: %v", err)
	}
	var asked string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Host
		writeHTML(w, prose(r.URL.Path)+`<a href="http://[0:0:0:0:0:0:0:1]:`+strings.TrimPrefix(r.Host, "[::1]:")+`/next">next</a>`)
	}))
	_ = s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)

	host := listener.Addr().String()
	opt := hostileOptions(host)
	opt.PerHost, opt.IgnoreRobots = 1, true
	got := crawlScope(t, nil, storetest.NewMemory(), opt, nil, "", "http://"+host+"/")
	if len(got.records) != 2 || got.records[0].URL != "http://"+host+"/" || got.records[1].URL != "http://"+host+"/next" || got.tally.Unique != 2 {
		t.Errorf("got %d records, %+v", len(got.records), got.tally)
	}
	if asked != host {
		t.Errorf("asked for host %q, want %q", asked, host)
	}
}

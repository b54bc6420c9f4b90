package crawler

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/crawler/access"
	"skink/crawler/wire"
)

// TestHostHeaders checks which requests carry the headers and the password of a host: those for
// pages and robots.txt of that host, but not those of another host that it redirects to, or over
// http once the host was reached by https.
func TestHostHeaders(t *testing.T) {
	const secret = "sesame"
	var mu sync.Mutex
	got := map[string]http.Header{} // request headers by server and path
	serve := func(name string, then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got[name+r.URL.Path] = r.Header.Clone()
			mu.Unlock()
			then(w, r)
		}
	}
	page := func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<title>page</title>")) }
	other := httptest.NewServer(serve("other", page))
	defer other.Close()
	web := httptest.NewServer(serve("web", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/target", http.StatusFound)
		case "/robots.txt":
			http.Redirect(w, r, other.URL+"/robots.txt", http.StatusFound)
		default:
			page(w, r)
		}
	}))
	defer web.Close()
	tls := httptest.NewTLSServer(serve("tls", page))
	defer tls.Close()
	hostOf := func(raw string) string { u, _ := url.Parse(raw); return u.Host }

	opt := Defaults()
	opt.Delay, opt.Timeout = 0, 10*time.Second
	opt.AllowHosts = []string{"127.0.0.1"}
	var raws []string
	opt.OnAnswer = func(r *wire.Raw) { raws = append(raws, string(r.Request)) }
	opt.Roots = x509.NewCertPool()
	opt.Roots.AddCert(tls.Certificate())
	settings := access.Host{Headers: map[string]access.Secret{"X-Token": secret}, Basic: &access.Basic{User: "me", Password: secret}, UserAgent: "own/1.0"}
	for _, server := range []string{web.URL, tls.URL} {
		settings.Pattern = hostOf(server)
		opt.Hosts = append(opt.Hosts, settings)
	}
	f, err := newFetcher(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	ctx := context.Background()
	fetch := func(rawURL string) {
		t.Helper()
		if p := f.fetch(ctx, item(rawURL)); p.Problem != "" {
			t.Errorf("%s: %s %s", rawURL, p.Problem, p.Detail)
		} else if p.Raw != nil {
			raws = append(raws, string(p.Raw.Request))
		}
	}
	fetch(web.URL + "/page")
	fetch(web.URL + "/away")
	fetch(other.URL + "/target")
	if _, _, err := f.fetchRobots(ctx, web.URL+"/robots.txt"); err != nil {
		t.Error(err)
	}
	fetch(tls.URL + "/page")
	fetch(web.URL + "/after") // this server has the same name as the https server

	user, _, _ := (&http.Request{Header: got["web/page"]}).BasicAuth()
	if user != "me" {
		t.Errorf("the user is %q", user)
	}
	for path, want := range map[string]string{"web/page": secret, "web/away": secret, "web/robots.txt": secret, "tls/page": secret, "other/target": "", "other/robots.txt": "", "web/after": ""} {
		h, ok := got[path]
		if !ok || h.Get("X-Token") != want || (h.Get("Authorization") != "") != (want != "") {
			t.Errorf("%s got the headers %v, want the token %q", path, h, want)
		}
		if own := h.Get("User-Agent") == "own/1.0"; own == strings.HasPrefix(path, "other") {
			t.Errorf("%s got the user agent %s", path, h.Get("User-Agent"))
		}
	}
	if len(raws) < 7 {
		t.Errorf("%d raw answers", len(raws))
	}
	all := strings.Join(raws, "")
	if strings.Contains(all, secret) || strings.Contains(all, "Basic ") || strings.Count(all, "X-Token: ***\r\n") != 4 {
		t.Errorf("the requests that an archive keeps:\n%s", all)
	}
}

// TestSeedIsSecure checks that an https seed protects the secrets of its host from the first request.
func TestSeedIsSecure(t *testing.T) {
	opt := Defaults()
	opt.Scope = newScope(t, ScopeHost, nil, nil, "https://example.org/", "http://example.com/")
	opt.Hosts = access.Table{{Pattern: "*", Headers: map[string]access.Secret{"X-Token": "sesame"}}}
	f, err := newFetcher(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for rawURL, want := range map[string]bool{"http://example.org/": false, "http://example.org:8080/": false, "http://example.com/": true} {
		r, err := f.build(context.Background(), &ask{url: rawURL})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("X-Token") != ""; got != want {
			t.Errorf("%s: token sent: %v, want %v", rawURL, got, want)
		}
	}
}

// TestHostRules checks the delay, the budget, the user agent and the patterns of single hosts.
func TestHostRules(t *testing.T) {
	opt := Defaults()
	none := time.Duration(0)
	opt.HostBudget.Pages = 9
	opt.Hosts = access.Table{
		{Pattern: "fast.example.org", Delay: &none, PerHost: 8, UserAgent: "own/1.0", Pages: 3, Exclude: []*regexp.Regexp{regexp.MustCompile("/slow/")}},
		{Pattern: "*.example.org", Bytes: 7, Include: []*regexp.Regexp{regexp.MustCompile("/docs/")}},
	}
	s := newStanding(&opt, "fast.example.org")
	s.answered = true
	if s.rest() != 0 || s.atOnce() != 8 || s.rules.budget != (Budget{Pages: 3, Bytes: 7}) {
		t.Errorf("the fast host: rest %v, %d at once, budget %v", s.rest(), s.atOnce(), s.rules.budget)
	}
	s = newStanding(&opt, "example.com")
	s.answered = true
	if s.rest() != opt.Delay || s.atOnce() != opt.PerHost || s.rules.budget != opt.HostBudget {
		t.Errorf("another host: rest %v, %d at once, budget %v", s.rest(), s.atOnce(), s.rules.budget)
	}
	if got := opt.AgentFor("fast.example.org:8080"); got != "own/1.0" {
		t.Errorf("the user agent of the fast host is %s", got)
	}
	if got := opt.AgentFor("example.com"); got != opt.UserAgent {
		t.Errorf("the user agent of another host is %s", got)
	}
	if !opt.HasHostBudgets() || (&Options{}).HasHostBudgets() {
		t.Error("HasHostBudgets")
	}
	if opt.maxPerHost() != 8 {
		t.Errorf("maxPerHost is %d", opt.maxPerHost())
	}
	scope := newScope(t, ScopeAny, nil, []string{"/private/"})
	scope.Obey(opt.Hosts)
	for url, want := range map[string]bool{
		"http://www.example.org/docs/a":         true,
		"http://www.example.org/a":              false,
		"http://www.example.org/docs/private/":  false,
		"http://fast.example.org/docs/private/": false, // a host's patterns are added to those of the crawl
		"http://fast.example.org/docs/slow/":    false,
		"http://example.com/a":                  true,
		"http://example.com/private/":           false,
	} {
		if got := scope.Contains(url); got != want {
			t.Errorf("the scope contains %s: %v, want %v", url, got, want)
		}
	}
}

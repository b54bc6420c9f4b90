package crawler

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"skink/crawler/access"
	"skink/frontier"
)

// A host whose certificates are not checked gets no secrets in any request, and no other host needs
// no certificate because of it.
func TestInsecure(t *testing.T) {
	var asked []*http.Request
	serve := func(answer http.HandlerFunc) *httptest.Server {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r)
			answer(w, r)
		}))
		s.Config.ErrorLog = nil
		t.Cleanup(s.Close)
		return s
	}
	other := serve(func(http.ResponseWriter, *http.Request) {})
	own := serve(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "set"})
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, other.URL+"/", http.StatusFound)
		}
	})
	open := Options{
		AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Cookies: true,
		Insecure: []string{strings.TrimPrefix(own.URL, "https://")},
		Hosts:    access.Table{{Pattern: "*", Basic: &access.Basic{User: "me", Password: "hush"}, Headers: map[string]access.Secret{"X-Key": "hush", "Accept-Language": "de"}}},
	}
	f, err := newFetcher(open)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for _, path := range []string{"/", "/moved", "/"} {
		p := f.fetch(t.Context(), frontier.Item{URL: own.URL + path})
		if p.Problem != "" || !strings.Contains(p.Detail, "the certificate of the host was not checked") {
			t.Fatalf("%s: problem %q, detail %q", path, p.Problem, p.Detail)
		}
	}
	part := ask{url: own.URL + "/part", purpose: forPart, limit: 1 << 20, more: http.Header{"Authorization": {"hush"}}}
	if _, err := f.send(t.Context(), part); err != nil {
		t.Error(err)
	}
	for _, r := range asked {
		if _, _, has := r.BasicAuth(); has || r.Header.Get("Authorization") != "" || r.Header.Get("X-Key") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s was requested with secrets: %v", r.URL, r.Header)
		}
		same(t, "language", r.Header.Get("Accept-Language"), "de")
	}
	same(t, "requests", len(asked), 4)
	login := ask{url: own.URL + "/login", purpose: forLogin, method: http.MethodPost, limit: 1 << 20}
	if _, err := f.send(t.Context(), login); !isA[*LoginError](err) {
		t.Errorf("a login to the host: %v", err)
	}
	same(t, "problem of the other host", f.fetch(t.Context(), frontier.Item{URL: other.URL + "/"}).Problem, ProblemTLS)
	same(t, "requests after the login", len(asked), 4)
}

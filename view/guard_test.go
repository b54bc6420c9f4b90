package view

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"skink/internal/tools/storetest"
)

// ask sends a request. Before that, it calls the function change with the request.
func ask(t *testing.T, client *http.Client, method, address string, change func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// Each row of the table is a request that another site may make a browser send.
func TestRefusals(t *testing.T) {
	s := storetest.NewMemory()
	keep(t, s, testPage{url: "https://example.com/", title: "Start", text: words(0, 80)})
	_, server := newView(t, s, nil)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		what, method, path string
		change             func(*http.Request)
		want               int
	}{
		{"a page", "GET", "/pages", nil, 200},
		{"its head", "HEAD", "/pages", nil, 200},
		{"a name that resolves to us", "GET", "/pages", func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest},
		{"the same for the style sheet", "GET", "/style.css", func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest},
		{"localhost", "GET", "/pages", func(r *http.Request) { r.Host = "localhost:1" }, 200},
		{"a form where there is none", "POST", "/pages", nil, http.StatusMethodNotAllowed},
		{"another method", "DELETE", "/pages", nil, http.StatusMethodNotAllowed},
		{"a picture on another site", "GET", "/pages", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "no-cors")
		}, http.StatusForbidden},
		{"a link on another site", "GET", "/pages", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 200},
		{"a form on another site", "POST", "/pages", header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		{"no page", "GET", "/page/00000000000000000000000000000000", nil, 404},
		{"no id", "GET", "/page/%3Cscript%3E", nil, 404},
		{"no path", "GET", "/etc/passwd", nil, 404},
	} {
		resp := ask(t, server.Client(), c.method, server.URL+c.path, c.change)
		if resp.StatusCode != c.want {
			t.Errorf("%s: %s %s: %s, want %d", c.what, c.method, c.path, resp.Status, c.want)
		}
		if c.want == http.StatusMisdirectedRequest {
			continue
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", c.what, name, got, want)
			}
		}
	}
}

// The content security policy allows no inline content and no other origin.
func TestPolicy(t *testing.T) {
	for part := range strings.SplitSeq(policy, "; ") {
		name, source, _ := strings.Cut(part, " ")
		if source != "'none'" && source != "'self'" {
			t.Errorf("%s allows %s", name, source)
		}
	}
}

// If other machines can reach the view, it answers only browsers that send the token in the view's
// address.
func TestToken(t *testing.T) {
	_, server := newView(t, storetest.NewMemory(), func(o *Options) { o.Token = "right" })
	client := server.Client()
	for _, path := range []string{"/", "/pages", "/style.css", "/pages?token=wrong", "/pages?token="} {
		if resp := ask(t, client, "GET", server.URL+path, nil); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s without the token: %s", path, resp.Status)
		}
	}
	resp := ask(t, client, "GET", server.URL+"//pages?token=right", nil)
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("with the token: %s, cookies %v", resp.Status, cookies)
	}
	if to, err := url.Parse(resp.Header.Get("Location")); err != nil || to.Host != "" || to.Path != "/pages" || to.RawQuery != "" {
		t.Errorf("it leads to %q, want /pages", resp.Header.Get("Location"))
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is %v: scripts and other sites have it", c)
	}
	if resp := ask(t, client, "GET", server.URL+"/pages", func(r *http.Request) { r.AddCookie(c) }); resp.StatusCode != 200 {
		t.Errorf("with the cookie: %s", resp.Status)
	}
	if resp := ask(t, client, "GET", server.URL+"/pages", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: "wrong"}) }); resp.StatusCode != http.StatusForbidden {
		t.Errorf("with a wrong cookie: %s", resp.Status)
	}
}

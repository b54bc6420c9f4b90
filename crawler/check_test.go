package crawler

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/frontier"
)

// Pictures and other files, and linked pages of other sites, are checked with HEAD, or with GET if
// a server refuses HEAD. Robots.txt applies to these requests. Their redirects are not followed.
func TestCheck(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	log := func(name string, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				mu.Lock()
				asked = append(asked, r.Method+" "+name+r.URL.Path)
				mu.Unlock()
			}
			next(w, r)
		}
	}
	other := serve(t, log("other", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
		case "/moved":
			http.Redirect(w, r, "/never", http.StatusFound)
		case "/gone":
			http.NotFound(w, r)
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
		default:
			fmt.Fprint(w, `<a href=/never>`)
		}
	}))
	site := serve(t, log("site", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<a href=/page><a href=http://%[1]s/><a href=http://%[1]s/moved><a href=http://%[1]s/gone><a href=http://%[1]s/secret><a href=http://%[1]s/packed>`, other)
		case "/no-head.css":
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, strings.Repeat("a{}", 1<<20))
		case "/gone.png", "/robots.txt":
			http.NotFound(w, r)
		case "/shown":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<a href=/behind>`)
		case "/p.png":
			w.Header().Set("Content-Type", "image/png")
		default:
			fmt.Fprint(w, `a page`)
		}
	}))
	opt := Options{CheckAssets: true, CheckOthers: true, AllowHosts: []string{other, site}, Scope: newScope(t, ScopeHost, nil, nil, "http://"+site+"/")}
	var got []string
	err := walk(t.Context(), []string{"http://" + site}, opt, func(p *Page) (Links, error) {
		name := strings.NewReplacer("http://"+site, "site", "http://"+other, "other").Replace(p.Item.URL)
		kind := "page"
		if p.Item.Kind == frontier.Check {
			kind = "check"
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", kind, name, p.Status, p.Problem)))
		if kind == "check" && p.Body != nil {
			t.Errorf("%s has a body of %d bytes", name, len(p.Body))
		}
		links := found(p)
		links.Targets, links.Files = true, slices.Values([]string{"/p.png", "/gone.png", "/no-head.css", "/shown", "/page"})
		return links, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	same(t, "what became of it", strings.Join(got, "\n"), strings.Join([]string{
		"check other/ 200", "check other/gone 404 status", "check other/moved 302", "check other/packed 200", "check other/secret 0 robots.txt",
		"check site/gone.png 404 status", "check site/no-head.css 200", "check site/p.png 200",
		"page site/ 200", "page site/behind 200", "page site/page 200", "page site/shown 200",
	}, "\n"))
	slices.Sort(asked)
	same(t, "what was asked for", strings.Join(asked, "\n"), strings.Join([]string{
		"GET site/", "GET site/behind", "GET site/no-head.css", "GET site/page", "GET site/shown",
		"HEAD other/", "HEAD other/gone", "HEAD other/moved", "HEAD other/packed",
		"HEAD site/gone.png", "HEAD site/no-head.css", "HEAD site/p.png", "HEAD site/shown",
	}, "\n"))
}

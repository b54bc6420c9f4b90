package crawler

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"skink/crawler/access"
	"skink/crawler/wire"
)

// A cookieSite is a site that shows its pages only with a cookie, and the expected results of a
// crawl.
type cookieSite struct {
	name   string
	answer func(w http.ResponseWriter, r *http.Request, with func() bool) // with reports whether the request has the cookie
	pages  int                                                            // number of pages that a crawl with cookies finds
	asked  int                                                            // number of requests that a crawl with cookies makes at most
}

// hasCookie reports whether a request has a cookie with a value.
func hasCookie(r *http.Request, name, value string) bool {
	c, err := r.Cookie(name)
	return err == nil && c.Value == value
}

const linkedPages = `<title>page</title><a href=/1><a href=/2><a href=/3>`

// Pages behind a cookie are found only if the crawl keeps cookies. Redirects that lead to other
// pages stay redirects.
func TestCookieWalls(t *testing.T) {
	for _, site := range []cookieSite{
		{"a redirect to the same URL", func(w http.ResponseWriter, r *http.Request, with func() bool) {
			if !with() {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "secret-1", Path: "/"})
				http.Redirect(w, r, r.URL.String(), http.StatusFound)
				return
			}
			fmt.Fprint(w, linkedPages)
		}, 4, 6},
		{"two steps of consent", func(w http.ResponseWriter, r *http.Request, with func() bool) {
			switch {
			case r.URL.Path == "/consent":
				http.Redirect(w, r, "/agree?to="+r.FormValue("to"), http.StatusFound)
			case r.URL.Path == "/agree":
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "secret-1", Path: "/"})
				http.Redirect(w, r, r.FormValue("to"), http.StatusSeeOther)
			case !with():
				http.Redirect(w, r, "/consent?to="+r.URL.Path, http.StatusFound)
			default:
				fmt.Fprint(w, linkedPages)
			}
		}, 4, 9},
		{"a wall that never opens", func(w http.ResponseWriter, r *http.Request, with func() bool) {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		}, 0, 4},
		{"consent that robots.txt forbids", func(w http.ResponseWriter, r *http.Request, with func() bool) {
			switch {
			case r.URL.Path == "/no/consent":
				t.Error("a forbidden page was requested")
			case !with():
				http.Redirect(w, r, "/no/consent", http.StatusFound)
			}
		}, 0, 4},
		{"redirects that lead elsewhere", func(w http.ResponseWriter, r *http.Request, with func() bool) {
			if r.URL.Path == "/" {
				fmt.Fprint(w, `<a href=/old/1><a href=/old/2>`)
				return
			}
			if rest, ok := strings.CutPrefix(r.URL.Path, "/old"); ok {
				http.Redirect(w, r, rest, http.StatusMovedPermanently)
				return
			}
			fmt.Fprint(w, r.URL.Path)
		}, 3, 5},
		{"a chain of redirects", func(w http.ResponseWriter, r *http.Request, with func() bool) {
			switch r.URL.Path {
			case "/":
				fmt.Fprint(w, `<a href=/c1>`)
			case "/c1", "/c2", "/c3":
				http.SetCookie(w, &http.Cookie{Name: "same", Value: "always", Path: "/"})
				http.Redirect(w, r, fmt.Sprintf("/c%c", r.URL.Path[2]+1), http.StatusFound)
			default:
				fmt.Fprint(w, r.URL.Path)
			}
		}, 2, 8},
	} {
		t.Run(site.name, func(t *testing.T) {
			for _, cookies := range []bool{true, false} {
				var mu sync.Mutex
				asked := 0
				host := serve(t, func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					asked++
					mu.Unlock()
					if r.URL.Path == "/robots.txt" {
						fmt.Fprint(w, "User-agent: *\nDisallow: /no/")
						return
					}
					if !cookies && r.Header.Get("Cookie") != "" {
						t.Error("a cookie was sent")
					}
					w.Header().Set("Content-Type", "text/html")
					site.answer(w, r, func() bool { return hasCookie(r, "seen", "secret-1") })
				})
				opt := Options{Cookies: cookies, AllowHosts: []string{host}, Scope: newScope(t, ScopeHost, nil, nil, "http://"+host+"/")}
				pages := 0
				err := walk(t.Context(), []string{"http://" + host}, opt, func(p *Page) (Links, error) {
					if p.Status == http.StatusOK && p.Location == "" {
						pages++
					}
					return found(p), nil
				})
				if err != nil {
					t.Fatal(err)
				}
				want := site.pages
				if !cookies && !strings.Contains(site.name, "redirects") {
					want = 0
				}
				if pages != want {
					t.Errorf("cookies %v: %d pages, want %d", cookies, pages, want)
				}
				if asked > site.asked+1 { // one request more than before, for robots.txt
					t.Errorf("cookies %v: %d requests, at most %d are needed", cookies, asked, site.asked)
				}
			}
		})
	}
}

// Cookies from the settings are sent only to their host. The pages of that host are private, and
// raw requests do not contain the cookies.
func TestCookiesOfAFile(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			t.Errorf("the other host gets %s", r.Header.Get("Cookie"))
		}
		http.NotFound(w, r)
	})
	otherName := strings.Replace(other, "127.0.0.1", "localhost", 1)
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !hasCookie(r, "session", "secret-7") || r.Header.Get("Cookie") != "session=secret-7":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/away":
			http.Redirect(w, r, "http://"+otherName+"/", http.StatusFound)
		default:
			http.SetCookie(w, &http.Cookie{Name: "new", Value: "secret-10", Path: "/nowhere"})
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href=/away>`)
		}
	})
	var mu sync.Mutex
	var raw [][]byte
	opt := Options{
		AllowHosts: []string{site, otherName}, IgnoreRobots: true,
		Hosts: access.Table{{Pattern: site, Cookies: access.Cookies{
			{Name: "session", Value: "secret-7", Domain: "127.0.0.1", Path: "/"},
			{Name: "other", Value: "secret-8", Domain: "localhost", Path: "/"}, // a cookie of another host
		}}},
		Scope: newScope(t, ScopeAny, nil, nil, "http://"+site+"/"),
		OnAnswer: func(r *wire.Raw) {
			mu.Lock()
			defer mu.Unlock()
			raw = append(raw, r.Request)
		},
	}
	private := map[string]bool{}
	err := walk(t.Context(), []string{"http://" + site}, opt, func(p *Page) (Links, error) {
		private[p.Item.URL] = p.Private
		if p.Raw != nil {
			raw = append(raw, p.Raw.Request, p.Raw.Head)
		}
		if p.Item.URL == "http://"+site+"/" && p.Status != http.StatusOK {
			t.Errorf("%s: status %d", p.Item.URL, p.Status)
		}
		return found(p), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !private["http://"+site+"/"] || private["http://"+otherName+"/"] || len(private) < 3 {
		t.Errorf("private pages: %v", private)
	}
	masked, maskedNew := false, false
	for _, r := range raw {
		if bytes.Contains(r, []byte("secret-")) {
			t.Errorf("a raw request holds a cookie:\n%s", r)
		}
		masked = masked || bytes.Contains(r, []byte("\nCookie: ***"))
		maskedNew = maskedNew || bytes.Contains(r, []byte("Set-Cookie: ***"))
	}
	if !masked || !maskedNew {
		t.Errorf("no raw request or answer says that there was a cookie: %q", raw)
	}
}

// Cookies of a section, from its settings, set by its hosts or by its login, are sent only to its
// hosts. Cookies of other hosts are not sent to its hosts.
func TestCookiesOfSections(t *testing.T) {
	member := access.Host{
		Pattern: "*.in.a.test", Login: &access.Login{Page: "http://sso.a.test/"},
		Cookies: access.Cookies{{Name: "file", Value: "1", Domain: ".in.a.test", Path: "/"}},
	}
	sets := map[string]string{"cas.in.a.test": "cas", "www.a.test": "public", "sso.a.test": "sso"}
	got := ""
	with := func(hosts ...access.Host) *fetcher {
		f := testFetcher(t, func(o *Options) { o.Hosts, o.Cookies = hosts, true })
		f.do = func(x *wire.Exchange) error {
			got = x.Request.Header.Get("Cookie")
			x.Status, x.Header = http.StatusOK, http.Header{}
			if name := sets[x.Request.URL.Hostname()]; name != "" {
				x.Header.Set("Set-Cookie", name+"=1; Domain=a.test; Path=/; Max-Age=3600")
			}
			return nil
		}
		return f
	}
	check := func(f *fetcher, host, want string) {
		t.Helper()
		if _, err := f.send(t.Context(), ask{url: "http://" + host + "/"}); err != nil {
			t.Fatal(err)
		}
		same(t, host, got, want)
	}
	f := with(member)
	check(f, "cas.in.a.test", "file=1")
	check(f, "app.in.a.test", "file=1; cas=1")
	check(f, "www.a.test", "")
	check(f, "shop.a.test", "public=1")
	check(f, "app.in.a.test:8080", "file=1; cas=1")
	h := f.opt.Hosts.For("app.in.a.test:80")
	if _, _, err := f.loginExchange(t.Context(), &h, http.MethodGet, h.Login.Page, nil); err != nil {
		t.Fatal(err)
	}
	check(f, "app.in.a.test", "file=1; cas=1; sso=1")
	check(f, "shop.a.test", "public=1")
}

package crawler

import (
	"bufio"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"skink/crawler/access"
	"skink/internal/tools/wiretest"
)

// A testProxy is a proxy on loopback that requires a password, and records its requests.
type testProxy struct {
	listener net.Listener
	password string

	mu    sync.Mutex
	asked []string // guarded by mu
}

func (p *testProxy) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, what)
}

func (p *testProxy) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, "\n")
}

// url returns the URL of the proxy with a user and the right password.
func (p *testProxy) url(scheme string) access.Proxy {
	return access.NewProxy(&url.URL{Scheme: scheme, Host: p.listener.Addr().String(), User: url.UserPassword("me", p.password)})
}

// startProxy starts a proxy that calls serve for each connection.
func startProxy(t *testing.T, serve func(*testProxy, net.Conn)) *testProxy {
	t.Helper()
	p := &testProxy{password: "secret-proxy"}
	p.listener = wiretest.Listen(t, func(conn net.Conn) { serve(p, conn) })
	return p
}

// serveHTTPProxy serves CONNECT, and requests in the absolute form.
func serveHTTPProxy(p *testProxy, conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+p.password))
		if r.Header.Get("Proxy-Authorization") != want {
			p.note("refused")
			fmt.Fprint(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		p.note(r.Method + " " + r.RequestURI)
		address := r.Host
		if r.Method == http.MethodConnect {
			to, err := net.Dial("tcp", address)
			if err != nil {
				fmt.Fprint(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
				return
			}
			fmt.Fprint(conn, "HTTP/1.1 200 Connected\r\n\r\n")
			wiretest.Join(conn, to)
			return
		}
		if !strings.Contains(address, ":") {
			address += ":80"
		}
		to, err := net.Dial("tcp", address)
		if err != nil {
			fmt.Fprint(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			return
		}
		r.Header.Del("Proxy-Authorization")
		_ = r.Write(to)
		resp, err := http.ReadResponse(bufio.NewReader(to), r)
		if err == nil {
			_ = resp.Write(conn)
		}
		_ = to.Close()
	}
}

// serveSOCKS serves SOCKS5 with a password.
func serveSOCKS(p *testProxy, conn net.Conn) {
	_ = wiretest.ServeSOCKS(conn, p.password, func(address string) { p.note("connect " + address) })
}

// Sites with http and https are reached through each kind of proxy with a password, and never
// directly.
func TestProxies(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the site gets the password of the proxy")
		}
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, linkedPages)
	})
	for _, kind := range []struct {
		scheme string
		serve  func(*testProxy, net.Conn)
		secure bool
		asked  string // one of the requests that the proxy records
	}{
		{"http", serveHTTPProxy, false, "GET http://HOST/1"},
		{"http", serveHTTPProxy, true, "CONNECT HOST"},
		{"socks5", serveSOCKS, false, "connect HOST"},
		{"socks5", serveSOCKS, true, "connect HOST"},
	} {
		t.Run(fmt.Sprintf("%s, https %v", kind.scheme, kind.secure), func(t *testing.T) {
			proxy := startProxy(t, kind.serve)
			site := httptest.NewUnstartedServer(page)
			if kind.secure {
				site.StartTLS()
			} else {
				site.Start()
			}
			t.Cleanup(site.Close)
			host := site.Listener.Addr().String()
			opt := Options{Proxies: access.ProxyChoice{List: []access.Proxy{proxy.url(kind.scheme)}}, Scope: newScope(t, ScopeHost, nil, nil, site.URL)}
			if kind.secure {
				opt.Roots = x509.NewCertPool()
				opt.Roots.AddCert(site.Certificate())
			}
			pages := 0
			err := walk(t.Context(), []string{site.URL}, opt, func(p *Page) (Links, error) {
				if p.Status == http.StatusOK {
					pages++
				} else {
					t.Errorf("%s: %s %s", p.Item.URL, p.Problem, p.Detail)
				}
				return found(p), nil
			})
			if err != nil || pages != 4 {
				t.Errorf("%d pages, %v; the proxy was asked for\n%s", pages, err, proxy.all())
			}
			if want := strings.ReplaceAll(kind.asked, "HOST", host); !strings.Contains(proxy.all(), want) {
				t.Errorf("the proxy was not asked for %s but for\n%s", want, proxy.all())
			}
		})
	}
}

// The error shows whether a password was wrong, a proxy is down or a site is down, and never
// contains the password. If a proxy fails, a host uses the next one from then on.
func TestProxyFails(t *testing.T) {
	site := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "a page") })
	good, bad := startProxy(t, serveHTTPProxy), startProxy(t, serveHTTPProxy)
	wrong := access.NewProxy(&url.URL{Scheme: "http", Host: bad.listener.Addr().String(), User: url.UserPassword("me", "secret-wrong")})
	down := startProxy(t, serveHTTPProxy)
	_ = down.listener.Close()
	for _, test := range []struct {
		name    string
		proxies []access.Proxy
		tries   int
		want    string // part of the detail of the last try; "" if the page was fetched
	}{
		{"a wrong password", []access.Proxy{wrong}, 1, "the proxy returned 407"},
		{"a proxy that is down", []access.Proxy{down.url("http")}, 1, "connection refused"},
		{"a SOCKS proxy that is down", []access.Proxy{down.url("socks5")}, 1, "connection refused"},
		{"the next is good", []access.Proxy{down.url("http"), wrong, good.url("http")}, 3, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := testFetcher(t, func(o *Options) { o.Proxies.List = test.proxies }, site)
			var page *Page
			for range test.tries {
				page = f.fetch(t.Context(), item("http://"+site+"/"))
			}
			if test.want == "" {
				if page.Problem != "" {
					t.Errorf("%s %s", page.Problem, page.Detail)
				}
				if again := f.fetch(t.Context(), item("http://"+site+"/")); again.Problem != "" {
					t.Errorf("the host leaves a proxy that works: %s", again.Detail)
				}
				return
			}
			if page.Problem != ProblemConnect || !strings.Contains(page.Detail, test.want) || !strings.Contains(page.Detail, "proxy ") || strings.Contains(page.Detail, "secret") {
				t.Errorf("problem %q, detail %q, want %q and %s", page.Problem, page.Detail, ProblemConnect, test.want)
			}
		})
	}
}

// Names with a private address, and private addresses themselves, are refused without a request to
// the proxy.
func TestProxyGuard(t *testing.T) {
	for scheme, serving := range map[string]func(*testProxy, net.Conn){"http": serveHTTPProxy, "socks5": serveSOCKS} {
		proxy := startProxy(t, serving)
		f := testFetcher(t, func(o *Options) { o.Proxies.List = []access.Proxy{proxy.url(scheme)} }, "allowed.example")
		for _, target := range []string{"http://localhost:1/", "https://localhost:1/", "http://127.0.0.1:1/", "https://10.0.0.1/", "http://[::1]:1/"} {
			if page := f.fetch(t.Context(), item(target)); page.Problem != ProblemPrivate {
				t.Errorf("%s through %s: %q %s", target, scheme, page.Problem, page.Detail)
			}
		}
		if asked := proxy.all(); asked != "" {
			t.Errorf("the %s proxy was asked for %s", scheme, asked)
		}
	}
}

// The proxies in the settings of a host take precedence over those of the crawl, even if the list
// is empty.
func TestProxyOfHost(t *testing.T) {
	all, own := access.NewProxy(&url.URL{Scheme: "http", Host: "all:1"}), access.NewProxy(&url.URL{Scheme: "http", Host: "own:1"})
	p := newProxyPicker(&Options{
		Proxies: access.ProxyChoice{List: []access.Proxy{all}},
		Hosts:   access.Table{{Pattern: "own.example", Proxies: []access.Proxy{own}}, {Pattern: "direct.example", Proxies: []access.Proxy{}}},
	})
	for host, want := range map[string]string{"own.example:443": "http://own:1", "direct.example:80": "", "other.example:80": "http://all:1"} {
		got := ""
		if u := p.For(host); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	if newProxyPicker(&Options{Hosts: access.Table{{Pattern: "*", Proxies: []access.Proxy{}}}}) != nil {
		t.Error("without a proxy there is a picker")
	}
	t.Setenv("HTTPS_PROXY", "http://env:1")
	t.Setenv("NO_PROXY", "not.example")
	p = newProxyPicker(&Options{Proxies: access.ProxyChoice{FromEnv: true}})
	if u := p.For("a.example:443"); u == nil || u.Host != "env:1" {
		t.Errorf("by the environment: %v", u)
	}
	if u := p.For("not.example:443"); u != nil {
		t.Errorf("NO_PROXY: %v", u)
	}
}

// A trailing dot of a host's name does not change which proxy it has.
func TestProxyOfDottedHost(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	t.Setenv("NO_PROXY", "inside.example")
	env := newProxyPicker(&Options{Proxies: access.ProxyChoice{FromEnv: true}})
	list := newProxyPicker(&Options{
		Proxies: access.ProxyChoice{List: []access.Proxy{access.NewProxy(&url.URL{Scheme: "http", Host: "192.0.2.1:3128"})}},
		Hosts:   access.Table{{Pattern: "inside.example", Proxies: []access.Proxy{}}},
	})
	for host, proxied := range map[string]bool{"localhost:81": false, "localhost.:81": false, "inside.example.:81": false, "other.example.:81": true} {
		if got := env.For(host) != nil; got != proxied {
			t.Errorf("%s: proxy from the environment %v", host, got)
		}
		if got := list.For(host) != nil; got != proxied && host != "localhost:81" && host != "localhost.:81" {
			t.Errorf("%s: proxy from the list %v", host, got)
		}
	}
}

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skink/crawler/render"
	"skink/internal/tools/postgrestest"
	"skink/internal/tools/wiretest"
)

// These are the hosts of the web. All are loopback.
const (
	siteHostName   = "site.web.localhost"   // has secrets, and most of the requested URLs
	otherHostName  = "other.web.localhost"  // has other secrets
	evilHostName   = "evil.web.localhost"   // has no secrets
	quietHostName  = "quiet.web.localhost"  // has a single page
	memberHostName = "member.web.localhost" // requires a login
	gateHostName   = "gate.web.localhost"   // links to the https pages of the other hosts
	alsoHostName   = "also.web.localhost"   // has no secrets, and a page that loads files of site
	slowHostName   = "slow.web.localhost"   // has a Crawl-delay
	farHostName    = "far.localhost"        // is outside the scope, and has secrets
)

const (
	matrixDelay = 200 * time.Millisecond
	slowDelay   = 1500 * time.Millisecond // Crawl-delay of slowHostName
)

// A secret is a value that only its owner may get. Its parts are letters and digits, so they look
// the same in most encodings.
type secret struct {
	name, value string
	owner       string // the host that gets the secret
	always      bool   // each request to the owner carries the secret
}

// An ask is a request that a server has received.
type ask struct {
	at               time.Time
	round            int
	host, name, path string // host is name:port
	scheme, method   string
	page             string   // the host of the page of which this is a part, for a part that only this page loads
	carried          []string // names of the secrets in the request
}

// A stall is a time for which this process got no processor.
type stall struct {
	at   time.Time // the end
	late time.Duration
}

// A matrixWeb is a web of several hosts that log their requests, and the crawl of this web.
type matrixWeb struct {
	set       condition
	delay     time.Duration
	dir       string
	store     string
	database  *postgrestest.Server // nil if the store is a folder
	browses   bool                 // pages are rendered in a browser, whose start takes seconds
	secrets   []secret
	plain     *httptest.Server
	secure    *httptest.Server
	exclusion int // the first round with --exclude
	said      transcript

	mu     sync.Mutex
	stalls []stall        // guarded by mu
	round  int            // guarded by mu
	asks   []*ask         // guarded by mu
	seen   map[string]int // guarded by mu: number of requests by URL
	due    chan struct{}  // guarded by mu: closed when left reaches 0
	left   int            // guarded by mu
}

func newMatrixWeb(t *testing.T, set condition) *matrixWeb {
	w := &matrixWeb{set: set, delay: matrixDelay, dir: t.TempDir(), seen: map[string]int{}}
	w.secrets = []secret{
		{"the token of site", "Qz7siteTokenAa/+Qz7siteTokenBb", siteHostName, true},
		{"the password of site", "Qz7sitePasswordAa@&Qz7sitePasswordBb", siteHostName, true},
		{"the cookie of site", "Qz7siteCookieAa", siteHostName, true},
		{"the token of other", "Qz7otherTokenAa=%Qz7otherTokenBb", otherHostName, true},
		{"the password of other", "Qz7otherPasswordAa", otherHostName, true},
		{"the token of far", "Qz7farTokenAa", farHostName, true},
		{"the password of the form", "Qz7formPasswordAa &+Qz7formPasswordBb", memberHostName, false},
		{"the session after the login", "Qz7memberSessionAa", memberHostName, false},
		{"the password of the proxy", "Qz7proxyPasswordAa@/Qz7proxyPasswordBb", "the proxy", false},
	}
	_, err := render.Find()
	w.browses = err == nil && (set&(foreign|redirected|shared) != 0 || os.Getenv("SKINK_LONG") != "")
	if set.has(shared) {
		w.delay = 400 * time.Millisecond
		w.database = postgrestest.Start(t)
		w.store = w.database.URL("web")
	} else {
		w.store = filepath.Join(w.dir, "store")
	}
	w.plain, w.secure = httptest.NewUnstartedServer(w), httptest.NewUnstartedServer(w)
	keep := func(c context.Context, conn net.Conn) context.Context { return context.WithValue(c, connKey{}, conn) }
	w.plain.Config.ConnContext, w.secure.Config.ConnContext = keep, keep
	w.plain.Start()
	t.Cleanup(w.plain.Close)
	w.secure.TLS = &tls.Config{Certificates: []tls.Certificate{w.certificate(t)}}
	w.secure.StartTLS()
	t.Cleanup(w.secure.Close)
	w.configure(t)
	go w.watchStalls(t.Context())
	return w
}

// watchStalls measures how late this process wakes up, until the test ends.
func (w *matrixWeb) watchStalls(ctx context.Context) {
	const nap = 5 * time.Millisecond
	for ctx.Err() == nil {
		began := time.Now()
		time.Sleep(nap)
		if late := time.Since(began) - nap; late > nap {
			w.mu.Lock()
			w.stalls = append(w.stalls, stall{time.Now(), late})
			w.mu.Unlock()
		}
	}
}

// stalled returns the longest stall that ended between two times.
func (w *matrixWeb) stalled(from, to time.Time) (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.stalls {
		if s.at.After(from) && s.at.Before(to.Add(s.late)) {
			longest = max(longest, s.late)
		}
	}
	return longest
}

// certificate returns a certificate for all hosts, and writes it into the file ca.pem.
func (w *matrixWeb) certificate(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "matrix"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"*.web.localhost", farHostName},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (w *matrixWeb) write(t *testing.T, name, text string) {
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *matrixWeb) secret(name string) string {
	i := slices.IndexFunc(w.secrets, func(s secret) bool { return s.name == name })
	return w.secrets[i].value
}

// at returns the URL of a host, without a final slash.
func (w *matrixWeb) at(scheme, name string) string {
	server := w.plain
	if scheme == "https" {
		server = w.secure
	}
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	return scheme + "://" + name + ":" + port
}

// configure writes the configuration. One token is literal. The other secrets are in environment
// variables.
func (w *matrixWeb) configure(t *testing.T) {
	login := w.at("http", memberHostName)
	if w.set.has(downgrade) {
		login = w.at("https", memberHostName)
	}
	render, proxy := "off", ""
	if w.browses {
		render = "auto"
	}
	if w.set.has(proxied) {
		proxy = fmt.Sprintf("proxy = \"http://me:${PROXY_PASSWORD}@%s\"\n", w.startProxy(t))
	}
	w.write(t, "cookies.txt", fmt.Sprintf("# Netscape HTTP Cookie File\n%s\tFALSE\t/\tFALSE\t0\tkeep\t%s\n", siteHostName, w.secret("the cookie of site")))
	flags := fmt.Sprintf(`delay = %q
max-delay = "5s"
scope = "domain"
allow-private = ["127.0.0.0/8"]
ca-file = "ca.pem"
budget = "off"
markdown = true
warc = %q
render = %q
%s`, w.delay, filepath.Join(w.dir, "archive"), render, proxy)
	hosts := fmt.Sprintf(`
[host.%q]
headers = { "X-Token" = %q }
user = "me"
password = "${SITE_PASSWORD}"
cookies = "cookies.txt"

[host.%q]
headers = { "X-Token" = "${OTHER_TOKEN}" }
user = "me"
password = "${OTHER_PASSWORD}"

[host.%q]
headers = { "X-Token" = "${FAR_TOKEN}" }

[host.%q.login]
page = "%s/x/login"
fields = { user = "me", password = "${FORM_PASSWORD}" }
`, siteHostName, w.secret("the token of site"), otherHostName, farHostName, memberHostName, login)
	w.write(t, "skink.toml", flags+hosts)
	w.write(t, "from.toml", hosts)
}

// startProxy starts an HTTP proxy that requires the password, and returns its address.
func (w *matrixWeb) startProxy(t *testing.T) string {
	want := "Basic " + base64Of("me:"+w.secret("the password of the proxy"))
	dial := func(address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return net.Dial("tcp", "127.0.0.1:"+port)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.In.Host
			r.Out.Header.Set("X-Arrived", arrived(r.In).Format(time.RFC3339Nano))
		},
		Transport: &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) { return dial(address) }, DisableCompression: true},
	}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != want {
			t.Errorf("the proxy gets a request for %s without the password", r.Host)
			rw.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			forward.ServeHTTP(rw, r)
			return
		}
		to, err := dial(r.Host)
		if err != nil {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		client, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(client, "HTTP/1.1 200 OK\r\n\r\n")
		wiretest.Join(client, to)
	}))
	proxy.Config.ConnContext = w.plain.Config.ConnContext
	proxy.Start()
	t.Cleanup(proxy.Close)
	return proxy.Listener.Addr().String()
}

func (w *matrixWeb) env() []string {
	env := os.Environ()
	for variable, name := range map[string]string{
		"SITE_PASSWORD": "the password of site", "OTHER_TOKEN": "the token of other", "OTHER_PASSWORD": "the password of other",
		"FAR_TOKEN": "the token of far", "FORM_PASSWORD": "the password of the form", "PROXY_PASSWORD": "the password of the proxy",
	} {
		env = append(env, variable+"="+w.secret(name))
	}
	return env
}

// made returns the logged requests for which match returns true, in order.
func (w *matrixWeb) made(match func(*ask) bool) (all []*ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asks {
		if match(a) {
			all = append(all, a)
		}
	}
	return all
}

// connKey is the key of the connection among the values of a request's context.
type connKey struct{}

// arrived returns the time at which a request arrived at the first server of this test, which may be
// the proxy.
func arrived(r *http.Request) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, r.Header.Get("X-Arrived")); err == nil {
		return at
	}
	switch conn := r.Context().Value(connKey{}).(type) {
	case *tls.Conn:
		return arrivedAt(conn.NetConn().(*net.TCPConn))
	case *net.TCPConn:
		return arrivedAt(conn)
	}
	return time.Now()
}

// ServeHTTP logs a request and answers it.
func (w *matrixWeb) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	a := &ask{at: arrived(r), host: r.Host, path: r.URL.Path, method: r.Method, scheme: "http", page: r.URL.Query().Get("page")}
	a.name, _, _ = net.SplitHostPort(r.Host)
	if r.TLS != nil {
		a.scheme = "https"
	}
	sent, err := httputil.DumpRequest(r, true)
	if err != nil {
		return
	}
	for _, s := range w.secrets {
		if s.in(sent) {
			a.carried = append(a.carried, s.name)
		}
	}
	w.mu.Lock()
	a.round = w.round
	w.asks = append(w.asks, a)
	w.seen[r.Host+a.path]++
	times := w.seen[r.Host+a.path]
	if w.left--; w.left == 0 {
		close(w.due)
	}
	w.mu.Unlock()
	w.answer(rw, r, a, times)
}

// from returns the URL of the host whose pages cause the requests.
func (w *matrixWeb) from() string {
	switch {
	case w.set.has(foreign):
		return w.at("http", evilHostName)
	case w.set.has(downgrade):
		return w.at("https", siteHostName)
	}
	return w.at("http", siteHostName)
}

// answer answers a request. URLs below /x/ are the requested URLs of the table's rows. URLs below
// /landed/ are the targets of their redirects.
func (w *matrixWeb) answer(rw http.ResponseWriter, r *http.Request, a *ask, times int) {
	site := w.at("http", siteHostName)
	rw.Header().Set("Access-Control-Allow-Origin", "*")
	switch file := path.Base(a.path); {
	case strings.HasPrefix(a.path, "/x/login"):
		w.login(rw, r)
	case a.path == "/x/retry" && times == 1:
		rw.WriteHeader(http.StatusInternalServerError)
	case w.set.has(redirected) && (a.name == siteHostName && (strings.HasPrefix(a.path, "/x/") || a.path == "/robots.txt") || a.name == farHostName && a.path == "/x/external"):
		to := "/landed/" + strings.TrimPrefix(strings.TrimPrefix(r.URL.RequestURI(), "/"), "x/")
		http.Redirect(rw, r, w.at("http", otherHostName)+to, http.StatusFound)
	case file == "robots.txt":
		fmt.Fprintf(rw, "User-agent: *\nDisallow: /never/\n")
		if a.name == slowHostName {
			fmt.Fprintf(rw, "Crawl-delay: %v\n", slowDelay.Seconds())
		}
		if strings.Contains(w.from(), "://"+a.name+":") || strings.HasPrefix(a.path, "/landed/") {
			fmt.Fprintf(rw, "Sitemap: %s/x/sitemap.xml\n", site)
		}
	case a.path == "/sitemap.xml", file == "favicon.ico":
		http.NotFound(rw, r)
	case file == "sitemap.xml":
		rw.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(rw, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%s/listed</loc></url></urlset>`, site)
	case a.path == "/go":
		http.Redirect(rw, r, site+"/x/redirect", http.StatusFound)
	case path.Ext(file) == ".css":
		rw.Header().Set("Content-Type", "text/css")
		fmt.Fprintf(rw, "body { background: url(%s/x/requisite.png) } /* %s */", site, w.told(a))
	case path.Ext(file) == ".png":
		rw.Header().Set("Content-Type", "image/png")
		fmt.Fprint(rw, picture(9, 9, color.RGBA{9, 9, byte(len(file)), 255}))
	case file == "part.js":
		rw.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(rw, "document.getElementById('app').insertAdjacentHTML('beforeend', '<p>%s')", w.told(a)+softWords(r.URL.RawQuery, 60))
	case file == "api":
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, "%q", w.told(a)+softWords(a.path, 60))
	case strings.Contains(a.path, "/item/"):
		w.page(rw, a, "Nothing here", softWords("nothing", 80))
	case a.path == "/app":
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<title>App</title><div id=app></div><script>
			for (let n = 0; n < 3; n++) {
				const part = document.body.appendChild(document.createElement('script'))
				part.onload = () => part.remove() // a script that stays would be a requisite too
				part.src = '%[1]s/x/part.js?page=%[2]s&n=' + n
			}
			fetch('%[1]s/x/api').then(r => r.json()).then(t => document.getElementById('app').insertAdjacentHTML('beforeend', '<p>' + t))
		</script>`, site, a.name)
	default:
		w.page(rw, a, "Page "+a.path, softWords(a.name+a.path, 80)+w.links(a, times))
	}
}

// page writes a page with a text that depends on whether the request has the secrets of the host.
func (w *matrixWeb) page(rw http.ResponseWriter, a *ask, title, text string) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("ETag", `"1"`)
	if strings.Contains(text, "<img") {
		rw.Header().Del("ETag")
	}
	fmt.Fprintf(rw, "<!doctype html><html lang=en><title>%s</title><main><p>%s %s</main>", title, w.told(a), text)
}

// These words are in the texts of private and of public pages.
const privateWord, publicWord = "Qzprivatetext", "Qzpublictext"

// told returns privateWord if a request has the secrets of its host.
func (w *matrixWeb) told(a *ask) string {
	if slices.ContainsFunc(a.carried, func(name string) bool {
		return strings.HasSuffix(name, " of site") || strings.HasSuffix(name, " of other") || strings.HasPrefix(name, "the session")
	}) {
		return privateWord + " "
	}
	return publicWord + " "
}

// links returns the links of a page. Most are on the home page of the host that causes the
// requests.
func (w *matrixWeb) links(a *ask, times int) string {
	site, far, here := w.at("http", siteHostName), w.at("http", farHostName), w.at(a.scheme, a.name)
	var hrefs []string
	switch {
	case a.path == "/" && a.name == gateHostName:
		for _, name := range []string{siteHostName, otherHostName, memberHostName, farHostName, quietHostName} {
			hrefs = append(hrefs, w.at("https", name)+"/")
		}
	case a.path == "/" && a.name == slowHostName:
		hrefs = []string{"/1"}
	case a.path == "/" && a.name == memberHostName:
		hrefs = []string{"/inside"}
	case a.path == "/dress":
		return fmt.Sprintf(`<link rel=stylesheet href="%s/x/requisite.css"><img src="%s/x/asset-%d.png" alt=picture>`, site, site, times)
	case a.path == "/" && here == w.from():
		hrefs = []string{site + "/x/link", here + "/go", site + "/x/retry", here + "/dress", here + "/app", far + "/x/external", w.at("http", quietHostName) + "/x/quiet", w.at("http", alsoHostName) + "/app"}
		for _, item := range []string{"apple", "berry", "cherry", "damson", "elder", "figs"} {
			hrefs = append(hrefs, site+"/x/item/"+item)
		}
	}
	var b strings.Builder
	for _, href := range hrefs {
		fmt.Fprintf(&b, ` <a href="%s">%s%s</a>`, href, w.told(a), softWords(href, 2))
	}
	return b.String()
}

// login answers the requests of a login. If the web redirects, the form is sent with GET, and the
// answer is a redirect to an invalid URL that repeats the query.
func (w *matrixWeb) login(rw http.ResponseWriter, r *http.Request) {
	method := "post"
	if w.set.has(redirected) {
		method = "get"
	}
	switch {
	case r.URL.Path == "/x/login":
		action := "/x/login/in"
		if w.set.has(downgrade) {
			action = w.at("http", memberHostName) + action
		}
		fmt.Fprintf(rw, "<form method=%s action=%q><input name=user><input name=password type=password></form>", method, action)
	case r.FormValue("password") != w.secret("the password of the form"):
		rw.WriteHeader(http.StatusUnauthorized)
	case w.set.has(redirected):
		rw.Header().Set("Location", "http://"+otherHostName+":123456/landed/login?"+r.URL.RawQuery)
		rw.WriteHeader(http.StatusFound)
	default:
		http.SetCookie(rw, &http.Cookie{Name: "session", Value: w.secret("the session after the login"), Path: "/"})
		fmt.Fprintf(rw, "Welcome.")
	}
}

// crawl makes the rounds of the crawl that the condition asks for.
func (w *matrixWeb) crawl(t *testing.T) {
	var first []string
	if w.set.has(downgrade) {
		w.start(t, "--check-external", w.at("https", gateHostName)+"/", w.at("http", evilHostName)+"/")
		first = []string{"--add"}
	}
	site := w.at("http", siteHostName)
	seeds := []string{site + "/", site + "/x/revisit", site + "/x/seed", w.at("http", evilHostName) + "/", w.at("http", memberHostName) + "/", w.at("http", slowHostName) + "/"}
	if w.set.has(downgrade) {
		seeds[4] = w.at("https", memberHostName) + "/"
	}
	again := []string{"--recrawl", "0s", "--check-assets", "--check-external"}
	if !w.set.has(excluded) {
		w.start(t, slices.Concat(first, []string{"--requisites"}, seeds)...)
		w.start(t, again...)
		return
	}
	w.start(t, slices.Concat(first, []string{"--max-host-pages", "2"}, seeds)...)
	w.exclusion = w.round + 1
	w.start(t, "--requisites", "--exclude", "/x/")
	w.start(t, append(again, "--exclude", "/x/")...)
}

// start runs a round of the crawl until it ends, with two workers or with restarts if the condition
// asks for it.
func (w *matrixWeb) start(t *testing.T, args ...string) {
	w.mu.Lock()
	w.round++
	w.mu.Unlock()
	workers := []string{"one"}
	if w.set.has(shared) {
		workers = append(workers, "two")
	}
	var all sync.WaitGroup
	for _, name := range workers {
		all.Go(func() {
			flags := []string{"crawl", "--config", filepath.Join(w.dir, "skink.toml"), "--store", w.store, "--log-format", "json", "--log-urls", "--metrics", "127.0.0.1:0"}
			if name == "one" {
				flags = append(flags, "--feed", filepath.Join(w.dir, "feed.jsonl"), "--crawl-log", filepath.Join(w.dir, "crawl.log"))
			}
			flags = append(flags, args...)
			for n := range w.kills(name) {
				w.process(t, w.after(6*(n+1)), w.named(flags, fmt.Sprint(name, n)))
			}
			w.process(t, nil, w.named(flags, name))
		})
	}
	all.Wait()
}

// named adds the name of a worker to the flags. A worker that replaces a killed one needs a name of
// its own.
func (w *matrixWeb) named(flags []string, name string) []string {
	if w.set.has(shared) {
		return append(slices.Clone(flags), "--worker", name)
	}
	return flags
}

func (w *matrixWeb) kills(worker string) int {
	if w.set.has(restarted) && worker == "one" {
		return 3
	}
	return 0
}

// after returns a channel that is closed after some further requests.
func (w *matrixWeb) after(requests int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.due = requests, make(chan struct{})
	return w.due
}

var metricsURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+/metrics`)

// process runs a crawl until it ends, or until due is closed, and kills it then. It keeps what the
// crawl prints and serves as metrics.
func (w *matrixWeb) process(t *testing.T, due <-chan struct{}, args []string) {
	cmd := exec.Command("skink", args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	var said transcript
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	metrics := ""
	for {
		select {
		case err := <-ended:
			if killed, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && due != nil && killed.ExitCode() == -1) {
				t.Errorf("skink %s: %v\n%s", strings.Join(args, " "), err, said.String())
			}
			_, _ = w.said.Write([]byte(said.String() + metrics))
			return
		case <-due:
			due = make(chan struct{}) // an ended process is expected from now on
			_ = cmd.Process.Kill()
		case <-tick.C:
			if url := metricsURL.FindString(said.String()); url != "" {
				if text, err := metricsText(url); err == nil {
					metrics = text
				}
				_ = cmd.Process.Signal(syscall.SIGUSR1)
			}
		}
	}
}

func metricsText(url string) (string, error) {
	answer, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

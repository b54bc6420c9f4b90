package hostile

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"skink/crawler"
	"skink/dedup"
	"skink/frontier"
	"skink/internal/ingest"
	"skink/internal/tools/storetest"
	"skink/store"
	"skink/store/badger"
)

// # Hostile servers
//
// One server on loopback serves many sites. Each of them tries to harm a crawler: it is slow,
// endless or broken, or it lies. A case is one such site, under the name CASE.localhost.
// [TestHostile] crawls each site by itself, from the socket to the store. It checks the records,
// the time, the bytes read off the wire, and the memory allocated in all, including the server's.
// [TestHostileAtOnce] crawls all sites together, with an honest site among them, which must not
// suffer. The table of the cases is testdata/hostile.md; go test -run HostileTable -update writes
// it.
//
// The cases in answer_test.go are about answers, in page_test.go about pages and URLs, in
// robots_test.go about robots.txt, and in private_test.go about addresses that must not be reached.
// The cases in other_test.go need tests of their own.

// A hostile is a site with the expected results of its crawl.
type hostile struct {
	name  string // first label of the site's host name
	does  string // behavior of the site, for the table
	skink string // reaction of the crawler, for the table

	seeds  []string // paths of the seeds; nil means "/"
	answer http.HandlerFunc
	want   string                           // a line for each record; see [lineOf]
	check  func(t *testing.T, crawl *crawl) // checks other results of the crawl; may be nil

	hangs   bool   // the site never answers, so the crawl uses impatience as its timeout
	maxSize int64  // limit for bodies in bytes; 0 means hostileMaxSize
	alloc   uint64 // number of bytes that may be allocated; 0 means maxAlloc
}

const (
	hostileMaxSize = 1 << 20
	hostileTimeout = 20 * time.Second // generous, because only sites that never answer take so long
	impatience     = time.Second      // enough for the head of an answer, even on a busy machine

	maxTime  = 5 * time.Minute // limit for busy machines; on an idle one, each case takes less than two seconds
	maxAlloc = 64 << 20        // largest number of bytes that a crawl may allocate
	maxWire  = 16 << 20        // bytes; enough for the limits of bodies and for the buffers of two sockets
)

// hostiles returns all cases, in the order of the table.
func hostiles() []hostile {
	return slices.Concat(slowAnswers(), longAnswers(), encodedAnswers(), brokenAnswers(), redirects(), monsterPages(), misnamedPages(), traps(), robotsFiles(), addresses())
}

// A hostileServer serves the sites of all cases.
type hostileServer struct {
	port  string
	sites map[string]http.HandlerFunc // handlers by the first label of the host name
	wire  atomic.Int64                // number of bytes written
	stop  func()                      // stops the server and waits for its handlers

	busy sync.WaitGroup // running handlers, including those that took over their connection

	mu    sync.Mutex
	asked map[string]int // guarded by mu: number of requests, by URL without scheme and port
	heads []http.Header  // guarded by mu: headers of all requests
}

func startHostile(t testing.TB, cases []hostile) *hostileServer {
	s := &hostileServer{sites: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	for _, c := range cases {
		s.sites[c.name] = c.answer
	}
	bombs() // prepare the large bodies now, so that this is not measured
	millionAttributes()
	server := httptest.NewUnstartedServer(s)
	server.Listener = countedListener{server.Listener, &s.wire}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	s.stop = sync.OnceFunc(func() { server.CloseClientConnections(); server.Close(); s.busy.Wait() })
	t.Cleanup(s.stop)
	_, s.port, _ = net.SplitHostPort(server.Listener.Addr().String())
	return s
}

func (s *hostileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Done()
	host, _, _ := strings.Cut(r.Host, ":")
	s.mu.Lock()
	s.asked[host+r.URL.RequestURI()]++
	s.heads = append(s.heads, r.Header)
	s.mu.Unlock()
	name := strings.TrimSuffix(host, ".localhost")
	answer := s.sites[name[strings.LastIndexByte(name, '.')+1:]]
	switch {
	case answer == nil:
		http.NotFound(w, r)
	case r.URL.Path == "/robots.txt" && !strings.HasPrefix(name, "robots-"):
		http.NotFound(w, r)
	default:
		answer(w, r)
	}
}

// count returns the number of requests for a URL, given without scheme and port.
func (s *hostileServer) count(url string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[url]
}

func (s *hostileServer) url(name, path string) string {
	return "http://" + name + ".localhost:" + s.port + path
}

// A countedListener counts the bytes that are written to its connections.
type countedListener struct {
	net.Listener
	wire *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countedConn{conn, l.wire}, err
}

type countedConn struct {
	net.Conn
	wire *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.Add(int64(n))
	return n, err
}

// A crawl holds the results of a crawl.
type crawl struct {
	server  *hostileServer
	store   store.Store
	records []*store.Record
	tally   store.Tally
	counts  frontier.Counts
	took    time.Duration
}

// crawlHostile crawls from seeds. Its scope is all hosts below .localhost, except for those whose
// names begin with "out.".
func crawlHostile(t *testing.T, server *hostileServer, s store.Store, opt crawler.Options, change func(*ingest.Options), seeds ...string) *crawl {
	t.Helper()
	return crawlScope(t, server, s, opt, change, `\.localhost[:/]`, seeds...)
}

// crawlScope crawls from seeds into a store, with the same pipeline as skink crawl.
func crawlScope(t *testing.T, server *hostileServer, s store.Store, opt crawler.Options, change func(*ingest.Options), include string, seeds ...string) *crawl {
	t.Helper()
	ctx := t.Context()
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := crawler.NewScope(crawler.ScopeAny, []string{include}, []string{`^http://out\.`})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range seeds {
		scope.AddSeed(u)
		if _, err := s.Discover(ctx, []frontier.Item{{URL: u}}); err != nil {
			t.Fatal(err)
		}
	}
	options := ingest.Options{Rule: rule}
	opt.Scope = scope
	if change != nil {
		change(&options)
	}
	p, err := ingest.New(ctx, s, options)
	if err != nil {
		t.Fatal(err)
	}
	c, err := crawler.New(s, opt, p)
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	err = c.Run(ctx)
	c.Close()
	if closeErr := p.Close(); err != nil || closeErr != nil {
		t.Fatalf("the crawl did not go on: %v, %v", err, closeErr)
	}
	done := &crawl{server: server, store: s, took: time.Since(started), tally: p.Tally()}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		done.records = append(done.records, &page.Record)
	}
	if done.counts, err = s.Counts(ctx); err != nil {
		t.Fatal(err)
	}
	if done.counts.Pending != 0 {
		t.Errorf("%d URLs are still pending", done.counts.Pending)
	}
	return done
}

func hostileOptions(hosts ...string) crawler.Options {
	opt := crawler.Defaults()
	opt.Delay, opt.Retries, opt.PerHost, opt.Parallel = 0, 0, 4, 8
	opt.Timeout, opt.MaxSize, opt.AllowHosts = hostileTimeout, hostileMaxSize, hosts
	return opt
}

// hosts returns the hosts to which a crawl of some cases may connect.
func (s *hostileServer) hosts(cases ...hostile) (all []string) {
	for _, c := range cases {
		all = append(all, c.name+".localhost:"+s.port, "sub."+c.name+".localhost:"+s.port, "xn--bcher-kva."+c.name+".localhost:"+s.port)
	}
	return all
}

func (s *hostileServer) seeds(c hostile) (urls []string) {
	paths := c.seeds
	if paths == nil {
		paths = []string{"/"}
	}
	for _, p := range paths {
		urls = append(urls, s.url(c.name, p))
	}
	return urls
}

// TestHostile crawls each site by itself.
func TestHostile(t *testing.T) {
	cases := hostiles()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			running := goleak.IgnoreCurrent()
			server := startHostile(t, cases)
			opt := hostileOptions(server.hosts(c)...)
			if c.hangs {
				opt.Timeout = impatience
			}
			if c.maxSize > 0 {
				opt.MaxSize = c.maxSize
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := crawlHostile(t, server, storetest.NewMemory(), opt, nil, server.seeds(c)...)
			runtime.ReadMemStats(&after)
			alloc, wire := after.TotalAlloc-before.TotalAlloc, server.wire.Load()
			t.Logf("%v, %.1f MB allocated, %.1f MB off the wire", got.took.Round(time.Millisecond), float64(alloc)/(1<<20), float64(wire)/(1<<20))
			if most := cmp.Or(c.alloc, maxAlloc); alloc > most {
				t.Errorf("%d MB were allocated, want at most %d", alloc>>20, most>>20)
			}
			if got.took > maxTime || wire > maxWire {
				t.Errorf("took %v and %d MB off the wire, want at most %v and %d", got.took, wire>>20, maxTime, maxWire>>20)
			}
			got.checkCase(t, c)
			server.stop()
			goleak.VerifyNone(t, running)
		})
	}
}

// TestHostileAtOnce crawls all sites together, into a store on disk. The crawl ends, each site has
// the same records as in a crawl of its own, and the honest site has all its pages.
func TestHostileAtOnce(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("a long test: SKINK_LONG=short runs it")
	}
	cases := append(hostiles(), honest())
	server := startHostile(t, cases)
	s, err := badger.Open(filepath.Join(t.TempDir(), "store"), badger.Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opt := hostileOptions(server.hosts(cases...)...)
	opt.Parallel, opt.MaxSize = 16, 8<<20
	opt.Timeout = slowdown * hostileTimeout // the server is slow while sixteen pages are read
	var seeds []string
	for _, c := range cases {
		seeds = append(seeds, server.seeds(c)...)
	}
	got := crawlHostile(t, server, s, opt, nil, seeds...)
	t.Logf("%d sites, %d records in %v", len(cases), len(got.records), got.took.Round(time.Millisecond))
	if got.took > slowdown*5*time.Minute { // on an idle machine, the crawl takes 40 seconds, twice the hostileTimeout
		t.Errorf("took %v", got.took)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { got.only(c.name).checkCase(t, c) })
	}
}

// honest returns a site that does no harm.
func honest() hostile {
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprintf("/%d unique", i))
	}
	return hostile{
		name: "honest", does: "answers", skink: "is not kept waiting", seeds: []string{"/0"},
		answer: func(w http.ResponseWriter, r *http.Request) {
			var i int
			fmt.Sscanf(r.URL.Path, "/%d", &i)
			writeHTML(w, prose(r.Host+r.URL.Path)+fmt.Sprintf(`<a href="/%d">next</a>`, (i+1)%50))
		},
		want: strings.Join(want, "\n"),
	}
}

// only returns the results of a crawl for one site.
func (c crawl) only(name string) *crawl {
	c.records = slices.DeleteFunc(slices.Clone(c.records), func(r *store.Record) bool {
		host, _, _ := strings.Cut(frontier.HostOf(r.URL), ":")
		return host != name+".localhost" && !strings.HasSuffix(host, "."+name+".localhost")
	})
	return &c
}

func (c *crawl) checkCase(t *testing.T, h hostile) {
	t.Helper()
	if want := sortLines(h.want); want != "" {
		var lines []string
		for _, r := range c.records {
			lines = append(lines, c.lineOf(h.name, r))
		}
		if got := sortLines(strings.Join(lines, "\n")); got != want {
			t.Errorf("got the records\n%s\nwant\n%s", got, want)
		}
	}
	for _, r := range c.records {
		if r.Truncated && (r.Kind != store.Error || r.Verdict != "" || r.Problem == "") {
			t.Errorf("%s is truncated, and judged: %+v", r.URL, r)
		}
		if short := r.Title + r.Description + r.Lang + r.ContentType + r.Detail; len(short) > 8<<10 {
			t.Errorf("%s: a record of %d bytes", r.URL, len(short))
		}
	}
	if h.check != nil {
		h.check(t, c)
	}
}

// lineOf returns a record as one line: the path, the kind or the verdict, the problem or the target
// of a redirect, and whether the body was truncated.
func (c *crawl) lineOf(name string, r *store.Record) string {
	short := strings.NewReplacer("http://"+name+".localhost:"+c.server.port, "", ":"+c.server.port, "")
	line := short.Replace(r.URL) + " " + string(r.Kind)
	if r.Kind == store.Page {
		line = short.Replace(r.URL) + " " + string(r.Verdict)
	}
	if r.Kind == store.Redirect {
		return line + " " + short.Replace(r.Location)
	}
	if r.Problem != "" && r.Kind == store.Error {
		line += " " + r.Problem
	}
	if r.Truncated {
		line += ", truncated"
	}
	return line
}

func sortLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// record returns the record of a URL.
func (c *crawl) record(t *testing.T, url string) *store.Record {
	t.Helper()
	for _, r := range c.records {
		if r.URL == url {
			return r
		}
	}
	t.Fatalf("%s has no record", url)
	return nil
}

// TestMain discards the log messages of net/http about servers that send data without a request.
// The records of the crawl have the errors.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write testdata/hostile.md")

// TestHostileTable compares testdata/hostile.md with the cases.
func TestHostileTable(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(hostileHead)
	for _, h := range hostiles() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | `TestHostile/%s` |\n", h.name, h.does, h.skink, h.bounds(), h.name)
	}
	b.WriteString(hostileTail)
	for _, p := range privateCases {
		fmt.Fprintf(&b, "| %s | %s |\n", p.name, p.does)
	}
	const name = "testdata/hostile.md"
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Errorf("%s is not what the cases say: go test ./crawler/hostile -run HostileTable -update", name)
	}
	for _, h := range hostiles() {
		if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(h.name) || h.does == "" || h.skink == "" {
			t.Errorf("case %q has no name or no row", h.name)
		}
	}
}

func (h hostile) bounds() string {
	timeout := hostileTimeout
	if h.hangs {
		timeout = impatience
	}
	return fmt.Sprintf("page %d MB, response %v, transferred %d MB, allocated %d MB", cmp.Or(h.maxSize, hostileMaxSize)>>20, timeout, maxWire>>20, cmp.Or(h.alloc, maxAlloc)>>20)
}

const hostileHead = `# Hostile servers

This page lists attacks by servers and the behaviour of skink. ` + "`go test ./crawler/hostile -run HostileTable -update`" + `
writes the page from the test cases, and each row names its test. The column with the limits contains the limits of the
test: the size of the largest page and the longest time of a response, and how much data the crawl may transfer and
allocate in total, including the memory of the server. Each crawl must end within a minute, because the machine may be
busy; except for slow servers, a crawl usually takes less than two seconds. ` + "`TestHostileAtOnce`" + ` crawls all servers at the
same time, together with a normal site, all of whose pages must be fetched.

| server | what the server does | what skink does | limits of the test | test |
|---|---|---|---|---|
`

const hostileTail = `
## HTTP/2 and reused connections

skink sends each request only once, after the delay of the crawl, although net/http would repeat some requests by itself.
` + "`TestOneRequestATurn`" + ` counts the requests at servers that refuse a request with GOAWAY, REFUSED_STREAM or
PROTOCOL_ERROR, and at servers that close a connection which was used before. It does so for pages, for robots.txt and for
targets of redirects. The amount of data that a connection may receive depends on the size of the responses. In
` + "`TestFloods`" + `, servers send empty frames, padding, pings and priorities without end. In ` + "`TestFloodWhileIdle`" + `, a server does
this while no request is open. In ` + "`TestNoFlood`" + `, normal servers send their responses in many small frames.

## Many hosts together

In these tests, the crawl may send ten requests a second to a normal host. It must send at least nine requests in each
second, by the clock of the test, even if the other hosts cause long waits.

| the other hosts | what skink does | test |
|---|---|---|
| 64 or 500 hosts accept requests and never respond, for robots.txt or for pages. | Slow and unknown hosts leave a quarter of the connections to the hosts that respond, and a wait does not occupy a worker. | ` + "`TestScheduleSlowHosts`" + ` |
| 50 or 500 hosts take ten seconds for each response. | Slow and unknown hosts leave a quarter of the connections to the hosts that respond, and a wait does not occupy a worker. | ` + "`TestScheduleSlowHosts`" + ` |
| There are more hosts that never respond than connections. | The normal host waits for its first request, but not for the following requests. | ` + "`TestScheduleMoreSlowHostsThanPlaces`" + ` |
| Hosts are fast, then slow, then fast again. | skink measures the speed of a host again with each response. | ` + "`TestScheduleMoodyHosts`" + ` |
| 60 hosts never respond, over real connections. | Meanwhile, two workers fetch all pages of the normal host. | ` + "`TestCrawlBesideHostsThatHang`" + ` |
| Many hosts send large pages at the same time. | The bodies wait until memory is free, and their time limits are extended by this wait. | ` + "`TestCrawlOfLargePages`, `TestRoom`" + ` |

## Addresses that are not public

Each of these cases is crawled twice. In the first crawl, no request may reach the private server, not even a request for
robots.txt. In the second crawl, the private address is allowed, which shows that requests would reach the server without
the check. ` + "`TestHostilePrivate`" + ` runs these cases. In ` + "`TestHostileIPv6`" + `, the host of a URL is an IP address in brackets. In
` + "`TestHostilePanic`" + `, pages cause a panic in skink: the panic is recorded for the page, and counted.

| case | how the crawl gets to the private address |
|---|---|
`

package hostile

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"skink/internal/tools/storetest"
	"skink/internal/tools/wiretest"
)

// Two servers listen on the same port: the server at 127.0.0.2 stands for the public internet, and
// the server at 127.0.0.1 for a router on the local network. The test's own name server resolves
// names. It can give other addresses at the next lookup.
const publicAddr, privateAddr = "127.0.0.2", "127.0.0.1"

// privateCases try to reach the private server. In their texts, PORT stands for the port of both
// servers, and private.test is a name of the private server.
var privateCases = []struct {
	name, does string
	seed       string              // path on public.test, or a whole URL
	answers    map[string]string   // answers of the public server, by path: "> URL" is a redirect, any other value is the URL of the link on a page
	names      map[string][]string // addresses of a name, one element for each lookup, with commas between several addresses; the last element is used for all further lookups
	want       string              // expected records, without ports
}{
	{
		name: "a page at a private name", does: "A page links to a host name that has a private address.",
		answers: map[string]string{"/": "http://private.test:PORT/secret"},
		want:    "http://public.test/ unique\nhttp://private.test/secret error private address",
	},
	{
		name: "a page at a private address", does: "A page links to the private address itself.",
		answers: map[string]string{"/": "http://127.0.0.1:PORT/secret"},
		want:    "http://public.test/ unique\nhttp://127.0.0.1/secret error private address",
	},
	{
		name: "an address in disguise", does: "A page links to the private address in the form of one decimal number, which browsers accept.",
		answers: map[string]string{"/": "http://2130706433:PORT/secret"},
		want:    "http://public.test/ unique\nhttp://127.0.0.1/secret error private address",
	},
	{
		name: "an address in IPv6", does: "A page links to the private address as an IPv4-mapped IPv6 address.",
		answers: map[string]string{"/": "http://[::ffff:127.0.0.1]:PORT/secret"},
		want:    "http://public.test/ unique\nhttp://[::ffff:7f00:1]/secret error private address",
	},
	{
		name: "no address", does: "A page links to 0.0.0.0, which many systems treat as their own address.",
		answers: map[string]string{"/": "http://0.0.0.0:PORT/secret"},
		want:    "http://public.test/ unique\nhttp://0.0.0.0/secret error private address",
	},
	{
		name: "localhost", does: "A page links to localhost and to a name below localhost.",
		answers: map[string]string{"/": "http://a.localhost:PORT/secret"},
		want:    "http://public.test/ unique\nhttp://a.localhost/secret error private address",
	},
	{
		name: "a redirect to a private name", does: "A page redirects to a host name that has a private address.",
		answers: map[string]string{"/": "> http://private.test:PORT/secret"},
		want:    "http://public.test/ redirect http://private.test/secret\nhttp://private.test/secret error private address",
	},
	{
		name: "a chain of redirects", does: "The second of two redirects leads to a private address.",
		answers: map[string]string{"/": "> /next", "/next": "> http://127.0.0.1:PORT/secret"},
		want:    "http://public.test/ redirect http://public.test/next\nhttp://public.test/next redirect http://127.0.0.1/secret\nhttp://127.0.0.1/secret error private address",
	},
	{
		name: "a redirect of robots.txt", does: "robots.txt redirects to a private address, so the page is not fetched either.",
		answers: map[string]string{"/": "", "/robots.txt": "> http://private.test:PORT/robots.txt"},
		want:    "http://public.test/ error private address",
	},
	{
		// The crawler looks up a host's address once before all requests; see crawler/address.go.
		name: "a name that changes at once", does: "The host name has a public address when robots.txt is fetched, and a private address when the page is fetched.",
		seed:    "http://changes.test:PORT/",
		answers: map[string]string{"/": ""}, names: map[string][]string{"changes.test.": {publicAddr, publicAddr, privateAddr}},
		want: "http://changes.test/ error private address",
	},
	{
		name: "a name that changes later", does: "The host name has a public address when robots.txt and the first page are fetched, and a private address afterwards.",
		seed:    "http://changes.test:PORT/",
		answers: map[string]string{"/": "/secret"}, names: map[string][]string{"changes.test.": {publicAddr, publicAddr, publicAddr, privateAddr}},
		want: "http://changes.test/ unique\nhttp://changes.test/secret error private address",
	},
	{
		name: "a name with both addresses", does: "The host name has two addresses, and one of them is private.",
		seed:    "http://both.test:PORT/",
		answers: map[string]string{"/": ""}, names: map[string][]string{"both.test.": {privateAddr + "," + publicAddr}},
		want: "http://both.test/ unique",
	},
}

// TestHostilePrivate checks that no request reaches the private server, not even for robots.txt. It
// also checks that the requests would reach the server if they were allowed.
func TestHostilePrivate(t *testing.T) {
	for _, c := range privateCases {
		t.Run(c.name, func(t *testing.T) {
			servers := startPrivate(t, c.answers)
			if c.names == nil {
				c.names = map[string][]string{}
			}
			c.names["public.test."], c.names["private.test."] = []string{publicAddr}, []string{privateAddr}
			seed := strings.ReplaceAll(cmp.Or(c.seed, "http://public.test:PORT/"), "PORT", servers.port)

			resolveWith(t, c.names)
			got := crawlPrivate(t, seed, publicAddr+"/32")
			if n := servers.reached.Load(); n != 0 {
				t.Errorf("%d requests reached the private server", n)
			}
			var lines []string
			for _, r := range got.records {
				lines = append(lines, (&crawl{server: &hostileServer{port: servers.port}}).lineOf("none", r))
			}
			if got, want := sortLines(strings.Join(lines, "\n")), sortLines(c.want); got != want {
				t.Errorf("got the records\n%s\nwant\n%s", got, want)
			}

			resolveWith(t, c.names)
			crawlPrivate(t, seed, "127.0.0.0/8", "0.0.0.0/32")
			if servers.reached.Load() == 0 {
				t.Error("the private server is not reached where it is allowed: the case shows nothing")
			}
		})
	}
}

// crawlPrivate crawls from a seed with all URLs in its scope. Addresses must be public or in one of
// nets.
func crawlPrivate(t *testing.T, seed string, nets ...string) *crawl {
	t.Helper()
	opt := hostileOptions()
	for _, n := range nets {
		opt.AllowNets = append(opt.AllowNets, netip.MustParsePrefix(n))
	}
	return crawlScope(t, nil, storetest.NewMemory(), opt, nil, "", seed)
}

type privateServers struct {
	port    string
	reached atomic.Int32 // number of requests to the private server
}

func startPrivate(t *testing.T, answers map[string]string) *privateServers {
	t.Helper()
	s := new(privateServers)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // so that the name is looked up for each request
		if local := r.Context().Value(http.LocalAddrContextKey).(net.Addr).String(); strings.HasPrefix(local, privateAddr+":") {
			s.reached.Add(1)
		}
		target, ok := answers[r.URL.Path]
		target = strings.ReplaceAll(target, "PORT", s.port)
		to, redirect := strings.CutPrefix(target, "> ")
		switch {
		case !ok:
			http.NotFound(w, r)
		case redirect:
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		default:
			writeHTML(w, prose(r.Host+r.URL.Path)+fmt.Sprintf(`<a href="%s">x</a>`, target))
		}
	})
	public, err := net.Listen("tcp", publicAddr+":0")
	if err != nil {
		t.Skipf("this system has one loopback address: %v", err)
	}
	_, s.port, _ = net.SplitHostPort(public.Addr().String())
	private, err := net.Listen("tcp", privateAddr+":"+s.port)
	if err != nil {
		t.Skipf("the port is taken: %v", err)
	}
	for _, l := range []net.Listener{public, private} {
		server := httptest.NewUnstartedServer(handler)
		_ = server.Listener.Close()
		server.Listener = l
		server.Start()
		t.Cleanup(server.Close)
	}
	return s
}

// resolveWith makes the default resolver know only these names. Each lookup of a name returns the
// next of its answers.
func resolveWith(t *testing.T, names map[string][]string) {
	t.Helper()
	var mu sync.Mutex
	left := map[string][]string{}
	for name, answers := range names {
		left[name] = slices.Clone(answers)
	}
	before := net.DefaultResolver
	net.DefaultResolver = wiretest.ResolverOf(t, func(name string) []string {
		mu.Lock()
		defer mu.Unlock()
		answers := left[name]
		if len(answers) == 0 {
			return nil
		}
		if len(answers) > 1 {
			left[name] = answers[1:]
		}
		return strings.Split(answers[0], ",")
	})
	t.Cleanup(func() { net.DefaultResolver = before })
}

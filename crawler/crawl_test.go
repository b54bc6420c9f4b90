package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"skink/frontier"
	"skink/internal/tools/storetest"
)

// A keeper is a handler that follows links and keeps the pages.
type keeper struct {
	front *storetest.Frontier

	mu    sync.Mutex
	pages map[string]*Page // guarded by mu
	twice []string         // guarded by mu: URLs that were handled more than once
}

func newKeeper(t *testing.T, seeds ...string) *keeper {
	t.Helper()
	k := &keeper{front: storetest.NewFrontier(), pages: map[string]*Page{}}
	for _, u := range seeds {
		if _, err := k.front.Discover(t.Context(), []frontier.Item{{URL: u}}); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

var href = regexp.MustCompile(`href="([^"]*)"`)

func (k *keeper) Handle(ctx context.Context, p *Page, leads *Leads) error {
	err := leads.Follow(Links{Hrefs: func(yield func(string, bool) bool) {
		for _, m := range href.FindAllSubmatch(p.Body, -1) {
			yield(string(m[1]), false)
		}
	}})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pages[p.Item.URL] != nil {
		k.twice = append(k.twice, p.Item.URL)
	}
	k.pages[p.Item.URL] = p
	return k.front.End(ctx, storetest.Ending{Claim: p.Claim, URL: p.Item.URL, State: p.End(), Links: leads.Items})
}

// crawl crawls until nothing is left.
func (k *keeper) crawl(t *testing.T, opt Options) {
	t.Helper()
	c, err := New(k.front, opt, k)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (k *keeper) Pages() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return int64(len(k.pages))
}

// outcomes returns the status and problem of each URL, one per line, sorted.
func (k *keeper) outcomes(replace ...string) string {
	var lines []string
	for u, p := range k.pages {
		line := fmt.Sprintf("%s %d %s", u, p.Status, p.Problem)
		lines = append(lines, strings.TrimSpace(strings.NewReplacer(replace...).Replace(line)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestCrawl crawls a small web over real connections, with pages, redirects, failures and other
// kinds of answers.
func TestCrawl(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var mu sync.Mutex
	counts := map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		counts[r.URL.Path]++
		n := counts[r.URL.Path]
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private")
		case "/":
			for i := range 40 {
				fmt.Fprintf(w, `<a href="/page/%d">`, i)
			}
			fmt.Fprint(w, `<a href="/private/x"><a href="/loop/a"><a href="/self"><a href="/busy"><a href="/none"><a href="/moved"><a href="/chain/0"><a href="http://gone.localhost:1/x">`)
		case "/loop/a":
			http.Redirect(w, r, "/loop/b", http.StatusFound)
		case "/loop/b":
			http.Redirect(w, r, "/loop/a", http.StatusFound)
		case "/self":
			http.Redirect(w, r, "/self", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/page/1#there", http.StatusMovedPermanently)
		case "/busy":
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		case "/none":
			http.NotFound(w, r)
		default:
			var i int
			if _, err := fmt.Sscanf(r.URL.Path, "/chain/%d", &i); err == nil {
				http.Redirect(w, r, fmt.Sprintf("/chain/%d", i+1), http.StatusFound)
				return
			}
			fmt.Fprint(w, `<a href="/"><a href="/page/3"><a href="?again">`)
		}
	}))
	defer site.Close()

	k := newKeeper(t, site.URL+"/")
	opt := Defaults()
	opt.Scope = newScope(t, ScopeAny, nil, nil)
	opt.Delay, opt.PerHost, opt.Retries, opt.AllowHosts = 0, 8, 1, []string{strings.TrimPrefix(site.URL, "http://"), "gone.localhost"}
	k.crawl(t, opt)

	var want []string
	add := func(format string, args ...any) { want = append(want, fmt.Sprintf(format, args...)) }
	add("site/ 200")
	for i := range 40 {
		add("site/page/%d 200", i)
		add("site/page/%d?again 200", i)
	}
	for i := range MaxHops {
		add("site/chain/%d 302", i)
	}
	add("site/chain/%d 302 too many redirects", MaxHops)
	add("site/loop/a 302")
	add("site/loop/b 302")
	add("site/self 302 too many redirects")
	add("site/moved 301")
	add("site/busy 200")
	add("site/none 404 status")
	add("site/private/x 0 robots.txt")
	add("http://gone.localhost:1/x 0 connect")
	slices.Sort(want)
	same(t, "outcomes", k.outcomes(site.URL, "site"), strings.Join(want, "\n"))
	if len(k.twice) > 0 {
		t.Errorf("handed over twice: %v", k.twice)
	}
	same(t, "requests for robots.txt", counts["/robots.txt"], 1)
	same(t, "requests for what it forbids", counts["/private/x"], 0)
	same(t, "requests to the busy page", counts["/busy"], 2)
	same(t, "requests to a page with queries", counts["/page/7"], 2)
}

// Another worker obeys an order sooner and queues its seed, and this crawl takes the seed before it has read the order.
// It reads the orders then, so the seed is fetched. A URL that no order adds stays out of scope.
func TestSeedOfAnotherWorker(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	added := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	k := newKeeper(t, site.URL+"/", added+"/", "http://never.localhost:1/")
	opt := Defaults()
	opt.Scope = newScope(t, ScopeHost, nil, nil, site.URL+"/")
	opt.Delay, opt.AllowHosts = 0, []string{strings.TrimPrefix(site.URL, "http://"), strings.TrimPrefix(added, "http://")}
	opt.ReadOrders = func(context.Context) error { opt.Scope.AddSeed(added + "/"); return nil }
	k.crawl(t, opt)
	same(t, "outcomes", k.outcomes(site.URL, "site", added, "added"), "added/ 404 status\nhttp://never.localhost:1/ 0 outside\nsite/ 404 status")
}

// A stopped crawl ends within Options.Grace. It leaves no goroutine behind, and stores no page that
// it has not read to the end.
func TestCrawlStopped(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	asked := make(chan bool, 10)
	var links strings.Builder
	for i := range 20 {
		fmt.Fprintf(&links, `<a href="/slow/%d">`, i)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/slow") {
			fmt.Fprint(w, links.String())
			return
		}
		asked <- true
		<-r.Context().Done()
	}))
	defer site.Close()

	k := newKeeper(t, site.URL+"/")
	opt := Defaults()
	opt.Scope = newScope(t, ScopeAny, nil, nil)
	opt.Delay, opt.PerHost, opt.Parallel, opt.IgnoreRobots, opt.Grace = 0, 3, 3, true, 50*time.Millisecond
	opt.AllowHosts = []string{strings.TrimPrefix(site.URL, "http://")}
	c, err := New(k.front, opt, k)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range 3 {
			<-asked
		}
		cancel()
	}()
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
	same(t, "outcomes", k.outcomes(site.URL, "site"), "site/ 200")
	counts, err := k.front.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "pending", counts.Pending, 20)
}

func TestGet(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/new", http.StatusFound)
		case "/none":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, "here")
		}
	})
	opt := Defaults()
	opt.AllowHosts = []string{host}
	for _, c := range []struct{ path, want string }{
		{"/new", "/new 200  here"},
		{"/old", "/new 200  here"},
		{"/none", "/none 404 status 404 page not found\n"},
	} {
		p, err := Get(t.Context(), "http://"+host+c.path, opt)
		if err != nil {
			t.Fatal(err)
		}
		same(t, c.path, fmt.Sprintf("%s %d %s %s", strings.TrimPrefix(p.Item.URL, "http://"+host), p.Status, p.Problem, p.Body), c.want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Get(ctx, "http://"+host+"/new", opt); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
}

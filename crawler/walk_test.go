package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"skink/crawler/wire"
	"skink/frontier"
	"skink/internal/tools/storetest"
)

var walkHref = regexp.MustCompile(`href=(\S+?)>`)

// found returns the links of a page.
func found(p *Page) Links {
	var all []string
	for _, m := range walkHref.FindAllSubmatch(p.Body, -1) {
		all = append(all, string(m[1]))
	}
	return hrefs(all...)
}

// A walk calls visit once for each URL of a site, including errors and redirects, and for no URL of
// other sites.
func TestWalk(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<a href=/a><a href=/moved><a href=/none><a href=/secret><a href=http://elsewhere.test/>`)
		case "/moved":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/none":
			http.NotFound(w, r)
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
		default:
			fmt.Fprint(w, `<a href=/><a href=/b>`)
		}
	})
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var got []string
	err := walk(t.Context(), []string{"HTTP://" + host}, Options{}, func(p *Page) (Links, error) {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", strings.TrimPrefix(p.Item.URL, "http://"+host), p.Status, p.Problem)))
		return found(p), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	same(t, "visited", strings.Join(got, ", "), "/ 200, /a 200, /b 200, /moved 302, /none 404 status, /secret 0 robots.txt")
}

func TestWalkEnds(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range 100 {
			fmt.Fprintf(w, "<a href=/%d>", i)
		}
	})
	enough := errors.New("seen enough")
	for _, c := range []struct {
		name, seed string
		opt        Options
		err        error
		want       int
	}{
		{"by a limit", "http://" + host, Options{MaxPages: 3}, nil, 3},
		{"by visit", "http://" + host, Options{}, enough, 5},
		{"with a seed that is none", "ftp://" + host, Options{}, frontier.ErrScheme, 0},
		{"within a scope", "http://" + host, Options{Scope: newScope(t, ScopeHost, []string{"/[12]$"}, nil)}, nil, 3},
	} {
		n := 0
		err := walk(t.Context(), []string{c.seed}, c.opt, func(p *Page) (Links, error) {
			if n++; n == 5 {
				return Links{}, enough
			}
			return found(p), nil
		})
		if !errors.Is(err, c.err) || n != c.want {
			t.Errorf("%s: visited %d, want %d; %v", c.name, n, c.want, err)
		}
	}
}

func TestOptionsOrDefaults(t *testing.T) {
	got, want := Options{}.orDefaults(), Defaults()
	if got.Parallel != want.Parallel || got.PerHost != want.PerHost || got.Timeout != want.Timeout || got.MaxSize != want.MaxSize || got.Bodies != want.Bodies || got.UserAgent != want.UserAgent {
		t.Errorf("nothing given: %+v", got)
	}
	given := Options{Parallel: 3, PerHost: 2, Timeout: 5, MaxSize: 7, Bodies: 9, UserAgent: "me"}
	same(t, "what is given", given.orDefaults(), func() Options { o := given; o.MaxFileSize = given.MaxSize; return o }())
}

// walk crawls from seeds. It calls visit once for each URL with the result: a page, a problem or a
// redirect. The function visit returns the links to follow. If it returns an error, the crawl ends.
// Calls of visit do not overlap.
//
// Without opt.Scope, the crawl stays on the hosts of the seeds. If a seed has a private address,
// that address is allowed.
func walk(ctx context.Context, seeds []string, opt Options, visit func(*Page) (Links, error)) error {
	w := &walker{front: storetest.NewFrontier(), visit: visit}
	items, err := w.begin(ctx, seeds)
	if err != nil {
		return err
	}
	if opt.Scope == nil {
		if opt.Scope, err = NewScope(ScopeHost, nil, nil); err != nil {
			return err
		}
		opt.Scope.Obey(opt.Hosts)
	}
	opt.Sitemaps = false // visit must get only pages
	opt.SeedHosts = slices.Clip(opt.SeedHosts)
	for _, it := range items {
		opt.Scope.AddSeed(it.URL)
		opt.SeedHosts = append(opt.SeedHosts, wire.HostsOf(it.URL)...)
	}
	c, err := New(w.front, opt, w)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Run(ctx)
}

type walker struct {
	front *storetest.Frontier

	mu    sync.Mutex
	visit func(*Page) (Links, error) // guarded by mu
	err   error                      // guarded by mu: the first error of visit
	pages int64                      // guarded by mu: number of fetched pages
}

func (w *walker) begin(ctx context.Context, seeds []string) (items []frontier.Item, err error) {
	for _, seed := range seeds {
		url, err := frontier.Canonical(seed)
		if err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
		items = append(items, frontier.Item{URL: url})
	}
	_, err = w.front.Discover(ctx, items)
	return items, err
}

func (w *walker) Handle(ctx context.Context, p *Page, leads *Leads) error {
	links, err := w.show(p)
	if err != nil {
		return err
	}
	if err := leads.Follow(links); err != nil {
		return err
	}
	return w.front.End(ctx, storetest.Ending{Claim: p.Claim, URL: p.Item.URL, State: p.End(), Links: leads.Items})
}

// show calls visit with a page. After visit has failed once, show does not call it again, even if
// other workers still have pages.
func (w *walker) show(p *Page) (links Links, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return links, w.err
	}
	if p.End() == frontier.Fetched {
		w.pages++
	}
	links, w.err = w.visit(p)
	return links, w.err
}

func (w *walker) Pages() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages
}

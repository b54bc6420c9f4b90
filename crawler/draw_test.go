package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler/access"
	"skink/crawler/render"
	"skink/crawler/wire"
	"skink/frontier"
)

// A drawnWorld is a world whose pages must be rendered by a browser.
type drawnWorld struct {
	*world
	needs func(url string) bool // reports whether a page must be rendered; nil means that all pages must be
}

func (w *drawnWorld) Handle(ctx context.Context, p *Page, leads *Leads) error {
	if p.MayRender && (w.needs == nil || w.needs(p.Item.URL)) {
		return ErrRender
	}
	return w.world.Handle(ctx, p, leads)
}

// A painter is a fake browser. Each page that it renders requests the URLs that parts returns, all
// at the same time.
type painter struct {
	tabs  chan struct{}
	parts func(url string) []string
	takes time.Duration
	err   error
	html  string // the rendered document; "" means "drawn"

	mu      sync.Mutex
	drawn   []string          // guarded by mu: URLs of the rendered pages
	answers map[string]string // guarded by mu: body or error of the answer to each requested URL
}

func newPainter(tabs int, parts func(url string) []string) *painter {
	return &painter{tabs: make(chan struct{}, tabs), parts: parts, answers: map[string]string{}}
}

func (p *painter) Tabs() int { return cap(p.tabs) }
func (p *painter) Close()    {}

func (p *painter) Draw(ctx context.Context, page render.Page, fetch render.Fetch) (*render.Drawing, error) {
	p.tabs <- struct{}{}
	defer func() { <-p.tabs }()
	var all sync.WaitGroup
	for _, url := range p.parts(page.URL) {
		all.Go(func() {
			a, err := fetch(ctx, render.Request{URL: url, Header: http.Header{"Accept": {"*/*"}}})
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.answers[url] = string(a.Body); err != nil {
				p.answers[url] = err.Error()
			}
		})
	}
	all.Wait()
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawn = append(p.drawn, page.URL)
	if p.err != nil {
		return nil, p.err
	}
	return &render.Drawing{HTML: []byte(cmp.Or(p.html, "drawn"))}, nil
}

// draws crawls the world with p as the browser that renders its pages.
func (w *drawnWorld) draws(p *painter, change func(*Options)) *Crawl {
	opt := Options{Parallel: 8, PerHost: 1, Timeout: time.Minute, Grace: time.Second, UserAgent: "skink", Render: RenderAuto, Bodies: 1 << 20}
	if change != nil {
		change(&opt)
	}
	w.answer = func(string, int) *Page {
		return &Page{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}}
	}
	opt.jitter = func() float64 { return 0.5 }
	c := w.newCrawl(w.front, opt, w)
	c.setBrowser(p)
	f, err := newFetcher(opt)
	if err != nil {
		panic(err)
	}
	f.schedule, f.robots = c.schedule, c.robots
	f.do = func(x *wire.Exchange) error {
		url := x.Request.URL.String()
		w.request(x.Request.Context(), url)
		x.Status, x.Body = 200, []byte("of "+url)
		if strings.Contains(url, "huge") {
			x.BodyErr = wire.ErrTooLarge
		}
		return x.Request.Context().Err()
	}
	c.fetchPart = f.fetchPart
	return c
}

// A captcha is rendered even if the handler would not ask for it. It is a page if its scripts have
// replaced it. Otherwise it is fetched again, after a wait of its host.
func TestDrawCaptcha(t *testing.T) {
	const puzzle = "<title>Are you a robot?</title><form><button>No</button></form>"
	for _, c := range []struct {
		html    string
		err     error
		problem Problem
		times   int
	}{
		{"", nil, "", 1},
		{puzzle, nil, ProblemCaptcha, 3},
		{"", errors.New("the browser crashed"), ProblemCaptcha, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &drawnWorld{world: newWorld("http://a.test/1"), needs: func(string) bool { return false }}
			p := newPainter(1, func(string) []string { return nil })
			p.html, p.err = c.html, c.err
			crawl := w.draws(p, func(o *Options) { o.Retries = 2 })
			w.answer = func(url string, _ int) *Page {
				page := &Page{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(puzzle)}
				page.findCaptcha()
				return page
			}
			began := time.Now()
			if err := crawl.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			same(t, "problem", w.ended["http://a.test/1"].Problem, c.problem)
			same(t, "requests", w.times["http://a.test/1"], c.times)
			same(t, "waited", time.Since(began) >= 2*time.Second, c.times > 1)
		})
	}
}

// Requests for rendered pages and for other pages together respect the delay of each host and the
// limit on its simultaneous requests. A file that several pages request is fetched once, even if it
// is too large.
func TestDrawIsPolite(t *testing.T) {
	for _, perHost := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			w := &drawnWorld{world: newWorld(append(urls("a.test", 6), urls("b.test", 3)...)...)}
			w.takes = func(string) time.Duration { return 1300 * time.Millisecond }
			p := newPainter(4, func(url string) []string {
				return []string{"http://a.test/app.js", "http://cdn.test/lib.js", "http://cdn.test/huge.mp4", url + "/data.json", "http://cdn.test/data" + url[len("http://a.test/"):]}
			})
			p.takes = 500 * time.Millisecond
			if err := w.draws(p, func(o *Options) { o.Delay, o.MaxDelay, o.PerHost = time.Second, time.Second, perHost }).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			same(t, "pages", w.Pages(), 9)
			same(t, "drawn", len(p.drawn), 9)
			last := map[string]time.Duration{}
			for _, r := range w.sent {
				host := frontier.HostOf(r.url)
				if before, ok := last[host]; ok && r.at-before < time.Second {
					t.Errorf("per host %d: %s was sent %v after the one before", perHost, r.url, r.at-before)
				}
				last[host] = r.at
			}
			for host, n := range w.most {
				if n > perHost {
					t.Errorf("%s had %d requests at once, want %d", host, n, perHost)
				}
			}
			for url, n := range w.times {
				if n != 1 {
					t.Errorf("%s was fetched %d times", url, n)
				}
			}
			for url, page := range w.ended {
				if page.Drawing == nil || string(page.Drawing.HTML) != "drawn" {
					t.Errorf("%s was handed over without its drawing", url)
				}
			}
		})
	}
}

// Robots.txt and the user's exclude patterns apply to the requests of a rendered page. If
// robots.txt cannot be fetched, the request is refused.
func TestDrawObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld("http://a.test/")}
		w.robots = func(origin string, _ int) (int, string, error) {
			switch origin {
			case "http://a.test":
				return 200, "User-agent: *\nDisallow: /private\nCrawl-delay: 5", nil
			case "http://down.test":
				return 0, "", errors.New("no route")
			}
			return 404, "", nil
		}
		asked := []string{"http://a.test/open.js", "http://a.test/private.js", "http://down.test/x.js", "http://c.test/y.js", "http://c.test/no.js", "ftp://c.test/"}
		p := newPainter(1, func(string) []string { return asked })
		scope := newScope(t, ScopeHost, nil, []string{`/no\.js$`}, "http://a.test/")
		if err := w.draws(p, func(o *Options) { o.Scope, o.MaxDelay = scope, time.Minute }).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for url, want := range map[string]bool{asked[0]: true, asked[1]: false, asked[2]: false, asked[3]: true, asked[4]: false, asked[5]: false} {
			if got := p.answers[url] == "of "+url; got != want || w.times[url] > 0 != want {
				t.Errorf("%s: answered %v with %q, asked %d times; want %v", url, got, p.answers[url], w.times[url], want)
			}
		}
		same(t, "asked at", w.at("a.test"), []float64{5, 10})
	})
}

// Pages that wait for the browser do not block workers or other hosts. A host that has as many such
// pages as the browser has tabs gets no more requests.
func TestDrawHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld(append(urls("a.test", 50), urls("b.test", 50)...)...)}
		w.needs = func(url string) bool { return strings.HasPrefix(url, "http://a.test/") }
		w.takes = func(string) time.Duration { return 100 * time.Millisecond }
		p := newPainter(2, func(string) []string { return nil })
		p.takes = time.Minute
		c := w.draws(p, func(o *Options) { o.Parallel, o.Connections = 1, 16 })
		done := make(chan error)
		go func() { done <- c.Run(t.Context()) }()
		time.Sleep(10 * time.Second)
		w.mu.Lock()
		a, b := len(w.at("a.test")), len(w.at("b.test"))
		w.mu.Unlock()
		if a < 2 || a > 3 || b != 50 { // a third page may have been requested before the second was handled
			t.Errorf("after ten seconds, %d pages were asked for that wait for the browser, want 2 or 3; and %d others, want 50", a, b)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		same(t, "pages", w.Pages(), 100)
	})
}

// A file that was requested without the secrets of its host is not reused where they are needed.
func TestPartsApart(t *testing.T) {
	c := newResourceCache(1 << 20)
	get := func(anonymous bool, body string) string {
		a, _, err := c.get(t.Context(), &ask{url: "http://priv.test/x", anonymous: anonymous}, time.Now(), func() (render.Answer, error) {
			return render.Answer{Status: 200, Body: []byte(body)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(a.Body)
	}
	same(t, "for another site", get(true, "public"), "public")
	if a, _, ok := c.latest("http://priv.test/x"); ok {
		t.Errorf("a requisite would get %q", a.Body)
	}
	same(t, "for the site itself", get(false, "private"), "private")
	same(t, "for another site", get(true, "nothing"), "public")
	a, _, _ := c.latest("http://priv.test/x")
	same(t, "as a requisite", string(a.Body), "private")
}

// The files of a rendered page get secrets only if the page has the same ones.
func TestShares(t *testing.T) {
	basic := &access.Basic{User: "me", Password: "sesame"}
	o := Options{Hosts: access.Table{{Pattern: "*.priv.test", Basic: basic}, {Pattern: "own.priv.test", Headers: map[string]access.Secret{"X-Token": "sesame"}}, {Pattern: "partner.test", Basic: basic}}}
	for _, test := range []struct {
		page, file string
		want       bool
	}{
		{"http://priv.test/a", "http://priv.test/b", true},
		{"http://priv.test/a", "http://api.priv.test/b", true},
		{"http://partner.test/a", "http://priv.test/b", true},
		{"http://evil.test/a", "http://priv.test/b", false},
		{"http://priv.test/a", "http://own.priv.test/b", false},
		{"http://own.priv.test/a", "http://priv.test/b", false},
		{"http://www.some.test/a", "http://some.test/b", true}, // for cookies that the site has set
		{"http://evil.test/a", "http://some.test/b", false},
	} {
		if got := o.shares(test.page, test.file); got != test.want {
			t.Errorf("%s loads %s: %v", test.page, test.file, got)
		}
	}
}

// If a page cannot be rendered, the handler gets it in its original form, with the reason for the
// failure.
func TestDrawFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld("http://a.test/")}
		p := newPainter(1, func(string) []string { return nil })
		p.err = render.ErrCrashed
		if err := w.draws(p, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		page := w.ended["http://a.test/"]
		same(t, "why", page.DrawError, render.ErrCrashed.Error())
		same(t, "problem", page.Problem, "")
	})
}

// If a crawl is stopped, pages that were not rendered stay pending for the next run.
func TestDrawStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld(urls("a.test", 5)...)}
		p := newPainter(2, func(url string) []string { return []string{url + "/x"} })
		p.takes = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		if err := w.draws(p, nil).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		same(t, "handed over", len(w.ended), 0)
		n, err := w.front.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "pending", n.Pending, 5)
	})
}

// With RenderAlways, HTML pages are rendered before the handler gets them, and other files are not.
func TestDrawAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld(urls("a.test", 3)...), needs: func(string) bool { return false }}
		p := newPainter(2, func(string) []string { return nil })
		c := w.draws(p, func(o *Options) { o.Render = RenderAlways })
		w.answer = func(url string, _ int) *Page {
			kind := "text/html; charset=utf-8"
			if strings.HasSuffix(url, "/1") {
				kind = "application/pdf"
			}
			return &Page{Status: 200, Header: http.Header{"Content-Type": {kind}}}
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "pages", w.Pages(), 3)
		same(t, "drawn", len(p.drawn), 2)
	})
}

// The Render setting of a host takes precedence over the option of the crawl.
func TestDrawByHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld("http://a.test/", "http://b.test/", "http://c.test/")}
		w.needs = func(url string) bool { return url == "http://b.test/" }
		p := newPainter(2, func(string) []string { return nil })
		err := w.draws(p, func(o *Options) {
			o.Hosts = access.Table{{Pattern: "a.test", Render: RenderOff}, {Pattern: "c.test", Render: RenderAlways}}
		}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(p.drawn)
		same(t, "drawn", p.drawn, []string{"http://b.test/", "http://c.test/"})
	})
	if o := (Options{Render: RenderOff, Hosts: access.Table{{Pattern: "a.test", Render: RenderAuto}}}); !o.Renders() {
		t.Error("a host that is rendered needs no browser")
	}
	if o := (Options{Hosts: access.Table{{Pattern: "a.test", Render: RenderOff}}}); o.Renders() {
		t.Error("a browser is needed, and no host is rendered")
	}
}

// Two crawls render pages that need files of the same host, which only one of them has claimed. The
// delay of the host applies to the requests of both.
func TestDrawnByTwoCrawls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &drawnWorld{world: newWorld(slices.Concat(urls("a.test", 6), urls("b.test", 6), urls("files.test", 20))...)}
		w.needs = func(url string) bool { return frontier.HostOf(url) != "files.test" }
		w.takes = func(string) time.Duration { return 30 * time.Millisecond }
		w.robots = func(origin string, _ int) (int, string, error) {
			if origin == "http://files.test" {
				return 200, "User-agent: *\nCrawl-delay: 2", nil
			}
			return 404, "", nil
		}
		parts := func(url string) (all []string) {
			for i := range 3 {
				all = append(all, fmt.Sprintf("http://files.test/of/%s/%d", url[len("http://"):], i))
			}
			return all
		}
		change := func(o *Options) { o.Delay, o.MaxDelay, o.Timeout = time.Second, time.Minute, 5*time.Minute }
		both(t, w.world, w.draws(newPainter(4, parts), change), w.draws(newPainter(4, parts), change))
		same(t, "pages", w.Pages(), 32)
		same(t, "parts", w.requested("files.test/of/"), 36)
		apart(t, w.world, "files.test", time.Second)
		apart(t, w.world, "a.test", time.Second)
		apart(t, w.world, "b.test", time.Second)
	})
}

// requested returns the number of URLs that contain text and were requested.
func (w *world) requested(text string) (n int64) {
	for url := range w.times {
		if strings.Contains(url, text) {
			n++
		}
	}
	return n
}

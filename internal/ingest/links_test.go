package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler"
	"skink/extract"
	"skink/frontier"
	"skink/internal/tools/storetest"
	"skink/store"
)

// within returns the options of a crawl of http://a.test/ with a scope of the given kind.
func within(t *testing.T, kind string, exclude ...string) *crawler.Options {
	t.Helper()
	scope, err := crawler.NewScope(kind, nil, exclude)
	if err != nil {
		t.Fatal(err)
	}
	scope.AddSeed("http://a.test/")
	return &crawler.Options{Scope: scope}
}

// follow handles pages as a crawl with the options opt would.
func follow(t *testing.T, p *Pipeline, opt *crawler.Options, pages ...*crawler.Page) {
	t.Helper()
	for _, page := range pages {
		leads, err := crawler.LeadsOf(page, opt)
		if err == nil {
			err = p.Handle(t.Context(), page, leads)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// linksOf returns the URLs that a page adds to the frontier, as text.
func linksOf(t *testing.T, opt *crawler.Options, page *crawler.Page) (links string) {
	t.Helper()
	s := storetest.NewMemory()
	p := start(t, s, testOptions(t))
	follow(t, p, opt, page)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, it := range takeAll(t, s) {
		all = append(all, fmt.Sprintf("%s@%d", it.URL, it.Depth))
	}
	return strings.Join(all, " ")
}

// takeAll claims all hosts, and takes all their URLs from the frontier.
func takeAll(t *testing.T, s store.Store) (all []frontier.Item) {
	t.Helper()
	grant, err := s.Claim(t.Context(), "test", 100, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range grant.Hosts {
		items, err := s.Take(t.Context(), h.Claim, 100)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, items...)
	}
	return all
}

// URLs outside the crawl to which a page links or redirects are recorded once. They can be
// distinguished from unknown URLs.
func TestBeyond(t *testing.T) {
	const body = `<a href="/in"><a href="http://other.test/"><a href="http://other.test/#again"><a href="/paid" rel="sponsored nofollow">`
	redirect := page("http://a.test/", "")
	redirect.Status, redirect.Location = 301, "http://other.test/"
	for _, c := range []struct {
		name              string
		page              *crawler.Page
		maxDepth          int
		obey              bool
		pending, excluded string
	}{
		{"links", page("http://a.test/", body), 0, false, "http://a.test/in http://a.test/paid", "http://other.test/ scope: beyond --scope host"},
		{"nofollow is obeyed", page("http://a.test/", body), 0, true, "http://a.test/in", "http://other.test/ scope: beyond --scope host"},
		{"redirect", redirect, 0, false, "", "http://other.test/ scope: beyond --scope host"},
		{"too deep", func() *crawler.Page { p := page("http://a.test/", body); p.Item.Depth = 1; return p }(), 1, false, "",
			"http://a.test/in depth: beyond --max-depth 1 http://a.test/paid depth: beyond --max-depth 1 http://other.test/ scope: beyond --scope host"},
	} {
		opt := within(t, crawler.ScopeHost)
		opt.MaxDepth, opt.ObeyNoFollow = c.maxDepth, c.obey
		s := storetest.NewMemory()
		p := start(t, s, testOptions(t))
		follow(t, p, opt, c.page)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		same(t, c.name+": pending", inState(t, s, frontier.Pending), c.pending)
		same(t, c.name+": outside", inState(t, s, frontier.Outside), c.excluded)
	}
}

func inState(t *testing.T, s store.Store, state frontier.State) string {
	t.Helper()
	var all []string
	for url, err := range s.URLs(t.Context(), state) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, url)
	}
	return strings.Join(all, " ")
}

func TestLinks(t *testing.T) {
	some := `<a href="/x#top"><a href="/x"><a href="x" rel=other><a href=""><a href="?q"><a href="http://other.test/"><a href="mailto:a@b"><a href="http://[">`
	deep := func(depth int) *crawler.Page {
		p := page("http://a.test/", some)
		p.Item.Depth = depth
		return p
	}
	for _, c := range []struct {
		name     string
		page     *crawler.Page
		maxDepth int
		want     string
	}{
		{"each once, not itself, within scope", page("http://a.test/", some), 0, "http://a.test/x@1 http://a.test/?q@1"},
		{"deeper", deep(3), 0, "http://a.test/x@4 http://a.test/?q@4"},
		{"not yet too deep", deep(1), 2, "http://a.test/x@2 http://a.test/?q@2"},
		{"too deep", deep(2), 2, ""},
		{"base", page("http://a.test/", `<base href="/sub/"><a href="x">`), 0, "http://a.test/sub/x@1"},
		{"base elsewhere", page("http://a.test/", `<base href="http://other.test/"><a href="x"><a href="http://a.test/y">`), 0, "http://a.test/y@1"},
		{"nofollow", page("http://a.test/", `<meta name=robots content="nofollow">`+some), 0, ""},
		{"noindex is followed", page("http://a.test/", `<meta name=robots content="noindex">`+some), 0, "http://a.test/x@1 http://a.test/?q@1"},
		{"next, previous and other languages", page("http://a.test/", `<link rel=next href="/2"><link rel=prev href="/0"><link rel=alternate hreflang=de href="/de/">`+
			`<link rel=alternate type="application/rss+xml" href="/feed"><link rel=alternate hreflang=fr href="http://other.test/fr"><a href="/2">2</a>`), 0,
			"http://a.test/2@1 http://a.test/0@1 http://a.test/de/@1"},
		{"of an error page", func() *crawler.Page { p := deep(0); p.Problem, p.Status = crawler.ProblemStatus, 404; return p }(), 0, ""},
	} {
		opt := within(t, crawler.ScopeHost)
		opt.MaxDepth = c.maxDepth
		same(t, c.name, linksOf(t, opt, c.page), c.want)
	}
	if links := linksOf(t, new(crawler.Options), page("http://a.test/", some)); links != "" {
		t.Errorf("without a scope %q are followed", links)
	}
}

// Directives for a certain crawler apply only if the user agent has the name of that crawler.
func TestRobotsForOne(t *testing.T) {
	for _, c := range []struct{ agent, want string }{
		{"", "/meta false, /header false, /none true, /other false"}, // the default agent, skink
		{"otherbot", "/meta true, /header true, /none true, /other true"},
	} {
		s := storetest.NewMemory()
		opt := testOptions(t)
		if c.agent != "" {
			opt.Agent = func(host string) string { return map[string]string{"a.test": c.agent}[host] + "/1.0 (of a host)" }
		}
		p := start(t, s, opt)
		header := article("http://a.test/header", words(2, 100))
		header.Header.Set("X-Robots-Tag", "OtherBot: noindex")
		handle(t, p,
			page("http://a.test/meta", "<meta name=OtherBot content='noarchive, NOINDEX'><p>"+words(1, 100)),
			header,
			page("http://a.test/none", "<meta name=robots content=none><p>"+words(3, 100)),
			page("http://a.test/other", "<meta name=otherbot content=noindex><meta name=otherbot content=index><p>"+words(4, 100)),
		)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records(t, s) {
			got = append(got, fmt.Sprintf("%s %v", strings.TrimPrefix(r.URL, "http://a.test"), r.NoIndex))
		}
		same(t, "noindex for "+c.agent, strings.Join(got, ", "), c.want)
	}
}

func TestRobotsTag(t *testing.T) {
	for _, c := range []struct {
		values string // fields of the header, separated by |
		want   extract.Ask
	}{
		{"", extract.Ask{}},
		{"noindex", extract.Ask{NoIndex: true}},
		{"NoIndex, NOFOLLOW", extract.Ask{NoIndex: true, NoFollow: true}},
		{"none", extract.Ask{NoIndex: true, NoFollow: true}},
		{"all", extract.Ask{}},
		{"noarchive, nofollow", extract.Ask{NoFollow: true}},
		{"noarchive|noindex", extract.Ask{NoIndex: true}},
		{"googlebot: noindex", extract.Ask{}},
		{"skink: noindex", extract.Ask{NoIndex: true}},
		{"Skink : none", extract.Ask{NoIndex: true, NoFollow: true}},
		{"otherbot: noindex|nofollow", extract.Ask{NoFollow: true}},
		{"unavailable_after: 25 Jun 2010 15:00:00 PST", extract.Ask{}},
		{"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", extract.Ask{NoIndex: true}},
		{"noindex, unavailable_after: 25 Jun 2010 15:00:00 PST", extract.Ask{NoIndex: true}},
		{"max-snippet:20, nofollow", extract.Ask{NoFollow: true}},
		{"noindexing", extract.Ask{}},
		{"otherbot: noindex, nofollow", extract.Ask{}},
		{"otherbot: noindex, skink: nofollow", extract.Ask{NoFollow: true}},
		{"skink: nofollow, otherbot: noindex", extract.Ask{NoFollow: true}},
		{"noindex, otherbot: nofollow", extract.Ask{NoIndex: true}},
		{"skink: unavailable_after: Wednesday, 03-Aug-2010 15:00:00 GMT, noindex", extract.Ask{NoIndex: true}},
		{"otherbot: noarchive|none", extract.Ask{NoIndex: true, NoFollow: true}},
		{":noindex", extract.Ask{}},
	} {
		h := http.Header{}
		for v := range strings.SplitSeq(c.values, "|") {
			h.Add("x-robots-tag", v)
		}
		if got := robotsTag(h, "skink"); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.values, got, c.want)
		}
	}
	if got := robotsTag(nil, "skink"); got != (extract.Ask{}) {
		t.Errorf("no header: got %+v", got)
	}
}

func TestRedirects(t *testing.T) {
	for _, c := range []struct {
		name     string
		from     frontier.Item
		to       string
		want     frontier.Item // zero if the redirect is not followed
		newSeeds string
	}{
		{"within the site", frontier.Item{URL: "http://a.test/1", Depth: 2}, "http://a.test/2", frontier.Item{URL: "http://a.test/2", Via: "http://a.test/1", Depth: 2, Hops: 1}, ""},
		{"the second hop knows the first", frontier.Item{URL: "http://a.test/2", Via: "http://a.test/1", Depth: 2, Hops: 1}, "http://a.test/3", frontier.Item{URL: "http://a.test/3", Via: "http://a.test/1", Depth: 2, Hops: 2}, ""},
		{"out of scope", frontier.Item{URL: "http://a.test/1", Depth: 1}, "http://www.a.test/", frontier.Item{}, ""},
		{"a seed's site is its scope", frontier.Item{URL: "http://a.test/"}, "https://www.a.test/home", frontier.Item{URL: "https://www.a.test/home", Via: "http://a.test/", Hops: 1}, "https://www.a.test/home"},
		{"a seed that leads to another site", frontier.Item{URL: "http://a.test/"}, "http://b.test/", frontier.Item{}, ""},
		{"to what is excluded", frontier.Item{URL: "http://a.test/"}, "http://a.test/login", frontier.Item{}, ""},
	} {
		s := storetest.NewMemory()
		opt := within(t, crawler.ScopeHost, "/login")
		var seeds []string
		opt.OnSeed = func(_, u string) error { seeds = append(seeds, u); return nil }
		p := start(t, s, testOptions(t))
		s.Discover(t.Context(), []frontier.Item{c.from})
		moved := page(c.from.URL, "")
		moved.Item, moved.Status, moved.Location = c.from, 301, c.to
		follow(t, p, opt, moved)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		got := takeAll(t, s)
		if fmt.Sprint(got) != fmt.Sprint([]frontier.Item{c.want}) && !(c.want == frontier.Item{} && got == nil) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		same(t, c.name+": new seeds", strings.Join(seeds, " "), c.newSeeds)
		if c.newSeeds != "" && !opt.Scope.Contains(c.newSeeds+"/deeper") {
			t.Errorf("%s: the scope did not follow", c.name)
		}
		r := records(t, s)[0]
		if r.Kind != store.Redirect || r.Location != c.to || r.Via != c.from.Via || r.Hops != c.from.Hops || r.Verdict != "" {
			t.Errorf("%s: recorded as %+v", c.name, r)
		}
		if state, _ := s.State(t.Context(), c.from.URL); state != frontier.Redirected {
			t.Errorf("%s: ended in state %d", c.name, state)
		}
	}
}

// TestKinds checks the record of each kind of answer, and the final state of its URL.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		change func(*crawler.Page)
		want   string
		state  frontier.State
	}{
		{func(*crawler.Page) {}, "page thin", frontier.Fetched},
		{func(p *crawler.Page) { p.Header.Set("Content-Type", "image/png"); p.Body = []byte("\x89PNG\r\n\x1a\n") }, "other", frontier.Fetched},
		{func(p *crawler.Page) { p.Problem = crawler.ProblemRobots }, "blocked robots.txt", frontier.Blocked},
		{func(p *crawler.Page) { p.Problem, p.Detail = crawler.ProblemOutside, "exclude: x" }, "outside outside", frontier.Outside},
		{func(p *crawler.Page) { p.Problem, p.Status = crawler.ProblemStatus, 404 }, "error status 404", frontier.Failed},
		{func(p *crawler.Page) { p.Problem, p.Header, p.Status = crawler.ProblemDNS, nil, 0 }, "error dns", frontier.GivenUp},
		{func(p *crawler.Page) { p.Problem, p.Truncated = crawler.ProblemSize, true }, "error too large", frontier.Failed},
	} {
		s := storetest.NewMemory()
		p := start(t, s, testOptions(t))
		pg := article("http://a.test/", "few words")
		c.change(pg)
		s.Discover(t.Context(), []frontier.Item{pg.Item})
		handle(t, p, pg)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		r := records(t, s)[0]
		same(t, "kind", strings.TrimSpace(fmt.Sprintf("%s %s%s", r.Kind, r.Problem, r.Verdict)), c.want)
		if state, _ := s.State(t.Context(), r.URL); state != c.state || pg.End() != c.state {
			t.Errorf("%s: ended in state %d, its page in %d, want %d", c.want, state, pg.End(), c.state)
		}
		if (r.Kind == store.Other) == r.Hash.IsZero() && r.Kind != store.Page {
			t.Errorf("%s: the hash is %v", c.want, r.Hash)
		}
	}
}

// synced is a store that counts calls of Sync.
type synced struct {
	store.Store
	n *atomic.Int64
}

func (s synced) Sync() error { s.n.Add(1); return nil }

// A page is synced to disk soon after its commit, even if no other page follows.
func TestSyncs(t *testing.T) {
	store.Pack(nil) // creates the encoder, which all tests share, outside the bubble
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int64
		p := start(t, synced{storetest.NewMemory(), &syncs}, testOptions(t))
		if err := p.Handle(context.Background(), article("http://a.test/", "few words"), new(crawler.Leads)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(syncEvery)
		synctest.Wait()
		if n := syncs.Load(); n != 1 {
			t.Errorf("%d syncs after %v, want 1", n, syncEvery)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDrawnMenus reads pages without a link into their own site. If they have scripts, a browser must
// render them, because the scripts may draw the menus.
func TestDrawnMenus(t *testing.T) {
	t.Parallel()
	text := "<p>" + words(1, 60) + "</p>"
	for _, test := range []struct {
		name, html string
		drawn      bool
	}{
		{"no link", text + "<script src=menu.js></script>", true},
		{"only other sites", text + `<a href="https://doxygen.test/">Doxygen</a><script>menu()</script>`, true},
		{"only itself", text + `<a href="/m/#top">Top</a><a href="./">Here</a><script>menu()</script>`, true},
		{"only commands", text + `<a href="javascript:open()">Menu</a><a href="mailto:a@b.test">Write</a><script>menu()</script>`, true},
		{"another host by its base", `<base href="https://other.test/">` + text + `<a href="a">A</a><script>menu()</script>`, true},
		{"a link", text + `<a href="part.html">Part</a><script src=menu.js></script>`, false},
		{"a frame", `<iframe src="part.html"></iframe><script src=menu.js></script>`, false},
		{"no script", text, false},
		{"only data", text + `<script type="application/ld+json">{"@type": "Article"}</script>`, false},
	} {
		page := &crawler.Page{
			Item: frontier.Item{URL: "http://a.test/m/"}, Status: 200, MayRender: true,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(test.html),
		}
		leads, err := crawler.LeadsOf(page, within(t, "host"))
		if err != nil {
			t.Fatal(err)
		}
		opt := testOptions(t)
		if _, err = opt.read(t.Context(), page, leads, 0); errors.Is(err, crawler.ErrRender) != test.drawn {
			t.Errorf("%s: %v, want a page to render: %t", test.name, err, test.drawn)
		}
	}
}

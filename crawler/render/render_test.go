package render

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// newBrowser returns a browser that ends with the test.
func newBrowser(t testing.TB, opt Options) *Browser {
	t.Helper()
	if opt.Path == "" {
		var err error
		if opt.Path, err = Find(); err != nil {
			t.Skip(err)
		}
	}
	b := New(opt)
	t.Cleanup(b.Close)
	return b
}

// TestBrowsers draws a page with each browser that is installed, and takes a picture of it.
func TestBrowsers(t *testing.T) {
	for _, name := range names {
		path, err := find(name)
		if err != nil {
			continue
		}
		b := newBrowser(t, Options{Path: path, Screenshots: true})
		d, err := b.Draw(t.Context(), page("<body><script>setTimeout(() => document.body.append('drawn late'), 300)</script>"), refuseAll)
		if err != nil || !strings.Contains(string(d.HTML), "drawn late") || d.Cut || len(d.View) < 1000 || len(d.Thumbnail) < 100 {
			t.Errorf("%s: %+v, %v", path, d, err)
		}
	}
}

// A site answers requests from memory, and records them.
type site struct {
	answers map[string]string // answers by path; the extension of the path decides whether an answer is JavaScript
	mu      sync.Mutex
	asked   []string // guarded by mu
}

func (s *site) fetch(_ context.Context, r Request) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL)
	body, ok := s.answers[strings.TrimPrefix(r.URL, "http://site.example")]
	if !ok {
		return Answer{}, fmt.Errorf("%s: not found", r.URL)
	}
	kind := "application/json"
	if strings.HasSuffix(r.URL, ".html") {
		kind = "text/html"
	}
	if strings.HasSuffix(r.URL, ".js") {
		kind = "text/javascript"
	}
	return Answer{http.StatusOK, http.Header{"Content-Type": {kind}}, []byte(body)}, nil
}

func page(html string) Page {
	return Page{URL: "http://site.example/", Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(html)}
}

func TestDraw(t *testing.T) {
	b := newBrowser(t, Options{})
	s := &site{answers: map[string]string{
		"/main.js":   `const r = await fetch('/data.json'); document.getElementById('root').textContent = (await r.json()).text; import('/more.js')`,
		"/data.json": `{"text":"drawn from data"}`,
		"/more.js":   `setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p>and later</p>'), 100)`,
	}}
	d, err := b.Draw(t.Context(), page(`<html lang=en><title>App</title><link rel=stylesheet href=/a.css><noscript>no scripts</noscript><div id=root></div><img src=/a.png><script type=module src=/main.js></script>`), s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<html lang="en">`, "drawn from data", "and later"} {
		if !strings.Contains(string(d.HTML), want) {
			t.Errorf("the drawn page lacks %q: %s", want, d.HTML)
		}
	}
	if strings.Contains(string(d.HTML), "no scripts") || d.Cut || d.Goes != "" {
		t.Errorf("%+v", d)
	}
	if want := []string{"http://site.example/main.js", "http://site.example/data.json", "http://site.example/more.js"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
}

// The HTML of a rendered page includes the open shadow roots of custom elements.
func TestShadowRoots(t *testing.T) {
	b := newBrowser(t, Options{})
	const script = `class Card extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow</p><x-inner></x-inner>' } }
		class Inner extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<p>below it</p>' } }
		customElements.define('x-inner', Inner); customElements.define('x-card', Card)`
	d, err := b.Draw(t.Context(), page("<body><x-card></x-card><script>"+script+"</script>"), (&site{}).fetch)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in the shadow", "below it", `<template shadowrootmode="open">`} {
		if !strings.Contains(string(d.HTML), want) {
			t.Errorf("the drawn page lacks %q: %s", want, d.HTML)
		}
	}
}

// A closed shadow root is text of the page, too.
func TestClosedShadowRoot(t *testing.T) {
	b := newBrowser(t, Options{})
	const script = `document.querySelector('x-card').attachShadow({mode: 'closed', delegatesFocus: true}).innerHTML = '<p>in the shadow</p>'`
	d, err := b.Draw(t.Context(), page("<body><x-card></x-card><script>"+script+"</script>"), (&site{}).fetch)
	if err != nil || !strings.Contains(string(d.HTML), "<p>in the shadow</p>") {
		t.Errorf("%v: %s", err, d.HTML)
	}
}

// A page with little text is drawn when its timers have written its text. It does not wait for intervals, for
// timers of minutes, or for timers that were cleared.
func TestTimers(t *testing.T) {
	b := newBrowser(t, Options{})
	write := "document.getElementById('root').textContent = 'now it is here'"
	for name, c := range map[string]struct {
		body, script string
		want         bool
	}{
		"in 800 ms":           {"", "setTimeout(() => { " + write + " }, 800)", true},
		"in 2 s":              {"Loading…", "setTimeout(() => { " + write + " }, 2000)", true},
		"string":              {"", "setTimeout(\"" + write + "\", 600)", true},
		"chain":               {"", "let i = 0; (function f() { if (++i < 8) setTimeout(f, 250); else { " + write + " } })()", true},
		"request in a timer":  {"", "setTimeout(() => fetch('/data.json').then(() => { " + write + " }), 700)", true},
		"beside an interval":  {"<p id=spinner></p>", "setInterval(() => { spinner.textContent += '.' }, 100); setTimeout(() => { " + write + " }, 1500)", true},
		"cleared":             {"", "clearTimeout(setTimeout(() => { " + write + " }, 2000))", false},
		"in a minute":         {"", "setTimeout(() => { " + write + " }, 60000)", false},
		"timers without end":  {"", "(function f() { setTimeout(f, 300) })()", false},
		"native to the page":  {"", "if (String(setTimeout).includes('[native code]')) { " + write + " }", true},
		"arguments are given": {"", "setTimeout((a, b) => { if (a + b == 3) { " + write + " } }, 500, 1, 2)", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{answers: map[string]string{"/data.json": "{}"}}
			d, err := b.Draw(t.Context(), page("<body>"+c.body+"<div id=root></div><script>"+c.script+"</script>"), s.fetch)
			if err != nil || d.Cut {
				t.Fatalf("%v, cut: %v", err, d != nil && d.Cut)
			}
			if got := strings.Contains(string(d.HTML), ">now it is here<"); got != c.want {
				t.Errorf("the text is drawn: %v, want %v", got, c.want)
			}
		})
	}
}

// A page does not see the cookies and the storage of the previous page.
func TestApart(t *testing.T) {
	b := newBrowser(t, Options{})
	const script = `document.body.append('was ' + localStorage.getItem('x') + ' ' + document.cookie); localStorage.setItem('x', 'here'); document.cookie = 'x=here'`
	for range 2 {
		d, err := b.Draw(t.Context(), page("<body><script>"+script+"</script>"), (&site{}).fetch)
		if err != nil || !strings.Contains(string(d.HTML), "was null ") || strings.Contains(string(d.HTML), "x=here</body>") {
			t.Errorf("%v: %s", err, d.HTML)
		}
	}
}

// Frames of the page's origin are text of the page, where the page shows them, even if they are drawn by
// scripts, are in other frames or have no URL. Their links lead where they lead in the frame.
func TestFrames(t *testing.T) {
	b := newBrowser(t, Options{})
	s := &site{answers: map[string]string{
		"/in/a.html":    `<h1>from the frame</h1><a href=next>on</a><iframe src=deep.html></iframe><script src=/draw.js></script>`,
		"/in/deep.html": `<p>from the deepest frame</p>`,
		"/draw.js":      `document.body.insertAdjacentHTML('beforeend', '<p>drawn in the frame</p>')`,
		"/none.html":    `<p>never shown</p>`,
	}}
	d, err := b.Draw(t.Context(), page(`<p>before</p><iframe src=/in/a.html></iframe><iframe srcdoc="<p>without a URL</p>"></iframe>
		<iframe src=/none.html style="display: none"></iframe><iframe src=/none.html width=1 height=1></iframe><iframe src=http://other.example/></iframe><p>after</p>`), s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"before", "from the frame", `href="http://site.example/in/next"`, "from the deepest frame", "drawn in the frame", "without a URL", "after"} {
		i := strings.Index(string(d.HTML)[at:], want)
		if i < 0 {
			t.Fatalf("the drawn page lacks %q after %q", want, d.HTML[:at])
		}
		at += i
	}
	// Hidden frames are requested as well, but not those of another origin.
	if strings.Contains(string(d.HTML), "never shown") || len(s.asked) != 5 {
		t.Errorf("a hidden frame is shown, or a frame of another origin was asked for: %q %s", s.asked, d.HTML)
	}
}

// A page that looks complete can be given time, and an element to wait for.
func TestWait(t *testing.T) {
	b := newBrowser(t, Options{Time: 4 * time.Second})
	long := strings.Repeat("This page is long enough. ", 20)
	late := func(id string) string {
		return long + `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=` + id + `>late text</p>'), 2000)</script>`
	}
	for name, test := range map[string]struct {
		id      string
		wait    time.Duration
		waitFor string
		shown   bool
		cut     bool
	}{
		"time":                  {"late", 2500 * time.Millisecond, "", true, false},
		"element":               {"late", 0, "main, #late", true, false},
		"element that is never": {"other", 0, `p[id="late"]`, true, true},
	} {
		p := page(late(test.id))
		p.Wait, p.WaitFor = test.wait, test.waitFor
		d, err := b.Draw(t.Context(), p, (&site{}).fetch)
		if err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(string(d.HTML), ">late text"); shown != test.shown || d.Cut != test.cut {
			t.Errorf("%s: shown %v, cut %v", name, shown, d.Cut)
		}
	}
}

// A page that says nothing about its encoding is read as UTF-8 if it is UTF-8.
func TestEncodings(t *testing.T) {
	b := newBrowser(t, Options{})
	for _, c := range []struct{ name, kind, html, want string }{
		{"nothing", "text/html", "<p>caf\u00e9…", "café…"},
		{"nothing, and a script", "text/html", "<p><script>document.querySelector('p').textContent = '水…'</script>", "水…"},
		{"the header", "text/html; charset=windows-1251", "<p>\xec\xe8\xf0", "мир"},
		{"an element", "text/html", "<meta charset=windows-1252><p>caf\xe9", "café"},
		{"an element that is wrong", "text/html", "<meta charset=windows-1252><p>é", "Ã©"},
		{"Latin-1 without a word", "text/html", "<p>caf\xe9", "café"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := Page{URL: "http://site.example/", Header: http.Header{"Content-Type": {c.kind}}, Body: []byte(c.html)}
			d, err := b.Draw(t.Context(), p, (&site{}).fetch)
			if err != nil || !strings.Contains(string(d.HTML), ">"+c.want) || p.Header.Get("Content-Type") != c.kind {
				t.Errorf("%v, %+v", err, d)
			}
		})
	}
}

// Links to fragments that the page does not have lead to views. If the page keeps its texts in JSON, and
// shows the views beside each other, the drawing has them all.
func TestViews(t *testing.T) {
	b := newBrowser(t, Options{})
	const data, router = `<script type="application/json" id=d>{"a": "text of a", "b": "text of b", "c": "text of c", "pad": "%s"}</script>`, `<script>
		const d = JSON.parse(document.getElementById('d').textContent), box = document.getElementById('box');
		const show = () => { const id = location.hash.slice(1) || 'a'; %s };
		addEventListener('hashchange', show); show()</script>`
	beside := `if (d[id] && !box.textContent.includes(d[id])) box.insertAdjacentHTML('beforeend', '<p>' + d[id] + (id === 'b' ? ' <a href="#c">c</a>' : ''))`
	for _, c := range []struct {
		name, body, show string
		pad              int
		want             string
	}{
		{"beside each other", `<a href="#100%">all</a><a href="#b">b</a>`, beside, 2000, "abc"},
		{"listed by a tab", `<button role=tab aria-selected=true>Open</button><button role=tab aria-selected=false onclick="list.innerHTML = '<a href=#c>c</a>'">All</button><div id=list></div>`, beside, 2000, "ac"},
		{"instead of each other", `<a href="#b">b</a>`, "box.innerHTML = '<p>' + d[id]", 2000, "a"},
		{"little in JSON", `<a href="#b">b</a>`, beside, 0, "a"},
		{"a fragment of the page", `<a href="#b">b</a><p id=b>of the page`, beside, 2000, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			html := c.body + "<div id=box></div>" + fmt.Sprintf(data, strings.Repeat("x", c.pad)) + fmt.Sprintf(router, c.show)
			d, err := b.Draw(t.Context(), page(html), (&site{}).fetch)
			if err != nil || d.Cut {
				t.Fatalf("%v %+v", err, d)
			}
			got := ""
			for _, view := range []string{"a", "b", "c"} {
				if strings.Contains(string(d.HTML), "<p>text of "+view) {
					got += view
				}
			}
			if got != c.want {
				t.Errorf("the drawing has the views %q, want %q", got, c.want)
			}
		})
	}
}

// A browser scrolls, opens and presses only what it is asked to, only buttons of the page itself, and stops if
// there is always more.
func TestBehaviors(t *testing.T) {
	b := newBrowser(t, Options{})
	html := `<p>` + strings.Repeat("This page is long enough. ", 20) + `</p><div id=root></div>
		<details><summary>open</summary></details><button onclick="add('pressed'); if (++presses == 3) this.remove()">Load more</button>
		<button id=buy onclick="add('bought')">More is less, so buy this thing now, together with a further one</button><a href="/away.html">Load more</a>
		<div style="height: 5000px"></div><img data-src=/late.png>
		<script>let presses = 0, grown = 0; const add = text => document.getElementById('root').insertAdjacentHTML('beforeend', '<p>' + text + '</p>');
		document.querySelector('details').ontoggle = () => add('opened');
		new IntersectionObserver(all => { if (all[0].isIntersecting) { const i = document.images[0]; i.src = i.dataset.src } }).observe(document.images[0]);
		addEventListener('scroll', () => { if (scrollY + innerHeight > document.documentElement.scrollHeight - 10 && grown++ < 500) document.body.insertAdjacentHTML('beforeend', '<p class=grown style="height: 3000px">grown</p>') })</script>`
	for _, c := range []struct {
		behaviors []string
		want      string
	}{
		{nil, "opened 0, late false, grown false, pressed 0"},
		{[]string{"details"}, "opened 1, late false, grown false, pressed 0"},
		{[]string{"scroll"}, "opened 0, late true, grown true, pressed 0"},
		{[]string{"more", "details"}, "opened 1, late false, grown false, pressed 3"},
	} {
		p := page(html)
		p.Behaviors = c.behaviors
		d, err := b.Draw(t.Context(), p, (&site{}).fetch)
		if err != nil || d.Cut || d.Goes != "" {
			t.Fatalf("%q: %v %+v", c.behaviors, err, d)
		}
		got := string(d.HTML)
		grown := strings.Count(got, "class=\"grown\"")
		if said := fmt.Sprintf("opened %d, late %v, grown %v, pressed %d", strings.Count(got, "<p>opened"), strings.Contains(got, ` src="/late.png"`), grown > 0, strings.Count(got, "<p>pressed")); said != c.want {
			t.Errorf("%q: %s, want %s", c.behaviors, said, c.want)
		}
		if grown > maxScrolls || strings.Contains(got, "<p>bought") {
			t.Errorf("%q: grown %d times, bought %v", c.behaviors, grown, strings.Contains(got, "<p>bought"))
		}
	}
}

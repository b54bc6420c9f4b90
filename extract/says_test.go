package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// parsed parses a page with the given elements.
func parsed(t *testing.T, o Options, elements string) *Document {
	t.Helper()
	d, err := o.Parse([]byte("<!doctype html><html>"+elements), "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhatLinksSay(t *testing.T) {
	long := strings.Repeat("слово ", 30)
	for _, test := range []struct{ name, page, want string }{
		{"its words", `<a href=/1>two words</a>`, `link two words`},
		{"on one line", "<a href=/1> \n two\n\t words\u00a0more </a>", `link two words more`},
		{"of several elements", `<a href=/1>one<b>two</b><h3>three</h3><p>four</p></a>`, `link onetwo three four`},
		{"a picture", `<a href=/1><img alt=" a  picture "><img alt=second></a>`, `link a picture`},
		{"words and a picture", `<a href=/1><img alt="a picture">words</a>`, `link words`},
		{"a label", `<a href=/1 aria-label="the label" title=tip><svg></svg></a>`, `link the label`},
		{"a tip", `<a href=/1 title=tip><i class=icon></i></a>`, `link tip`},
		{"nothing", `<a href=/1></a>`, `link `},
		{"hidden words", `<a href=/1 hidden>words</a>`, `link words`},
		{"no scripts and styles", `<a href=/1><style>a{}</style>words<script>x()</script><template>t</template></a>`, `link words`},
		{"at most 100 bytes of whole characters", `<a href=/1>` + long + `</a>`, `link ` + strings.TrimSuffix(long[:99], " ")},
		{"all different texts of a URL", `<a href=/1></a><a href=/1>later</a><a href=/1>last</a><a href=/1>later</a><a href=/1><b>la</b>st</a>`, "link later\nlast"},
		{"an area", `<map><area href=/1 title=north></map>`, `link north`},
		{"a frame", `<iframe src=/1 title="a map"></iframe>`, `frame a map`},
		{"a refresh", `<meta http-equiv=refresh content="0;url=/1">`, `refresh `},
	} {
		d := parsed(t, Options{}, test.page)
		if len(d.Links) != 1 {
			t.Errorf("%s: %d links", test.name, len(d.Links))
			continue
		}
		if got := string(d.Links[0].By) + " " + d.Links[0].Text; got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// WithLine keeps a list of different lines within its limit.
func TestWithLine(t *testing.T) {
	list := ""
	for _, line := range []string{"", "one", "one", "three", "on", "", "three", "hundreds of letters", "e", "on"} {
		list = WithLine(list, line, 14)
	}
	if want := "one\nthree\non\ne"; list != want {
		t.Errorf("got %q, want %q", list, want)
	}
}

func TestAllLinks(t *testing.T) {
	d := parsed(t, Options{}, `<meta name=robots content=nofollow><link rel=next href=/2><link rel=alternate hreflang=de href=/de>
		<link rel=alternate type=application/rss+xml href=/feed><a href=/1>one</a>`)
	var got []string
	for l := range d.AllLinks() {
		got = append(got, string(l.By)+" "+l.Href)
	}
	if want := []string{"link /1", "neighbour /2", "alternate /de"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for href := range d.Hrefs() {
		t.Errorf("a page that forbids it is followed to %s", href)
	}
}

func TestHeadings(t *testing.T) {
	for _, test := range []struct {
		name, page string
		want       []string
	}{
		{"in order", `<h1>one</h1><h2>no</h2><p>text</p><h1>two <b>words</b></h1>`, []string{"one", "two words"}},
		{"a picture", `<h1><a href=/><img alt="the shop"></a></h1>`, []string{"the shop"}},
		{"empty", `<h1></h1><h1> </h1>`, []string{"", ""}},
		{"without the sign of its address", `<h1>Install<a href=#install>¶</a></h1>`, []string{"Install"}},
		{"in a header", `<header><h1>Site</h1></header><main><h1>Page</h1></main>`, []string{"Site", "Page"}},
		{"at most eight", strings.Repeat("<h1>x</h1>", 10), []string{"x", "x", "x", "x", "x", "x", "x", "x"}},
	} {
		if got := parsed(t, Options{}, test.page).H1; !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCanonicals(t *testing.T) {
	d := parsed(t, Options{}, `<link rel=canonical href=/a><link rel=canonical href=/b><link rel=canonical href=/a>`)
	if want := []string{"/a", "/b"}; !slices.Equal(d.Canonicals, want) || d.Canonical != "/a" {
		t.Errorf("got %q and %q, want %q and /a", d.Canonicals, d.Canonical, want)
	}
}

func TestWhereTitleIsFrom(t *testing.T) {
	const text = `<p>The text of a page that goes on for some words, so that there is one.</p>`
	for _, test := range []struct {
		page, title, from string
		shared            bool
	}{
		{`<title>one</title><meta property=og:title content=two><h1>three</h1><meta name=description content=d><meta property=og:description content=o>`, "one", "", false},
		{`<meta property=og:title content=two><title>one</title><meta property=og:description content=o><meta name=description content=d>`, "one", "", false},
		{`<meta property=og:title content=two><h1>three</h1><meta property=og:description content=o>`, "two", "og:title", true},
		{`<title></title><h1>three</h1>`, "three", "h1", false},
		{``, "", "", false},
	} {
		d := parsed(t, Options{}, test.page+text)
		if d.Title != test.title || d.TitleFrom != test.from || d.SharedOnly != test.shared {
			t.Errorf("%s: title %q from %q, description shared only: %v", test.page, d.Title, d.TitleFrom, d.SharedOnly)
		}
	}
}

func TestEmbeds(t *testing.T) {
	const page = `<link rel="Stylesheet" href=/a.css><link rel="alternate stylesheet" href=/no.css><link rel="shortcut icon" href=/f.ico>
		<script src=/a.js></script><script>x()</script><img src=/p.png alt="a  picture"><img src=/p.png><img src=data:,x srcset=" ,/s.png 1x, /l,1.png 2x(,),/m.png,/m2.png ,,/s.png 3x,">
		<picture><source srcset="/w.webp, /w2.webp 2x"><img src=/w.png></picture>
		<video src=/v.mp4 poster=/v.png><track src=/v.vtt></video><audio><source src=/a.ogg></audio><object data=/o.pdf></object><embed src=/e.swf>
		<input type=image src=/go.png alt=go><noscript><img src=/n.gif></noscript><template><img src=/t.png></template><iframe src=/frame></iframe>`
	if d := parsed(t, Options{}, page); d.Embeds != nil {
		t.Errorf("not asked for: %v", d.Embeds)
	}
	var got []string
	for _, e := range parsed(t, Options{Embeds: true}, page).Embeds {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.By, e.Href, e.Alt)))
	}
	want := []string{
		"style /a.css", "image /f.ico", "script /a.js", "image /p.png a picture", "image /s.png", "image /l,1.png", "image /m.png,/m2.png", "image /w.webp", "image /w2.webp", "image /w.png",
		"media /v.mp4", "image /v.png", "media /v.vtt", "media /a.ogg", "media /o.pdf", "media /e.swf", "image /go.png go", "image /n.gif",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRequisites checks which files are found in addition if Options.Requisites is set.
func TestRequisites(t *testing.T) {
	const text = "A skink is a lizard with small legs, and many skinks live in the sand."
	const page = `<html><head><link rel=stylesheet href=/a.css><link rel=preload as=font href=/f.woff2 crossorigin><link rel=preload as=image href=/p.png imagesrcset="/p2.png 2x">
		<link rel=modulepreload href=/m.js><style>@import "/b.css"; h1 { background: url(/bg.png) } p { background: url(data:image/png;base64,AA) }</style></head>
		<body background=/old.png style="background-image: url('/body.png')"><p style="color: red">` + text + `
		<svg><image href=/drawn.png /><use xlink:href="/icons.svg#home"></use><use href="#here"></use></svg><img src=/a.png></body></html>`
	var got []string
	for _, e := range parsed(t, Options{Embeds: true, Requisites: true}, page).Embeds {
		got = append(got, fmt.Sprint(e.By, " ", e.Href))
	}
	want := []string{
		"style /a.css", "style /f.woff2", "image /p.png", "image /p2.png", "script /m.js", "style /b.css", "style /bg.png",
		"style /body.png", "image /old.png", "image /drawn.png", "image /icons.svg#home", "image /a.png",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

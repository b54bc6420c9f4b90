package extract

import (
	"fmt"
	"slices"
	"testing"
)

// TestDescribed checks the metadata of a page. Where the page and its JSON-LD differ, the page
// takes precedence.
func TestDescribed(t *testing.T) {
	const ld = `<script type="application/ld+json">`
	for _, test := range []struct {
		name, page string
		got        func(*Document) any
		want       any
	}{
		{"site name", `<meta name=application-name content=App><meta property=og:site_name content=" The  Site ">`, siteName, "The Site"},
		{"site name by application", `<meta name=application-name content=App>`, siteName, "App"},
		{"author", `<meta name=author content="A. Bee">` + ld + `{"author":"C. Dee"}</script>`, author, "A. Bee"},
		{"author of JSON-LD", ld + `{"@type":"Article","author":{"@type":"Person","name":"A &amp; B"}}</script>`, author, "A & B"},
		{"authors of JSON-LD", ld + `{"@graph":[{"author":[{"name":"A"},"B",{"name":3}]}]}</script>`, author, "A, B"},
		{"author in a list", ld + `[{"@type":"WebSite"},{"author":"A"}]</script>`, author, "A"},
		{"published", `<meta property=article:published_time content=2020-01-02>` + ld + `{"datePublished":"2019-01-01"}</script>`, dates, "2020-01-02 "},
		{"published in JSON-LD", ld + `{"datePublished":"2019-01-01","dateModified":"2019-02-01"}</script>`, dates, "2019-01-01 2019-02-01"},
		{"published in microdata", `<meta itemprop=datePublished content=2018-01-01><p><time itemprop=datePublished datetime=2017-01-01>then</time>`, dates, "2018-01-01 "},
		{"published in time", `<p><time datetime=2016-01-01>a date of something</time> <time itemprop=datePublished datetime=2017-01-01>then</time>`, dates, "2017-01-01 "},
		{"wrong types in JSON-LD", ld + `{"datePublished":7,"author":[[["A"]]],"dateModified":"2019-02-01"}</script>`, dates, " 2019-02-01"},
		{"broken JSON-LD", ld + `{"datePublished":</script>`, dates, " "},
		{"series", `<link rel=prev href=/1><p><a rel="nofollow next" href=/3>on</a>`, series, "/1 /3"},
		{"series, head first", `<link rel=next href=/3><p><a rel=next href=/4>on</a>`, series, " /3"},
		{"crumbs of JSON-LD", ld + `{"@type":"BreadcrumbList","itemListElement":[{"name":"Home"},{"item":{"name":"Lizards"}}]}</script>`, crumbs, "[Home Lizards]"},
		{"crumbs of the page", `<nav aria-label=Breadcrumb><a href=/>Home</a> › <a href=/l>Lizards</a> › Skinks</nav><p>x`, crumbs, "[Home Lizards Skinks]"},
		{"crumbs in a list", `<ol class=breadcrumb><li><a href=/>Home</a><li>Lizards</ol><p>x`, crumbs, "[Home Lizards]"},
		{"no crumbs", `<nav><a href=/>Home</a></nav><p>x`, crumbs, "[]"},
	} {
		d, err := Parse([]byte("<!doctype html>"+test.page), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		if got := test.got(d); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func siteName(d *Document) any { return d.SiteName }
func author(d *Document) any   { return d.Author }
func dates(d *Document) any    { return d.Published + " " + d.Modified }
func series(d *Document) any   { return d.Prev + " " + d.Next }
func crumbs(d *Document) any   { return fmt.Sprint(d.Breadcrumbs) }

func TestAlternates(t *testing.T) {
	d, err := Parse([]byte(`<!doctype html><link rel=alternate hreflang=de href=" /de "><link rel=alternate type="Application/RSS+XML" title=" All  news " href=/feed>
<link rel="alternate stylesheet" href=/dark.css><link rel=alternate>`), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	want := []Alternate{{Href: "/de", Hreflang: "de"}, {Href: "/feed", Type: "application/rss+xml", Title: "All news"}}
	if !slices.Equal(d.Alternates, want) {
		t.Errorf("got %+v, want %+v", d.Alternates, want)
	}
}

// TestHasText checks that a page of menus or scripts alone has no text.
func TestHasText(t *testing.T) {
	const sentence = "<p>The skink is a lizard with a smooth skin of overlapping scales, and it moves through sand."
	for page, want := range map[string]bool{
		"<main>" + sentence: true,
		"<main>" + sentence + "</main><nav>" + sentence + "</nav>": true,
		"<nav><a href=/>Home</a></nav>":                            false,
		"<script>document.write('x')</script>":                     false,
	} {
		if d, err := Parse([]byte("<!doctype html>"+page), "text/html"); err != nil || d.HasText() != want {
			t.Errorf("%s: has text %v, want %v", page, d.HasText(), want)
		}
	}
}

package extract

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden checks the root, language and text of each page in testdata against the golden file
// beside it. Each page tests one rule.
func TestGolden(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".html"), func(t *testing.T) {
			body, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(body, "text/html; charset=utf-8")
			if err != nil {
				t.Fatal(err)
			}
			got := "root: " + d.Root + "\nlang: " + d.Lang + "\n\n" + d.Text + "\n"
			golden := strings.TrimSuffix(page, ".html") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	for _, test := range []struct {
		name, page string
		want       Document // only the fields from Title to Asks are compared
	}{
		{"title", "<title> A \n title </title><h1>Heading</h1>", Document{Title: "A title"}},
		{"og title yields", `<meta property="og:title" content="Short"><title>Long</title>`, Document{Title: "Long"}},
		{"og title alone", `<meta property="og:title" content="Short"><h1>Heading</h1>`, Document{Title: "Short"}},
		{"heading as title", "<p>x<h1>Heading</h1>", Document{Title: "Heading"}},
		{"title of a picture", "<svg><title>icon</title></svg><h1>Heading</h1>", Document{Title: "Heading"}},
		{"description", `<meta property="og:description" content="o"><meta name="Description" content=" d  e ">`, Document{Description: "d e"}},
		{"canonical", `<link rel="Canonical alternate" href=" /c ">`, Document{Canonical: "/c"}},
		{"first canonical", `<link rel=canonical href=/1><link rel=canonical href=/2>`, Document{Canonical: "/1"}},
		{"base", `<base target=_top><base href="/b/"><base href="/c/">`, Document{Base: "/b/"}},
		{"noindex", `<meta name=ROBOTS content="NoIndex, max-snippet:2">`, Document{NoIndex: true}},
		{"nofollow", `<meta name=robots content="index,nofollow">`, Document{NoFollow: true}},
		{"none", `<meta name=robots content=none>`, Document{NoIndex: true, NoFollow: true}},
		{"one robot", `<meta name=Skink content=noindex>`, Document{Asks: map[string]Ask{"skink": {NoIndex: true}}}},
		{"several", `<meta name=a content=noindex><meta name=" B " content=none><meta name=a content="index,nofollow"><meta name=c content=index>`,
			Document{Asks: map[string]Ask{"a": {NoIndex: true, NoFollow: true}, "b": {NoIndex: true, NoFollow: true}}}},
		{"two metas", `<meta name=robots content=noindex><meta name=robots content="all">`, Document{NoIndex: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := Parse([]byte("<!doctype html>"+test.page), "text/html")
			if err != nil {
				t.Fatal(err)
			}
			got := Document{Title: d.Title, Description: d.Description, Canonical: d.Canonical, Base: d.Base, NoIndex: d.NoIndex, NoFollow: d.NoFollow, Asks: d.Asks}
			if got.Title != test.want.Title || got.Description != test.want.Description || got.Canonical != test.want.Canonical ||
				got.Base != test.want.Base || got.NoIndex != test.want.NoIndex || got.NoFollow != test.want.NoFollow || !maps.Equal(got.Asks, test.want.Asks) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestLang(t *testing.T) {
	const (
		english = "<p>The cat sat on the mat and looked at the dog that was in the garden with all of the other animals."
		german  = "<p>Die Katze saß auf dem Fenster und sah den Hund an, der mit den anderen Tieren im Garten war, aber sie hat sich nicht bewegt."
		latin   = "<p>Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, tertiam qui ipsorum lingua Celtae, nostra Galli appellantur."
	)
	for _, test := range []struct{ name, page, want string }{
		{"declared", "<html lang=en-GB>" + english, "en"},
		{"undeclared", english, "en"},
		{"wrongly declared", "<html lang=en>" + german, "de"},
		{"script against declaration", "<html lang=en><p>猫は窓に座って、庭にいる犬を見ていました。", "ja"},
		{"declared, not known here", "<html lang=la>" + latin, "la"},
		{"meta", "<meta http-equiv=Content-Language content=fr-FR><p>Bonjour", "fr"},
		{"too short to tell", "<p>Home", ""},
	} {
		d, err := Parse([]byte("<!doctype html>"+test.page), "text/html; charset=utf-8")
		if err != nil {
			t.Fatal(err)
		}
		if d.Lang != test.want {
			t.Errorf("%s: Lang = %q, want %q", test.name, d.Lang, test.want)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, test := range []struct{ name, body, contentType, text, root string }{
		{"lines", "one  two\r\n\r\n  three\tfour \n", "text/plain", "one  two\nthree\tfour", RootPlain},
		{"markup as it is", "a <b>c</b> &amp;", "text/plain", "a <b>c</b> &amp;", RootPlain},
		{"markdown", "# Title\n\nText", "text/markdown", "# Title\nText", RootPlain},
		{"a page sent as text", "<!DOCTYPE html><title>t</title><p>one<p>two", "text/plain", "one\ntwo", RootDescent},
		{"nothing", " \n", "text/plain", "", RootNone},
	} {
		d, err := Parse([]byte(test.body), test.contentType)
		if err != nil {
			t.Fatal(err)
		}
		if d.Text != test.text || d.Root != test.root {
			t.Errorf("%s: got %q by %s, want %q by %s", test.name, d.Text, d.Root, test.text, test.root)
		}
	}
}

func TestErrNotText(t *testing.T) {
	for _, test := range []struct{ name, body, contentType string }{
		{"declared picture", "<html>", "image/png"},
		{"PDF as page", "%PDF-1.7\n", "text/html"},
		{"binary as page", strings.Repeat("\x00\x01ab", 100), "text/html"},
		{"unknown binary", strings.Repeat("\x00\x01ab", 100), ""},
		{"JSON", `{"a":1}`, "application/json"},
	} {
		if _, err := Parse([]byte(test.body), test.contentType); !errors.Is(err, ErrNotText) {
			t.Errorf("%s: err = %v", test.name, err)
		}
	}
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"one two\nthree", 3},
		{"well-known, don't", 2},
		{"石龙子是", 4},
		{"Go 言語。", 3},
	} {
		if got := countWords(test.text); got != test.want {
			t.Errorf("countWords(%q) = %d, want %d", test.text, got, test.want)
		}
	}
}

// FuzzParse checks that Parse does not panic on any bytes, that texts contain no control characters
// or empty lines, and that no letters are added.
func FuzzParse(f *testing.F) {
	pages, _ := filepath.Glob("testdata/*.html")
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, "text/html")
	}
	f.Add([]byte(`<html xmlns="http://www.w3.org/1999/xhtml"><p>a<![CDATA[b]]></p></html>`), "application/xhtml+xml")
	f.Add([]byte(`<script type="application/ld+json">[{"author":[{"name":"a"}]}]</script><nav class=breadcrumb>a > b</nav>`), "text/html")
	f.Add([]byte("<rss><item><link>/1</link></item></rss>"), "text/xml")
	f.Add([]byte("<table><tr><td><p>a<table><b>b<tr><td>c"), "")
	f.Add([]byte("\xff\xfe<\x00p\x00>\x00a\x00"), "text/html; charset=utf-16")
	f.Add([]byte("\xcf\xf0\xe8\xe2\xe5\xf2"), "text/plain; charset=windows-1251")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		d, err := Options{Markdown: true}.Parse(body, contentType)
		if err != nil {
			return
		}
		checkText(t, d.Text)
		for _, s := range append([]string{d.Title, d.SiteName, d.Description, d.Author, d.Published, d.Modified}, d.Breadcrumbs...) {
			if !utf8.ValidString(s) || strings.Contains(s, "\n") {
				t.Errorf("not one clean line: %q", s)
			}
		}
		for _, l := range d.Links {
			if l.Href == "" || strings.ContainsAny(l.Href, "\t\n\r") {
				t.Errorf("href %q", l.Href)
			}
		}
		media := MediaType(body, contentType)
		text, _ := decode(body, contentType, isMarkup(media))
		if got, most := countLetters(d.Text), lettersOf(text, media); got > most {
			t.Errorf("%d letters out of a page with %d", got, most)
		}
	})
}

func checkText(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("not UTF-8: %q", text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" && text != "" {
			t.Errorf("empty line in %q", text)
		}
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && invisible(r)) {
			t.Errorf("%U in %q", r, text)
		}
	}
}

// lettersOf counts the letters in a page's text nodes. If the page cannot be parsed into a tree, it
// counts the letters of the whole page.
func lettersOf(text []byte, media string) int {
	root, _ := Options{}.tree(text, media)
	if root == nil || !isMarkup(media) {
		return countLetters(string(text))
	}
	n := 0
	for node := range root.Descendants() {
		if node.Type == html.TextNode {
			n += countLetters(node.Data)
		}
	}
	return n
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

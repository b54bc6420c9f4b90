package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"skink/base/node"
)

// TestWriteHTML checks for every golden page that the highlighted text is the main text, and that
// the output is safe to open.
func TestWriteHTML(t *testing.T) {
	pages, _ := filepath.Glob("testdata/*.html")
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Options{Page: true}.Parse(body, "text/html; charset=utf-8")
		if err != nil {
			t.Fatal(err)
		}
		checkMarked(t, d)
		if ids, marks := firstMark(t, d); d.Text != "" && (ids != 1 || !strings.HasPrefix(marks, "<span class=taken id=text>")) {
			t.Errorf("%s: %d marks have an id, and the first mark is %.40q", page, ids, marks)
		}
		if d.page == nil {
			continue
		}
		if got, want := letterRun(markedText(t, d)), letterRun(d.Text); got != want {
			t.Errorf("%s: marked %q, want %q", page, got, want)
		}
	}
}

func TestWriteHTMLIsSafe(t *testing.T) {
	const page = `<!doctype html><title></title><script>alert(1)</script></title><body onload="alert(2)"><main>
<p onclick=x style="background:url(http://a/)">The skink is a lizard &lt;script>alert(3)&lt;/script> with a smooth skin of scales.</p>
<iframe src=http://a/></iframe><img src=http://a/ onerror=x><a href="javascript:x()">link</a><form action=http://a/><input></form><object data=x></object>
<svg onload=x><script>alert(4)</script><a xlink:href="javascript:x">y</a></svg><math><mtext><style><img src=x onerror=alert(5)></style></mtext></math>
<template><script>alert(6)</script></template><noscript><img src=x></noscript><div class='menu" onmouseover="x'>one two</div></main>`
	d, err := Options{Page: true}.Parse([]byte(page), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	checkMarked(t, d)
}

func checkMarked(t *testing.T, d *Document) {
	t.Helper()
	var out strings.Builder
	if err := d.WriteHTML(&out, d.Words()); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "iframe", "img", "object", "embed", "form", "svg", "math", "link", "base":
			t.Errorf("<%s> in the marked page", n.Data)
		case "a", "input", "label":
			if !inHeader(n) {
				t.Errorf("<%s> in the marked page", n.Data)
			}
			continue
		}
		for _, a := range n.Attr {
			switch {
			case n.Data == "meta", n.Data == "html", a.Key == "title", a.Key == "class" && (a.Val == "taken" || a.Val == "about"), a.Key == "id" && a.Val == "text", a.Key == "dir" && n.Data == "title":
			default:
				t.Errorf("%s=%q in the marked page", a.Key, a.Val)
			}
		}
	}
}

// firstMark returns the number of marks with an id in a marked page, and the page from its first mark
// on.
func firstMark(t *testing.T, d *Document) (ids int, rest string) {
	t.Helper()
	var out strings.Builder
	if err := d.WriteHTML(&out, d.Words()); err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(out.String(), "<main>")
	return strings.Count(page, " id=text"), page[max(strings.Index(page, "<span class=taken"), 0):]
}

// inHeader reports whether n is in the part of a marked page that WriteHTML adds.
func inHeader(n *html.Node) bool {
	for p := range n.Ancestors() {
		if p.Data == "header" {
			return node.Attr(p, "class") == "about"
		}
	}
	return false
}

func markedText(t *testing.T, d *Document) string {
	t.Helper()
	var out, text strings.Builder
	if err := d.WriteHTML(&out, d.Words()); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.TextNode && node.Attr(n.Parent, "class") == "taken" {
			text.WriteString(n.Data)
		}
	}
	return text.String()
}

// letterRun returns the ASCII letters of a text.
func letterRun(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r
		}
		return -1
	}, s)
}

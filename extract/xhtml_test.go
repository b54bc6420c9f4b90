package extract

import (
	"strings"
	"testing"
)

func TestXHTML(t *testing.T) {
	const head = `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de">`
	for _, test := range []struct{ name, body, contentType, title, text string }{
		{"empty elements", head + `<head><title/><script src="x"/></head><body><div/><p>one&nbsp;two &lt;b&gt;</p></body></html>`, "application/xhtml+xml", "", "one two <b>"},
		{"the same as HTML", head + `<head><title/><script src="x"/></head><body><p>one</p></body></html>`, "text/html", `<script src="x"/></head><body><p>one</p></body></html>`, ""},
		{"CDATA", head + `<body><p><![CDATA[a < b]]></p></body></html>`, "application/xhtml+xml", "", "a < b"},
		{"prefixes", `<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:title>t</h:title><h:p>one</h:p><h:p>two</h:p></h:html>`, "application/xhtml+xml", "t", "one\ntwo"},
		{"another language's title", head + `<body><svg xmlns="http://www.w3.org/2000/svg"><title>icon</title></svg><p>one</p></body></html>`, "application/xhtml+xml", "", "one"},
		{"not well formed", head + `<title>t</title><body><p>one<p>two</body>`, "application/xhtml+xml", "t", "one\ntwo"},
	} {
		d, err := Parse([]byte(test.body), test.contentType)
		if err != nil {
			t.Fatal(err)
		}
		if d.Title != test.title || d.Text != test.text {
			t.Errorf("%s: got %q: %q, want %q: %q", test.name, d.Title, d.Text, test.title, test.text)
		}
	}
}

// A tree is at most as deep as that of the HTML parser, so that the code may recurse.
func TestXHTMLDepth(t *testing.T) {
	for levels, want := range map[int]string{400: "", 600: BoundDepth} {
		page := `<html xmlns="http://www.w3.org/1999/xhtml"><body>` + strings.Repeat("<div>", levels) + "text" + strings.Repeat("</div>", levels) + "</body></html>"
		doc, err := Parse([]byte(page), "application/xhtml+xml")
		if err != nil || doc.Bound != want || doc.Text != "text" {
			t.Errorf("%d levels: %q, bound %q, %v; want the text, bound %q", levels, doc.Text, doc.Bound, err, want)
		}
	}
}

package markup

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// BenchmarkRead reads a page of a manual, or the page that SKINK_PAGE names.
func BenchmarkRead(b *testing.B) {
	page := "<!doctype html><html lang=en><title>Manual</title><body>" + strings.Repeat(`<div class=part id=part><h2>Part</h2><p>Some <b>text</b> with a
		<a href="other.html#part" class=xref>link to another part of it</a> and <a href="#part">another</a>.<ul><li>one<li>two</ul></div>`, 200)
	if name := os.Getenv("SKINK_PAGE"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		page = string(text)
	}
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		Read(root, Options{})
	}
}

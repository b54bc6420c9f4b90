package tree

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestParserFields checks that the unexported fields of the HTML parser, which a growth reads,
// still exist.
func TestParserFields(t *testing.T) {
	g := &growth{text: []byte("<p>a<b>b<i>c"), limit: Max}
	seen := 0
	g.watch = func(int64) { seen = max(seen, len(*g.active)) }
	root, err := g.parse()
	if err != nil {
		t.Fatalf("the parser's fields are no longer as they are known: %v", err)
	}
	if seen != 2 || *g.doc != root {
		t.Errorf("%d active formatting elements were seen, want 2; the document is %p, want %p", seen, *g.doc, root)
	}
}

// openFormatting returns a page that opens n formatting elements, which the parser then reopens in
// each of its blocks.
func openFormatting(n, blocks int) string {
	var b strings.Builder
	b.WriteString("<p>")
	for i := range n {
		fmt.Fprintf(&b, "<font size=%d>", i)
	}
	return b.String() + strings.Repeat("<p>x", blocks)
}

// A bomb is a small page that would have an enormous tree.
var bombs = []struct {
	name, page string
	err        error // nil if the page is parsed normally
}{
	{"5 formatting elements", openFormatting(5, 5_000), nil},
	{"50 formatting elements", openFormatting(50, 11_000), ErrLarge},
	{"50 formatting elements, 1 MB", openFormatting(50, 250_000), ErrLarge},
	{"300 formatting elements", openFormatting(300, 50_000), ErrLarge},
	{"formatting elements without end", openFormatting(100_000, 0), ErrDeep},
	{"formatting elements of many attributes", "<b " + manyAttributes(100) + ">" + strings.Repeat("<i><p>x", 5000), nil},
	{"formatting elements of 10,000 attributes", "<b " + manyAttributes(10_000) + ">" + strings.Repeat("<p>x", 5000), ErrLarge},
	{"paragraphs", strings.Repeat("<p>a", 1<<18), ErrLarge},
	{"end tags that move blocks", strings.Repeat("<a>"+strings.Repeat("<div>", 20)+strings.Repeat("</a>", 10), 20), nil},
	{"closed where it does not count", strings.Repeat("<b><table><td>"+strings.Repeat("</b>", 10), 100), nil},
	{"a quote that does not end", "<a x=\"" + strings.Repeat("<b x='", 1<<18), ErrLarge},
	{"a comment of tags", "<!--" + strings.Repeat("<b", 1<<19), ErrLarge},
	{"a script of tags", "<script>" + strings.Repeat("<a href='/x'>x</a> and text for it\n", 40_000) + "</script><p>text", nil},
	{"XHTML", `<html xmlns="http://www.w3.org/1999/xhtml">` + strings.Repeat("<p/>", 1<<18) + "</html>", ErrLarge},
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d ", i)
	}
	return b.String()
}

func TestBombs(t *testing.T) {
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			limit := Limit(len(bomb.page), 16<<20)
			root, err := HTML([]byte(bomb.page), limit)
			if bomb.name == "XHTML" && XHTML([]byte(bomb.page), limit) != nil {
				t.Error("XHTML returns a tree that is larger than the limit")
			}
			if err != bomb.err {
				t.Errorf("the error is %v, want %v", err, bomb.err)
			}
			if root != nil && weigh(root) > limit {
				t.Errorf("its tree takes %d bytes, more than %d", weigh(root), limit)
			}
		})
	}
}

// Limiting the tree of a hostile page must cost little more than reading the page. For ten
// megabytes of elements that are never closed, at most 1.6 nodes may be measured for each byte.
// Measuring a node takes about 10 ns.
func TestWeighingIsBounded(t *testing.T) {
	const size = 10 << 20
	for _, unit := range []string{"<li><a><i>", "<p><a><b>", "<table><a><i>", "<a><li><i>x"} {
		g := &growth{text: []byte(strings.Repeat(unit, size/len(unit))), limit: Limit(size, 0), since: beginning}
		_, err := g.parse()
		if most := int64(size) * 16 / 10; g.nodes > most {
			t.Errorf("%s: %d nodes were weighed (%v), want at most %d", unit, g.nodes, err, most)
		}
	}
}

// The tree is measured only if a page is large or unusual. It must not be measured for a page of
// links and formatted words.
func TestHonestPageIsNotWeighed(t *testing.T) {
	item := `<li><a class="reference" href="/guide/part.html"><code><span class="pre">name</span></code></a> is <em>said</em> in <b>some</b> words.`
	page := "<ul>" + strings.Repeat(item, 500)
	g := &growth{text: []byte(page), limit: 8 << 20, since: beginning}
	if _, err := g.parse(); err != nil || g.nodes > 0 {
		t.Errorf("%d nodes of a page of %d bytes were weighed (%v), want none", g.nodes, len(page), err)
	}
}

// FuzzGrowth checks that the tree is never larger than the estimate before the last piece of input.
// If the tree is within the limit, it must be the same as that of the parser alone.
func FuzzGrowth(f *testing.F) {
	for _, b := range bombs {
		f.Add([]byte(b.page[:min(len(b.page), 4<<10)]), int64(1<<20))
	}
	for _, s := range []string{
		"<b><i><u><p>x<p>y</b>z</u>", "<a><div><a><div><a>", "<table><b><tr><td><i>x</table>y", "<svg><b><font color=x><title><b>",
		"<nobr><div><nobr><p>", "<b a b=c d='e' f=\"g\"><p>x", "<template><b><td></template><p>", "<object><b></object></b><p>x", "<frameset><b>",
		"<script><b></script><b><p>", "<!--<b>--><b><p>", "<b x='<p>'><p>", "<b/><p><b / a/b><p>", "<html a=b><body c d>", "<select><b><option>",
		"<a href=x><code><span>x</span></code></a><p>", "<a><b>x</a></b><p>", "<a><span>x</a></span><p>", "<b><i>x</i><a>y</a><p>", "<td><a>x</a><td><a><a>y</a></a>",
		"<!--<a><span>--><b>x</b></span></a><p>", "<i x='<a>'><b>y</b></a><p>", "<i x='<a t=\"'><b y=\"></a><p>", "<a x=\"></a><p>\">", "<a/b='>'>x</a ><p>",
		"<svg><a/><b>x</b></a><font>y</font><p>", "<b><b><b><b>x</b></b></b></b><p>", "<nobr><nobr>x</nobr></nobr><p>", "<title><b>x</title>y</b><p>",
		"<a-b>x</a><b\x00>y</b><p>", "<a <b>x</b></a><p>", "<table><a>x</a><tr><b>y</b>", "<SPAN><A><Span>x</sPan></a></span>",
	} {
		f.Add([]byte(s), int64(1<<14))
		f.Add([]byte(strings.Repeat(s, 40)), int64(1<<18))
	}
	f.Add([]byte("<p "+manyAttributes(42)+">"), int64(8000-1<<12)) // a tag that is longer than several pieces, between which the tree is measured
	f.Fuzz(func(t *testing.T, text []byte, limit int64) {
		limit = 1<<12 + limit&(1<<20-1)
		g := &growth{text: text, limit: limit, since: beginning}
		before := int64(beginning)
		check := func() {
			if got := weigh(*g.doc); got > before {
				t.Fatalf("at byte %d the tree takes %d bytes, %d were foreseen", g.at, got, before)
			}
		}
		g.watch = func(most int64) { check(); before = most }
		root, err := g.parse()
		check()
		want, wantErr := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
		if err == nil && weigh(root) > limit {
			t.Fatalf("the tree takes %d bytes, more than %d", weigh(root), limit)
		}
		if (err == nil) != (wantErr == nil) && err != ErrLarge {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err == nil && render(root) != render(want) {
			t.Fatalf("another tree than the parser's: %s, want %s", render(root), render(want))
		}
	})
}

func render(n *html.Node) string {
	var b strings.Builder
	_ = html.Render(&b, n)
	return b.String()
}

package stylesheet_test

import (
	"slices"
	"strings"
	"testing"

	"skink/extract/stylesheet"
)

func TestReferences(t *testing.T) {
	for _, c := range []struct {
		name, sheet string
		want        []string
	}{
		{"nothing", "body { color: red }", nil},
		{"url without quotes", "a { background: url(a.png) }", []string{"a.png"}},
		{"url with quotes", `a { background: URL( "a b.png" ), url('c.png') }`, []string{"a b.png", "c.png"}},
		{"font face", "@font-face { src: url(f.woff2) format('woff2'), url(f.woff) format(\"woff\") }", []string{"f.woff2", "f.woff"}},
		{"import of a string", `@import "a.css"; @import 'b.css' screen;`, []string{"a.css", "b.css"}},
		{"import of a url", `@import url(a.css) layer(base) supports(display: grid);`, []string{"a.css"}},
		{"a string of an import's condition", `@import "a.css" supports(content: "x");`, []string{"a.css"}},
		{"image-set", `a { background: image-set("a.png" 1x, "a.avif" type("image/avif") 2x, url(b.png) 3x); content: "no" }`, []string{"a.png", "a.avif", "b.png"}},
		{"image-set with a prefix", `a { background: -webkit-image-set('a.png' 1x) }`, []string{"a.png"}},
		{"a namespace is no file", `@namespace svg url(http://www.w3.org/2000/svg); a { fill: url(#g) }`, []string{"#g"}},
		{"a namespace as a string", `@namespace "http://www.w3.org/1999/xhtml";`, nil},
		{"strings are no references", `a::before { content: "a.png" } @charset "utf-8";`, nil},
		{"comments", `/* url(no.png) @import "no.css"; */ a { background: url(/*a.png*/) }`, []string{"/*a.png*/"}},
		{"escapes", `a { background: url(a\ b\29 .png), url("\63 .png"), url("d\
.png") }`, []string{"a b).png", "c.png", "d.png"}},
		{"a code point that CSS does not allow", `a { background: url("\0.png"), url("\110000.png") }`, []string{"\ufffd.png", "\ufffd.png"}},
		{"custom property", `:root { --logo: url(logo.svg) }`, []string{"logo.svg"}},
		{"style attribute", `background: url("a.png") no-repeat; color: red`, []string{"a.png"}},
		{"bad url", "a { background: url(a b.png); } b { background: url(c.png) }", []string{"c.png"}},
		{"unclosed", `a { background: url("a.png`, []string{"a.png"}},
		{"empty", `a { background: url() url("") }`, nil},
		{"import inside of a rule set", `a { @import; background: url(a.png) } b { content: "b" }`, []string{"a.png"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := slices.Collect(stylesheet.References([]byte(c.sheet))); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzReferences checks on any input that all references together are not much longer than the
// sheet, that the sheet is not changed, and that reading can stop early.
func FuzzReferences(f *testing.F) {
	for _, sheet := range []string{`@import "a.css";a{b:url(c)}`, `url("\`, "@namespace url(a);image-set(\"a\"", `a{b:url('\6`} {
		f.Add(sheet)
	}
	f.Fuzz(func(t *testing.T, sheet string) {
		in := []byte(sheet)
		total := 0
		for href := range stylesheet.References(in) {
			if href == "" {
				t.Error("got an empty reference")
			}
			total += len(strings.ReplaceAll(href, "\ufffd", ""))
		}
		if total > len(sheet) {
			t.Errorf("the references have %d bytes, the sheet %d", total, len(sheet))
		}
		if string(in) != sheet {
			t.Error("the sheet was changed")
		}
		for range stylesheet.References(in) {
			break
		}
	})
}

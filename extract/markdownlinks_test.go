package extract

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRewriteLinks(t *testing.T) {
	for _, tt := range []struct{ name, markdown, text, none string }{
		{"words around", "See [the page](https://e.com/a) now.", "See the page now.", "See now."},
		{"at the start and the end", "[A](a) and [B](b)", "A and B", "and"},
		{"a line of links", "One.\n\n[A](a) [B](b)\n\nTwo.", "One.\n\nA B\n\nTwo.", "One.\n\nTwo."},
		{"a list of links", "- [A](a)\n- B [C](c)", "- A\n- B C", "- B"},
		{"emphasis", "[**A** of `code`](a)x", "**A** of `code`x", "x"},
		{"address with brackets", `[A](https://e.com/\(a\)) b`, "A b", "b"},
		{"escapes", `\[no\](link) [a\]b](c)`, `\[no\](link) a\]b`, `\[no\](link)`},
		{"code", "`[a](b)` and ``[`](b)``", "`[a](b)` and ``[`](b)``", "`[a](b)` and ``[`](b)``"},
		{"fenced code", "> ```go\n> [a](b)\n> ```\n\n[c](d) e", "> ```go\n> [a](b)\n> ```\n\nc e", "> ```go\n> [a](b)\n> ```\n\ne"},
		{"picture", "![alt](src.png) [c](d)", "![alt](src.png) c", "![alt](src.png)"},
		{"picture in a link", "[![alt](src.png)](href) x", "![alt](src.png) x", "x"},
		{"words that would begin a list", "[1. One](a)", `1\. One`, ""},
		{"words that would be a heading", "[\\# no](a) [# x](b)", "\\# no # x", ""},
		{"table", "| [a](b) | c |\n| --- | --- |", "| a | c |\n| --- | --- |", "| | c |\n| --- | --- |"},
		{"no link", "a [b] (c) [d", "a [b] (c) [d", "a [b] (c) [d"},
		{"unclosed", "[a](b", "[a](b", "[a](b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := RewriteLinks(tt.markdown, LinksText); got != tt.text {
				t.Errorf("text: got  %q\nwant %q", got, tt.text)
			}
			if got := RewriteLinks(tt.markdown, LinksNone); got != tt.none {
				t.Errorf("none: got  %q\nwant %q", got, tt.none)
			}
			if got := RewriteLinks(tt.markdown, LinksWhole); got != tt.markdown {
				t.Errorf("absolute: got %q", got)
			}
		})
	}
}

// TestRewriteLinksOfPages checks that no link of a page remains, and that the Markdown with only
// the words of links has the same letters as the page's text.
func TestRewriteLinksOfPages(t *testing.T) {
	pages, _ := filepath.Glob("testdata/markdown/*.html")
	for _, page := range pages {
		d := markdownOf(t, page)
		md := RewriteLinks(d.Markdown(MarkdownOptions{}), LinksText)
		if again := RewriteLinks(md, LinksText); again != md {
			t.Errorf("%s: links remain: got %s", page, again)
		}
		whole := d.Markdown(MarkdownOptions{Resolve: func(string) string { return "" }})
		if got, want := letterRun(md), letterRun(strings.ReplaceAll(whole, "]()", "]")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", page, got, want)
		}
	}
}

func FuzzRewriteLinks(f *testing.F) {
	f.Add("See [the page](a) and `[b](c)`.\n```\n[d](e)\n```")
	f.Add("[![a](b)](c) \\[ [1. x](y)")
	f.Fuzz(func(t *testing.T, markdown string) {
		for _, keep := range []Links{LinksNone, LinksText} {
			if got := RewriteLinks(markdown, keep); len(got) > 2*len(markdown) {
				t.Errorf("%q becomes %q", markdown, got)
			}
		}
	})
}

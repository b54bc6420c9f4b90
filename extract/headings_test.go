package extract

import (
	"fmt"
	"strings"
	"testing"
)

// Each row is a main text, and its headings and places as "line level id: beginning of the text".
func TestTextHeadings(t *testing.T) {
	const words = " Here are more than ten words of running text, so that this is a paragraph."
	for _, tt := range []struct{ name, html, want string }{
		{"own id", `<h1 id=top>Top</h1><p>P<h2 id="part-2">Part</h2><p>P`, "0 1 top: Top|2 2 part-2: Part"},
		{"anchor inside", `<h2><a name=old></a>Old</h2><p>P<h3><span><span id=wiki>Wiki</span></span></h3><p>P`, "0 2 old: Old|2 3 wiki: Wiki"},
		{"anchor before", `<p>P<a id=before></a> <h2>After it</h2><p>P`, "1 2 before: After it"},
		{"link before", `<p>P<a id=before href=x>Link</a><h2>After a link</h2><p>P`, "1 0 before: Link|2 2 : After a link"},
		{"section", `<section id=intro><h2>Intro</h2><p>P</section><section id=more><header><h2>More</h2></header><p>P</section>`, "0 2 intro: Intro|2 2 more: More"},
		{"not the first of its section", `<section id=intro><p>P<h2>Later</h2><p>P</section>`, "0 0 intro: 0 w0|1 2 : Later"},
		{"no id", `<h2>None</h2><p>P`, "0 2 : None"},
		{"id that no URL can have", `<h2 id="a b">Space</h2><p>P<h2 id="` + strings.Repeat("x", 300) + `">Long</h2><p>P`, "0 2 : Space|2 2 : Long"},
		{"two lines", `<h2 id=a>One<br><br>Two</h2><p>P`, "0 2 a: One|1 2 : Two"},
		{"empty", `<h2 id=a></h2><p>P`, "0 0 a: 0 w0"},
		{"notice", `<h2 id=a>Part</h2><p>P<div class="Note x"><div><h3 id=n>Note</h3></div><p>P</div><p>P`, "0 2 a: Part|2 0 n: Note"},
		{"heading within a notice", `<div class=tip><p>P<h3>Later</h3><p>P</div><section class=note><h2>Post</h2><p>P</section>`, "1 3 : Later|3 2 : Post"},
		{"places", `<p>P<p>P<span id=within></span> more<p id=own>P`, "2 0 within: more|3 0 own: P"},
		{"deep section", `<div id=deep><div><div><div><h2>Deep</h2></div></div></div><p>P</div>`, "0 2 deep: Deep"},
		{"before the text", `<span id=two></span><span id=three></span><h3>Three</h3><p>P`, "0 3 three: Three"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			html := tt.html
			for i := range 3 { // each paragraph has words of its own, because repeated ones are dropped
				html = strings.Replace(html, "<p>P", fmt.Sprintf("<p>%d %s</p>", i, strings.Repeat(fmt.Sprint("w", i, " "), 9)+words), 1)
			}
			d, err := Parse([]byte("<main>"+html+"</main>"), "text/html")
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(d.Text, "\n")
			var got []string
			for _, h := range d.Headings {
				got = append(got, fmt.Sprintf("%d %d %s: %s", h.Line, h.Level, h.ID, lines[h.Line][:min(len(lines[h.Line]), max(4, 4+16*min(h.Level, 1)))]))
			}
			if got := strings.Join(got, "|"); got != tt.want {
				t.Errorf("got  %s\nwant %s\nof\n%s", got, tt.want, d.Text)
			}
		})
	}
}

// A block that is not part of the main text does not count as a line.
func TestTextHeadingsBesideDroppedText(t *testing.T) {
	const words = " Here are more than ten words of running text, so that this is a paragraph."
	d, err := Parse([]byte(`<nav><h2>Menu</h2><a href=a>A</a></nav><main><nav><h3>On this page</h3><a href=#x>Kept</a></nav><p>`+words+`<h2 id=x>Kept</h2><p>`+words+`</main>`), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(d.Text, "\n")
	if len(d.Headings) != 1 || lines[d.Headings[0].Line] != "Kept" {
		t.Errorf("headings %v of\n%s", d.Headings, d.Text)
	}
}

func TestMarkdownMissingTop(t *testing.T) {
	for _, tt := range []struct{ html, want string }{
		{`<title>A title</title><main><p>Text.</main>`, "# A title\n\nText."},
		{`<title>A title</title><main><h1>Top</h1><p>Text.</main>`, "# Top\n\nText."},
		{`<title>A title</title><main><p>A title<p>Text.</main>`, "A title\n\nText."},
		{`<main><p>Text.</main>`, "Text."},
		{`<main><h1>Top</h1><h2>See <a href=x>the <b>other</b> page</a></h2><p>Text.</main>`, "# Top\n\n## See the other page\n\nText."},
	} {
		d, err := Options{Markdown: true}.Parse([]byte(tt.html), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Markdown(MarkdownOptions{}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.html, got, tt.want)
		}
	}
}

package ingest

import (
	"testing"

	"skink/crawler"
	"skink/internal/tools/storetest"
	"skink/store"
)

const marked = `<html lang=en><base href="/dir/"><title>T</title><article><h1>A head</h1><p>` +
	`Words that stand <em>here</em>, with <a href="b.html#part">a link</a> and <a href="#top">another</a>.` +
	`<p>More of them, <img src="c.png" alt="a picture"> so that there is a text.</article>`

// Markdown is stored with the text. Its URLs are absolute.
func TestMarkdownIsKept(t *testing.T) {
	for keep, want := range map[store.Markdown]string{
		store.NoMarkdown: "",
		store.WordsOnly:  "# A head\n\nWords that stand *here*, with [a link](https://example.com/dir/b.html#part) and [another](https://example.com/dir/#top).\n\nMore of them, so that there is a text.",
		store.WithImages: "# A head\n\nWords that stand *here*, with [a link](https://example.com/dir/b.html#part) and [another](https://example.com/dir/#top).\n\nMore of them, ![a picture](https://example.com/dir/c.png) so that there is a text.",
	} {
		s := storetest.NewMemory()
		opt := testOptions(t)
		opt.Markdown = keep
		p := start(t, s, opt)
		handle(t, p, page("https://example.com/a", marked))
		c := content(t, s, "https://example.com/a")
		same(t, "Markdown "+string(keep), c.Markdown, want)
		same(t, "text", c.Text, "A head\nWords that stand here, with a link and another.\nMore of them, so that there is a text.")
		p.Close()
	}
}

// If only the Markdown of a page has changed, the page is stored again and keeps its verdict.
func TestMarkdownChanges(t *testing.T) {
	const url = "https://example.com/a"
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Markdown = store.WordsOnly
	p := start(t, s, opt)
	defer p.Close()
	link := func(to string) *crawler.Page {
		return page(url, "<html lang=en><title>T</title><article><p>"+words(1, 100)+` <a href="`+to+`">there</a></article>`)
	}
	handle(t, p, link("/one"), again(link("/two"), 1))
	c := content(t, s, url)
	same(t, "verdict and visit", string(c.Record.Verdict)+", "+string(c.Record.Visit), "unique, same")
	same(t, "end of the Markdown", c.Markdown[len(c.Markdown)-32:], "[there](https://example.com/two)")
}

// A page that is judged again because its leader has changed keeps its Markdown.
func TestMarkdownIsKeptWhenJudgedAgain(t *testing.T) {
	s := storetest.NewMemory()
	opt := testOptions(t)
	opt.Markdown = store.WordsOnly
	p := start(t, s, opt)
	defer p.Close()
	const leader, member = "https://example.com/a", "https://example.com/b"
	handle(t, p, article(leader, words(1, 100)), article(member, words(1, 100)))
	before := content(t, s, member)
	handle(t, p, again(article(leader, words(2, 100)), 1))
	after := content(t, s, member)
	same(t, "verdicts", string(before.Record.Verdict)+", "+string(after.Record.Verdict), "exact, unique")
	same(t, "Markdown", after.Markdown, before.Markdown)
	if after.Markdown == "" {
		t.Error("it has none")
	}
}

package extract

import (
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	const (
		run      = `<script type=module src=/main.js></script>`
		sentence = "The skink is a lizard with a smooth skin of overlapping scales, and it moves through sand. "
		menu     = "<nav><a href=/>Home</a> <a href=/about>About us</a></nav>"
	)
	long := strings.Repeat(sentence, 3)
	for _, test := range []struct{ name, page, want string }{
		{"React with Vite", "<title>Shop</title><div id=root></div>" + run, NeedsRoot},
		{"Vue with a spinner", "<div id=app><div class=spinner>Loading</div></div>" + run, NeedsRoot},
		{"Angular below a menu", menu + "<app-root></app-root>" + run, NeedsRoot},
		{"another framework, and nothing else", "<body><div style='display: contents'></div><script>start()</script>", NeedsRoot},
		{"Next.js without a server", "<div id=__next></div><script id=__NEXT_DATA__ type=application/json>{}</script>" + run, NeedsRoot},
		{"text in the JSON of Next.js", "<h1>Skinks</h1><script id=__NEXT_DATA__ type=application/json>{\"text\":\"" + long + "\"}</script>" + run, NeedsData},
		{"text in the data of Nuxt", "<h1>Skinks</h1><script>window.__NUXT__={data:[{text:\"" + long + "\"}]}</script>" + run, NeedsData},
		{"only Loading in main", menu + "<main><p>Loading…</p></main><footer>Copyright 2026</footer><script>(self.__next_f=self.__next_f||[]).push([0])</script>", NeedsRoot},
		{"Loading below a heading", menu + "<main><h1>Blog</h1><div>Loading the latest posts...</div></main>" + run, NeedsRoot},
		{"Loading in the element of a framework with a menu", "<div id=__next>" + menu + "<main><p>Inhalt wird geladen …</p></main></div>" + run, NeedsRoot},
		{"Loading in Japanese", menu + "<main><div>読み込み中…</div></main>" + run, NeedsRoot},
		{"Loading as a heading", "<h2>Loading…</h2><p>" + run, NeedsRoot},
		{"Please wait", menu + "<main><p>Please wait while the list is drawn</p></main>" + run, NeedsRoot},
		{"a busy list", menu + "<main><h1>Our shop</h1><ul aria-busy=true></ul></main>" + run, NeedsRoot},
		{"a bar of progress", "<div id=app>" + menu + "<div role=progressbar></div></div>" + run, NeedsRoot},
		{"a list of titles in noscript, and the notes in JSON", "<body><noscript><p>This <a href=/about>book</a> has these notes:</p><ul>" + strings.Repeat("<li>A note", 15) + "</ul></noscript><script type=application/json>[{\"text\":\"" + long + "\"}]</script>" + run, NeedsData},
		{"a map of the site in noscript, and pages in JSON", "<body><noscript><h1>All pages</h1>" + strings.Repeat("<p><a href=/a>Page of the book</a></p>", 8) + "</noscript><div class=page></div><script type=application/json>{\"pages\":[\"" + long + "\",\"" + long + "\"]}</script>" + run, NeedsData},
		{"a list below a sentence in noscript, and articles in the data of Nuxt", menu + "<noscript><p>" + sentence + "</p><ul>" + strings.Repeat("<li>A note", 15) + "</ul></noscript><script>window.__NUXT__={data:[{text:\"" + strings.Repeat(long, 4) + "\"}]}</script>", NeedsData},
		{"asks for scripts", menu + "<noscript>You need to enable JavaScript to run this app.</noscript><p>Shop</p>" + run, NeedsNoscript},

		{"no script", "<div id=root></div>", ""},
		{"a script that is data", "<div id=root></div><script type=application/json>{}</script>", ""},
		{"drawn by the server", "<div id=root><p>" + long + "</div>" + run, ""},
		{"drawn by the server, and short", "<div id=__next><h1>Write to us</h1><a href=mailto:a@example.org>mail</a></div><script id=__NEXT_DATA__ type=application/json>{\"all\":\"" + long + "\"}</script>" + run, ""},
		{"a text beside the element", "<p>" + long + "<div id=root></div>" + run, ""},
		{"short settings", "<h1>Skinks</h1><script type=application/json>{\"a\":\"b c\",\"d\\\"\":\"e\"}</script>" + run, ""},
		{"a notice for one part", "<h1>Skinks</h1><div><noscript>Please enable JavaScript to view the comments.</noscript></div>" + run, ""},
		{"a short page that asks for scripts, with links and words", menu + "<noscript>Enable JavaScript to search.</noscript><p>No usage of the class Point in this manual." + run, ""},
		{"an empty list of javadoc", menu + "<noscript><div>JavaScript is disabled on your browser.</div></noscript><h1>Deprecated API</h1>" + run, ""},
		{"the content in noscript, and less in JSON", "<body><noscript><p>" + long + long + "</p></noscript><script type=application/json>{\"a\":\"" + long + "\"}</script>" + run, ""},
		{"the content in noscript, and its thread in JSON", "<body><noscript><p>" + long + "</p></noscript><script type=application/json>{\"a\":\"" + long + long + "\"}</script>" + run, ""},
		{"a long text that ends with an ellipsis", "<p>" + sentence + "And so on…</p>" + run, ""},
		{"an announcement", menu + "<main><h1>Coming soon…</h1></main>" + run, ""},
		{"an announcement below the name of the shop", "<title>Shop</title><h1>The shop</h1><h2>More to come...</h2>" + run, ""},
		{"a heading about loading", "<h1>Our hall</h1><h2>Loading and unloading</h2>" + run, ""},
		{"an announcement above a sentence", "<h1>Coming soon…</h1><p>We open in May." + run, ""},
		{"Loading without a script", menu + "<main><p>Loading…</p></main>", ""},
		{"text beside a bar of progress", "<main><p>" + sentence + "</p><div role=progressbar></div></main>" + run, ""},
		{"a picture", "<img src=a.png>" + run, ""},
		{"a redirect", "<meta http-equiv=refresh content='0; url=/home'>" + run, ""},
		{"a form", "<form><input name=q></form>" + run, ""},
	} {
		d, err := Parse([]byte(test.page), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		if d.Needs != test.want {
			t.Errorf("%s: needs %q, want %q (text %q)", test.name, d.Needs, test.want, d.Text)
		}
	}
}

// BenchmarkNeeds uses deeply nested elements and a long JSON text. Each must be read only once.
func BenchmarkNeeds(b *testing.B) {
	page := []byte(strings.Repeat("<div id=app>", 400) + strings.Repeat("</div>", 400) + "<script type=application/json>" + strings.Repeat(`"\"",`, 1<<18))
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if d, _ := Parse(page, "text/html"); d.Needs != "" {
			b.Fatal(d.Needs)
		}
	}
}

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

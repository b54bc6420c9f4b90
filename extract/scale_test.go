package extract

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// article is the beginning of a page that is searched for sections to drop.
var article = `<meta property="og:type" content="article"><p>` + strings.Repeat("a sentence with a good many words in it, ", 100)

// monsters lists pages that have stopped crawlers. The size of a page is proportional to n.
var monsters = []struct {
	name string
	page func(n int) string
}{
	{"paragraphs", func(n int) string {
		return strings.Repeat("<p>one paragraph of many on this page, with some words in it", n)
	}},
	{"nested boxes", func(n int) string {
		return strings.Repeat(strings.Repeat("<div>", 300)+"deep"+strings.Repeat("</div>", 300), n/300+1)
	}},
	{"too deep", func(n int) string { return strings.Repeat("<div>", n) + "deep" }},
	{"links", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<a href=/%d>link %d</a> ", i, i)
		}
		return b.String()
	}},
	{"attributes", func(n int) string {
		var b strings.Builder
		b.WriteString("<div")
		for i := range n * 10 {
			fmt.Fprintf(&b, " a%d=1", i)
		}
		return b.String() + ">text</div>"
	}},
	{"classes", func(n int) string { return "<div class='" + strings.Repeat("nav-a ", n*5) + "'>text</div>" }},
	{"open formatting", func(n int) string {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, "<font size=%d>", i)
		}
		return b.String() + strings.Repeat("<p>x", n)
	}},
	{"nested tables", func(n int) string {
		return strings.Repeat(strings.Repeat("<table><tr><td>", 100)+"x"+strings.Repeat("</table>", 100), n/100+1)
	}},
	{"one long row", func(n int) string { return "<table><tr>" + strings.Repeat("<td>x", n) }},
	{"hidden in hidden", func(n int) string {
		return strings.Repeat(strings.Repeat("<div hidden>", 200)+"x"+strings.Repeat("</div>", 200), n/200+1)
	}},
	{"twins", func(n int) string {
		return strings.Repeat("<div class=a>", 200) + strings.Repeat("<div class=a>x</div>", n)
	}},
	{"list items", func(n int) string { return "<ul>" + strings.Repeat("<li><a href=/a>x</a>", n) }},
	{"one long word", func(n int) string { return "<p>" + strings.Repeat("x", n*20) }},
	{"unclosed tags", func(n int) string { return strings.Repeat("<", n*20) }},
	{"one long repeat", func(n int) string {
		return strings.Repeat("<p>one sentence of ten words or more that is said again and again", n)
	}},
	{"images", func(n int) string { return "<main>" + strings.Repeat("<div><img alt=x></div>", n) + "x</main>" }},
	{"JSON-LD in JSON-LD", func(n int) string {
		return `<script type="application/ld+json">` + strings.Repeat(`{"author":[`, n) + "</script>x"
	}},
	{"many JSON-LD", func(n int) string {
		return strings.Repeat(`<script type="application/ld+json">{"@graph":[{"author":"a"}]}</script>`, n) + "x"
	}},
	{"crumbs", func(n int) string { return strings.Repeat("<nav class=breadcrumb>a > </nav>", n) + "x" }},
	{"alternates", func(n int) string { return strings.Repeat("<link rel=alternate href=/x>", n) + "x" }},
	{"rows of cards", func(n int) string {
		card := "<div><h3><a href=/a>three words here</a></h3><p>x</div>"
		return article + strings.Repeat("<div>", 200) + strings.Repeat("<section>"+strings.Repeat(card, 3)+"</section>", n/3)
	}},
	{"remarks in the text", func(n int) string {
		return strings.Repeat("<p>one sentence of ten words or more that is said again<aside class=sidebar><p>another sentence of ten words or more that is not one</aside>", n)
	}},
	{"remarks in lists in lists", func(n int) string {
		return strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>one sentence of ten words or more that is said again<div class=sidebar>x</div>", n)
	}},
	{"short heads", func(n int) string {
		return "<p>" + strings.Repeat("one sentence that runs on, ", 500) + strings.Repeat("<div class=a><div class=b>x</div>one sentence of ten words or more that is said again</div>", n)
	}},
	{"lists of links in lists", func(n int) string {
		return article + strings.Repeat("<ul><li>", 200) + strings.Repeat("<a href=/a>three words here</a><li>", n)
	}},
	{"teasers above a headline", func(n int) string {
		return "<title>A headline of five words</title>" + article + strings.Repeat("<h2>headline</h2><p>one sentence of ten words or more with a <a href=/a>link</a>", n) + "<h2>A headline of five words</h2>" + article
	}},
	{"consent in consent", func(n int) string {
		return strings.Repeat("<div class=modal>", 200) + strings.Repeat("<p>one sentence of ten words or more that speaks of cookies</p>", n)
	}},
	{"line breaks", func(n int) string { return strings.Repeat("x<br><br>", n) }},
}

// TestMonsters checks that a page of ten times the size takes about ten times the memory, far less
// than the hundred times of a quadratic algorithm. The limit on the time is generous.
func TestMonsters(t *testing.T) {
	for _, m := range monsters {
		t.Run(m.name, func(t *testing.T) {
			small, large := work(t, m.page(2000)), work(t, m.page(20000))
			if large.allocated > 25*small.allocated+1<<20 {
				t.Errorf("memory grew from %d to %d bytes", small.allocated, large.allocated)
			}
			if large.took > time.Minute {
				t.Errorf("it took %v", large.took)
			}
		})
	}
}

type cost struct {
	allocated int64
	took      time.Duration
}

func work(t *testing.T, page string) cost {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // the second call frees pooled memory of the previous page
	runtime.ReadMemStats(&before)
	start := time.Now()
	if _, err := Parse([]byte(page), "text/html"); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return cost{int64(after.TotalAlloc - before.TotalAlloc), took}
}

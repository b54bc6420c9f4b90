package main

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"math/rand/v2"
	"strings"
)

// Without -articles and -site, the tool generates pages. They combine articles of random words with
// ten kinds of templates, which have the menus, teasers, comments and footers of real sites. In a
// template, TITLE and BODY are placeholders for the title and the text of the article.
//
//go:embed templates
var templateFiles embed.FS

const madeArticleCount = 60

// madeArticles returns pages with generated articles of 60 to 760 words. The articles are
// distributed evenly over the templates.
func madeArticles(seed uint64) (pages []*page) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // Glob fails only for a bad pattern
	}
	for i := range madeArticleCount {
		w := writer{rand.New(rand.NewPCG(seed, uint64(i)))}
		body, text := w.article(60 + w.IntN(700))
		source, err := fs.ReadFile(templateFiles, names[i%len(names)])
		if err != nil {
			panic(err) // the file has just been listed
		}
		fill := strings.NewReplacer("TITLE", w.title(), "BODY", body)
		if p := newPage(fmt.Sprintf("made-%d", i), []byte(fill.Replace(string(source))), text); p != nil {
			pages = append(pages, p)
		}
	}
	return pages
}

// madeSite returns the reference manual of an imaginary program: short pages with the same menu,
// footer and headings.
func madeSite(seed uint64) (texts []string) {
	const pages = 80
	var menu strings.Builder
	for i := range pages {
		fmt.Fprintf(&menu, `<li><a href="p%d.html">%s</a></li>`, i, writer{rand.New(rand.NewPCG(seed, uint64(1000+i)))}.title())
	}
	for i := range pages {
		w := writer{rand.New(rand.NewPCG(seed, uint64(1000+i)))}
		title, signature := w.title(), w.signature()
		texts = append(texts, takeHTML(fmt.Appendf(nil, `<!DOCTYPE html><html lang="en"><head><title>%s - Reference</title></head><body>
<div class="sidebar"><ul>%s</ul></div><div class="content"><h1>%s</h1><h2>Synopsis</h2><pre>%s</pre><h2>Description</h2>%s
<h2>Parameters</h2><table><tr><th>Name</th><th>Meaning</th></tr>%s%s</table></div>
<div class="footer">This reference is generated. Nothing in it is promised, and everything may change.</div></body></html>`,
			title, menu.String(), title, signature, w.paragraphs(20+w.IntN(80)), w.parameter(), w.parameter())).text)
	}
	return texts
}

// A writer makes random sentences. There are so many combinations of words that a sentence hardly
// ever occurs twice.
type writer struct{ *rand.Rand }

var (
	things = strings.Fields(`anchor apple attic barrel basket bell boat book bottle bridge brush bucket button candle chair
		chart clock cloud coat coin cradle crane cup door drum engine fence ferry field fire fish flag flute fog garden gate
		glass glove grain gull hammer harbour hat hedge hill hook horse house island jar kettle key kitchen ladder lamp
		lantern letter map market meadow mill mirror moon morning mountain needle net oven paint paper path pencil piano pier
		pillow plank plate pocket pond potato quay rain river road roof room rope sail salt school shadow shelf ship shoe
		shore shovel snow soup spoon stair stone storm story street sugar summer table thread tide tower train tree tunnel
		umbrella valley village violin wagon wall water wave well wheel whistle wind window winter wood yard`)
	doings = strings.Fields(`answers blames borrows breaks brings builds buys calls carries catches changes chases cleans
		climbs closes counts covers crosses draws drops empties enters fills finds follows forgets guards hears hides holds
		keeps leaves lifts likes loses marks mends misses moves names needs notices opens paints passes pays pulls pushes
		reaches reads remembers sees sells sends shakes shows sings starts stops takes touches trusts turns wants warns
		washes watches wears weighs`)
	qualities = strings.Fields(`bitter black blue bright broken brown careful cheap clean clever cold crooked dark deep dry
		early empty famous fast flat foreign free fresh gentle green grey happy hard heavy high honest hollow large late
		light little lonely long loud narrow new noisy old open patient plain poor quick quiet red rich round rusty sad
		sharp short silent simple slow small soft square steep straight strange strong sweet tall tame thick thin tired
		warm wet white wide wild wise wooden wrong yellow young`)
	ways = strings.Fields(`above across after against among around before behind below beside beyond near over past through
		towards under without`)
	turns = []string{"but", "and", "because", "while", "so that", "although", "until", "as if", "where", "whenever"}
)

func (w writer) of(words []string) string { return words[w.IntN(len(words))] }

func (w writer) clause() string {
	return fmt.Sprintf("the %s %s %s the %s %s the %s %s", w.of(qualities), w.of(things), w.of(doings), w.of(things), w.of(ways), w.of(qualities), w.of(things))
}

func (w writer) sentence() string {
	s := w.clause()
	for range w.IntN(3) {
		s += ", " + w.of(turns) + " " + w.clause()
	}
	return "T" + s[1:] + "."
}

func (w writer) title() string {
	return fmt.Sprintf("A %s %s %s the %s", w.of(qualities), w.of(things), w.of(doings), w.of(things))
}

// article returns an article of about the given number of words, as HTML and as plain text. Other
// elements, such as headings and lists, separate its paragraphs.
func (w writer) article(words int) (body, text string) {
	var b, plain strings.Builder
	add := func(before, s, after string) {
		fmt.Fprintf(&b, "%s%s%s\n", before, html.EscapeString(s), after)
		fmt.Fprintln(&plain, s)
	}
	for n := 0; n < words; {
		p := w.paragraph(40 + w.IntN(60))
		n += len(strings.Fields(p))
		add("<p>", p, "</p>")
		switch w.IntN(10) {
		case 0:
			add("<h2>", w.title(), "</h2>")
		case 1:
			add("<blockquote><p>", w.sentence(), "</p></blockquote>")
		case 2:
			b.WriteString("<ul>")
			for range 3 {
				add("<li>", w.sentence(), "</li>")
			}
			b.WriteString("</ul>")
		case 3:
			add("<figure><img src=x.jpg alt=\"\"><figcaption>", w.sentence(), "</figcaption></figure>")
		}
	}
	add("<p>", w.paragraph(30), "</p>")
	return b.String(), plain.String()
}

func (w writer) paragraph(words int) string {
	var all []string
	for n := 0; n < words; {
		s := w.sentence()
		n += len(strings.Fields(s))
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func (w writer) paragraphs(words int) string { return "<p>" + w.paragraph(words) + "</p>" }

func (w writer) signature() string {
	return fmt.Sprintf("func %s_%s(%s string, %s int) error", w.of(doings), w.of(things), w.of(things), w.of(things))
}

func (w writer) parameter() string {
	return fmt.Sprintf("<tr><td>%s</td><td>%s</td></tr>", w.of(things), w.clause())
}

package main

import (
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"strings"
)

// These are the lengths of stories, in words. Near pages have long stories. Each of two near pages
// has one changed word, which is in ten shingles, so that they share 571 of 611 shingles.
const (
	leastWords, mostWords = 120, 360
	nearWords             = 600
	thinWords             = 20
	wordsInParagraph      = 40
)

// vocabulary has 225 words of three syllables. A sequence of ten random words practically never
// occurs twice.
var vocabulary = func() (words []string) {
	syllables := strings.Fields("ba ce di fo gu ka le mi no pu ra se ti vo wu")
	for i, a := range syllables {
		for j, b := range syllables {
			words = append(words, a+b+syllables[(i+2*j)%len(syllables)])
		}
	}
	return words
}()

// story returns the words of page n's text.
func (w *web) story(n int) []string {
	p := &w.pages[n]
	rng := rand.New(rand.NewPCG(w.seed, uint64(p.group)+1<<32))
	size := leastWords + rng.IntN(mostWords-leastWords)
	switch p.form {
	case near:
		size = nearWords
	case thin, thinCopy:
		size = thinWords
	}
	words := make([]string, size)
	for i := range words {
		words[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	if p.form == near { // each copy has a different changed word, far enough from the changed words of the others
		words[50+100*p.copy] = fmt.Sprintf("changed%d", p.copy)
	}
	return w.told(n, words)
}

func paragraphs(out io.Writer, words []string) {
	for i, word := range words {
		if i%wordsInParagraph == 0 {
			io.WriteString(out, "\n<p>")
		}
		io.WriteString(out, word+" ")
	}
}

// writePage writes page n: its story, and the elements that all pages of a site share.
func (w *web) writePage(out io.Writer, n int) {
	p := &w.pages[n]
	fmt.Fprintf(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>Story %d</title></head>\n<body><header><a href=/>Host %d</a></header>\n<main><article>", p.group, p.host)
	paragraphs(out, w.story(n))
	io.WriteString(out, "\n</article></main>\n<nav><ul>")
	for link := range w.links(n) {
		fmt.Fprintf(out, "\n<li><a href=\"%s\">more</a></li>", html.EscapeString(link))
	}
	fmt.Fprintf(out, "\n</ul></nav><footer>Page %d of %d</footer></body></html>\n", n-w.first[p.host]+1, w.first[p.host+1]-w.first[p.host])
}

package main

import (
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"strings"
)

// These are the lengths of stories, in words. Near-duplicate stories are long: they differ in one
// word, which is in ten shingles, so two of them share 571 of 611 shingles.
const (
	minWords, maxWords = 120, 360
	nearWords          = 600
	thinWords          = 20
	wordsInParagraph   = 40
)

// vocabulary contains 225 words of three syllables each. A sequence of ten random words practically
// never occurs twice.
var vocabulary = func() (words []string) {
	syllables := strings.Fields("ba ce di fo gu ka le mi no pu ra se ti vo wu")
	for i, a := range syllables {
		for j, b := range syllables {
			words = append(words, a+b+syllables[(i+2*j)%len(syllables)])
		}
	}
	return words
}()

func (w *web) story(n int) []string {
	p := &w.pages[n]
	rng := rand.New(rand.NewPCG(w.seed, uint64(p.group)+1<<32))
	size := minWords + rng.IntN(maxWords-minWords)
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
	return w.wordsNow(n, words)
}

func paragraphs(out io.Writer, words []string) {
	for i, word := range words {
		if i%wordsInParagraph == 0 {
			io.WriteString(out, "\n<p>")
		}
		io.WriteString(out, word+" ")
	}
}

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

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"time"
)

// # A web that changes
//
// Round 0 is the original web. In each later round, five of every hundred pages change by one word,
// and two change completely. One disappears, unless another page can be reached only through it.
// One of the five pages with a changed word gets a link to a new page. So links change only on
// pages whose text changes, and every page stays as many links away from the first page as before.
// Changes persist in later rounds, and a page may change again. That can split groups: a page that
// changes completely no longer has the story of its group.
//
// Pages have an ETag, and a request with that ETag gets a 304 response.

type change string

const (
	unchanged change = ""
	little    change = "little"
	wholly    change = "wholly"
	vanished  change = "gone"
	fresh     change = "new"
)

const forRounds = 100 // purposes for [web.luck]: forRounds+r selects the pages that change in round r; forRounds<<8+r selects the changed words

// maxRounds is the maximum number of rounds. A page that disappears in any of them never contains
// links.
const maxRounds = 10

// changeIn returns the change to page n in a round. The page must exist in that round.
func (w *web) changeIn(n, round int) change {
	if round < 1 {
		return unchanged
	}
	switch p := w.luck(n, forRounds+uint64(round), 100); {
	case p < 5:
		return little
	case p < 7:
		return wholly
	case p == 7 && w.leaf(n):
		return vanished
	}
	return unchanged
}

// leaf reports whether page n can disappear without making another page unreachable.
func (w *web) leaf(n int) bool {
	start, end := w.first[w.pages[n].host], w.first[w.pages[n].host+1]
	return n != start && start+2*(n-start)+1 >= end && w.newOf(n) == 0 && w.extraOf(n) == ""
}

// goneIn returns the round in which page n disappeared, or 0 if the page exists in the current
// round.
func (w *web) goneIn(n int) int {
	if round := w.goesIn(n); round <= w.round {
		return round
	}
	return 0
}

// goesIn returns the round in which page n disappears, or 0 if it never does. This may be a future
// round.
func (w *web) goesIn(n int) int {
	for round := 1; round <= maxRounds; round++ {
		if w.changeIn(n, round) == vanished {
			return round
		}
	}
	return 0
}

// newOf returns the first round in which page n links to a new page, or 0 if there is none. This
// may be a future round.
func (w *web) newOf(n int) int {
	for round := 1; round <= maxRounds; round++ {
		if w.luck(n, forRounds+uint64(round), 100) == 0 {
			return round
		}
	}
	return 0
}

func (w *web) hasNew(n int) bool {
	round := w.newOf(n)
	return round > 0 && round <= w.round
}

func (w *web) newURL(n int) string { return fmt.Sprintf("%s/new/%d", w.origin(w.pages[n].host), n) }

// wordsNow returns the words of page n in the current round, given its words in round 0.
func (w *web) wordsNow(n int, words []string) []string {
	for round := 1; round <= w.round; round++ {
		switch w.changeIn(n, round) {
		case little:
			at := w.luck(n, forRounds<<8+uint64(round), len(words))
			words[at] = fmt.Sprintf("round%dpage%d", round, n)
		case wholly:
			words = invented(rand.New(rand.NewPCG(w.seed^uint64(round)<<40, uint64(n))))
		}
	}
	return words
}

// invented returns a random story that no other page has.
func invented(rng *rand.Rand) []string {
	words := make([]string, minWords+rng.IntN(maxWords-minWords))
	for i := range words {
		words[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	return words
}

func (w *web) newStory(n int) []string {
	return invented(rand.New(rand.NewPCG(w.seed^1<<63, uint64(n))))
}

// writeNew writes the new page that page n links to. Its only link leads to the home page.
func (w *web) writeNew(out *bytes.Buffer, n int) {
	fmt.Fprintf(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>New story %d</title></head>\n<body><header><a href=/>Host</a></header>\n<main><article>", n)
	paragraphs(out, w.newStory(n))
	fmt.Fprint(out, "\n</article></main></body></html>\n")
}

// news yields the address of each page added so far.
func (w *web) news() iter.Seq[Address] {
	return func(yield func(Address) bool) {
		for n := range w.pages {
			if !w.hasNew(n) {
				continue
			}
			a := Address{URL: w.newURL(n), Kind: "page", Form: formNames[alone], Group: w.groups + n + 1}
			if w.newOf(n) == w.round {
				a.Change = fresh
			}
			if !yield(a) {
				return
			}
		}
	}
}

func serveBody(w http.ResponseWriter, r *http.Request, body []byte) {
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:12]))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

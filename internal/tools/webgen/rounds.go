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
// Round 0 is the web as it was made. In each round after it, of a hundred pages five change
// a little, by one word, two wholly, and one is gone if it leads nowhere; one of those that
// change a little links to a page that is new. So links change only where a text does, and
// every page is as far from the first as it was. What changed stays so in later rounds, and
// may change again. Groups may fall apart by that: of the pages that told one story, those
// that changed wholly tell one of their own.
//
// Pages have an ETag, and answer 304 to who knows it.

// A change is what becomes of a page in a round.
type change string

const (
	unchanged change = ""
	little    change = "little"
	wholly    change = "wholly"
	vanished  change = "gone"
	fresh     change = "new"
)

const forRounds = 100 // and the rounds after it

// mostRounds is how many rounds there are: pages that are gone in one of them lead nowhere from
// the beginning.
const mostRounds = 10

// changeIn is what a round does to a page that is there.
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

// leaf says whether nothing is reached by a page alone.
func (w *web) leaf(n int) bool {
	start, end := w.first[w.pages[n].host], w.first[w.pages[n].host+1]
	return n != start && start+2*(n-start)+1 >= end && w.newOf(n) == 0 && w.extraOf(n) == ""
}

// goneIn is the round in which a page went, 0 if it is there.
func (w *web) goneIn(n int) int {
	if round := w.goesIn(n); round <= w.round {
		return round
	}
	return 0
}

// goesIn is the round in which a page goes, now or later; 0 if it never does.
func (w *web) goesIn(n int) int {
	for round := 1; round <= mostRounds; round++ {
		if w.changeIn(n, round) == vanished {
			return round
		}
	}
	return 0
}

// newOf is the round in which a page began to link to one that is new, 0 if none did, now or
// later.
func (w *web) newOf(n int) int {
	for round := 1; round <= mostRounds; round++ {
		if w.luck(n, forRounds+uint64(round), 100) == 0 {
			return round
		}
	}
	return 0
}

// hasNew says whether a page links to a new one by now.
func (w *web) hasNew(n int) bool {
	round := w.newOf(n)
	return round > 0 && round <= w.round
}

func (w *web) newURL(n int) string { return fmt.Sprintf("%s/new/%d", w.origin(w.pages[n].host), n) }

// told is the story of a page after its changes.
func (w *web) told(n int, words []string) []string {
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

// invented is a story that no other page tells.
func invented(rng *rand.Rand) []string {
	words := make([]string, leastWords+rng.IntN(mostWords-leastWords))
	for i := range words {
		words[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	return words
}

// newStory is what the new page tells that a page links to.
func (w *web) newStory(n int) []string {
	return invented(rand.New(rand.NewPCG(w.seed^1<<63, uint64(n))))
}

// writeNew writes the new page that a page links to. It leads nowhere but home.
func (w *web) writeNew(out *bytes.Buffer, n int) {
	fmt.Fprintf(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>New story %d</title></head>\n<body><header><a href=/>Host</a></header>\n<main><article>", n)
	paragraphs(out, w.newStory(n))
	fmt.Fprint(out, "\n</article></main></body></html>\n")
}

// news are the addresses that came with the rounds.
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

// serveBody answers with a body that has an ETag.
func serveBody(w http.ResponseWriter, r *http.Request, body []byte) {
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:12]))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

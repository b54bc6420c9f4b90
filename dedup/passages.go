package dedup

import (
	"cmp"
	"slices"
)

// A Passage is a run of tokens that two texts have in common.
type Passage struct {
	A      int `json:"a"` // index of the passage's first token in text A, from 0
	B      int `json:"b"` // index of the passage's first token in text B, from 0
	Tokens int `json:"tokens"`
}

// maxPlaces is the maximum number of positions of one shingle in B that Passages tries. Without
// this limit, a text that repeats one word would take quadratic time.
const maxPlaces = 64

// Passages returns the passages of at least k words that texts a and b have in common, longest
// first. It reads a from the beginning. At each shingle that b also has, it adds the longest
// passage that begins there, and continues after that passage.
func Passages(a, b *Text, k int) []Passage {
	x, y := a.Shingles(nil, k), b.Shingles(nil, k)
	if len(x) == 0 || len(y) == 0 || min(a.Len(), k) != min(b.Len(), k) {
		return nil // the texts have nothing in common if either has no words, or if only one is shorter than k words
	}
	k = min(k, a.Len())
	places := map[uint64][]int{}
	for j, s := range y {
		if len(places[s]) < maxPlaces {
			places[s] = append(places[s], j)
		}
	}
	var all []Passage
	for i := 0; i < len(x); {
		at, n := longest(x[i:], y, places[x[i]])
		if n == 0 {
			i++
			continue
		}
		all = append(all, Passage{i, at, n + k - 1})
		i += n
	}
	slices.SortStableFunc(all, func(p, q Passage) int { return cmp.Compare(q.Tokens, p.Tokens) })
	return all
}

// longest compares x with the part of y that begins at each index in places. It returns the index
// with the longest match, and the number of matching shingles, which is 0 if places is empty.
func longest(x, y []uint64, places []int) (at, most int) {
	for _, j := range places {
		n := 0
		for n < len(x) && j+n < len(y) && x[n] == y[j+n] {
			n++
		}
		if n > most {
			at, most = j, n
		}
	}
	return at, most
}

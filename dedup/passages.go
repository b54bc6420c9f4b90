package dedup

import (
	"cmp"
	"slices"
)

// A Passage is a run of tokens that two texts have in common.
type Passage struct {
	A      int `json:"a"`      // first token in A
	B      int `json:"b"`      // first token in B
	Tokens int `json:"tokens"` // how many
}

// mostPlaces bounds the places in B at which a run is tried for one shingle. A text of one repeated
// word has as many such places as words.
const mostPlaces = 64

// Passages finds what two texts have in common, as runs of shared overlapping shingles of k words.
// It reads along A. Each run is the longest that B has from that place of A on, and the next run
// begins behind it. The longest run comes first.
func Passages(a, b *Text, k int) []Passage {
	x, y := a.Shingles(nil, k), b.Shingles(nil, k)
	if len(x) == 0 || len(y) == 0 || min(a.Len(), k) != min(b.Len(), k) {
		return nil // one text is shorter than a shingle: they share no run, or are the same
	}
	k = min(k, a.Len())
	places := map[uint64][]int{}
	for j, s := range y {
		if len(places[s]) < mostPlaces {
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

// longest returns the place in y with the most shingles equal to those of x, and their number.
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

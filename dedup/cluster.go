package dedup

import (
	"fmt"
	"math/bits"
	"slices"
)

// A Place is where a text stands in the clusters: led by the text Leader (itself,
// if it leads), which it resembles as much as Resemblance says.
type Place struct {
	Leader      int
	Resemblance float64
}

// # Clusters
//
// Texts are given in order of rank. In that order, each text not yet in a cluster leads one, and
// takes every text not yet in a cluster that is similar enough to it. So clusters do not chain:
// every member resembles its leader. The result depends on the ranks alone.
//
// How alike is similar enough may have several answers at once. A text is open at a similarity
// until another takes it there. One that is like an earlier one by .42 leads above that alone, and
// has to be compared above that alone. So of n texts of one template, each as like each other, n-1
// pairs are taken and not n(n-1)/2.

// Taken are n texts, and who took whom at which similarity.
type Taken struct {
	similarities []float64
	texts        int
	pairs        []Take // in the order of leaders
}

// A Take is that a text took one behind it.
type Take struct {
	Leader, Text int32
	Resemblance  float64
}

// MostSimilarities is how many similarities there may be at once.
const MostSimilarities = 64

// Nowhere is the similarity from which a text is looked for that is taken at all of them.
const Nowhere = 2

// Clusters groups n texts at some similarities, the least of which comes first.
//
// alike calls take with the texts after leader that are similar enough to it, each once and in any
// order. from says of each text from which similarity on that is, the greater of those of both
// counts: below it one of them is taken already. [Nowhere] is that of a text which is taken at all.
// It is true at the moment, and alike does not change it. An error of alike ends the search.
func Clusters(n int, similarities []float64, alike func(leader int, from []float64, take func(other int, resemblance float64)) error) (*Taken, error) {
	if err := checkSimilarities(similarities); err != nil {
		return nil, err
	}
	t := &Taken{similarities: similarities, texts: n}
	from := slices.Repeat(similarities[:1], n)
	open := slices.Repeat([]uint64{1<<len(similarities) - 1}, n) // a bit for each similarity at which no text took it
	for i := range n {
		if open[i] == 0 {
			continue
		}
		err := alike(i, from, func(other int, resemblance float64) {
			now := open[i] & open[other] & t.upTo(resemblance)
			if now == 0 {
				return
			}
			t.pairs = append(t.pairs, Take{int32(i), int32(other), resemblance})
			open[other] &^= now
			from[other] = Nowhere
			if open[other] != 0 {
				from[other] = similarities[bits.TrailingZeros64(open[other])]
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func checkSimilarities(similarities []float64) error {
	if len(similarities) == 0 || len(similarities) > MostSimilarities || !slices.IsSorted(similarities) {
		return fmt.Errorf("clusters at the similarities %v: 1 to %d are possible, in ascending order", similarities, MostSimilarities)
	}
	return nil
}

// upTo are the similarities that a resemblance reaches, a bit for each.
func (t *Taken) upTo(resemblance float64) uint64 {
	n, equal := slices.BinarySearch(t.similarities, resemblance)
	if equal {
		n++
	}
	return 1<<n - 1
}

// Pairs are those of which one text took the other at some similarity, in the order of leaders.
func (t *Taken) Pairs() []Take { return t.pairs }

// At gives each text its place at one of the similarities.
func (t *Taken) At(similarity float64) []Place {
	places := make([]Place, t.texts)
	for i := range places {
		places[i] = Place{i, 1}
	}
	for _, p := range t.pairs {
		if p.Resemblance >= similarity && places[p.Leader].Leader == int(p.Leader) && places[p.Text].Leader == int(p.Text) {
			places[p.Text] = Place{int(p.Leader), p.Resemblance}
		}
	}
	return places
}

// NewTaken are the takes that [Clusters] once found for n texts at some similarities. It refuses
// what Clusters cannot have found.
func NewTaken(n int, similarities []float64, pairs []Take) (*Taken, error) {
	if err := checkSimilarities(similarities); err != nil {
		return nil, err
	}
	last := int32(0)
	for _, p := range pairs {
		if p.Leader < last || p.Text <= p.Leader || int(p.Text) >= n || !(p.Resemblance >= similarities[0] && p.Resemblance <= 1) {
			return nil, fmt.Errorf("clusters of %d texts: %+v is no take of one by another", n, p)
		}
		last = p.Leader
	}
	return &Taken{similarities: similarities, texts: n, pairs: pairs}, nil
}

// Similarities are those at which texts are taken, in ascending order.
func (t *Taken) Similarities() []float64 { return t.similarities }

// Among are the takes at some of the similarities alone: what [Clusters] finds at these.
func (t *Taken) Among(similarities []float64) *Taken {
	some := &Taken{similarities: similarities, texts: t.texts}
	open := slices.Repeat([]uint64{1<<len(similarities) - 1}, t.texts)
	for _, p := range t.pairs {
		if now := open[p.Leader] & open[p.Text] & some.upTo(p.Resemblance); now != 0 {
			some.pairs = append(some.pairs, p)
			open[p.Text] &^= now
		}
	}
	return some
}

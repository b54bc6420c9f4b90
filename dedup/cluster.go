package dedup

import (
	"fmt"
	"math/bits"
	"slices"
)

// A Place is the place of a text in the clusters. Leader is the text that leads its cluster, which
// may be the text itself. Resemblance is the resemblance to Leader.
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
// The clusters can be found at several similarities at once. A text is open at a similarity until
// another text takes it there. A text that resembles an earlier one by .42 leads only above .42, so
// it is compared only above .42. If n texts share one template and all resemble each other equally,
// n-1 pairs are taken instead of n(n-1)/2.

// Taken records which of n texts took which at which similarity.
type Taken struct {
	similarities []float64
	texts        int
	pairs        []Take // in the order of leaders
}

// A Take says that the text Leader took Text, which has a lower rank.
type Take struct {
	Leader, Text int32
	Resemblance  float64
}

// MostSimilarities is the most similarities that [Clusters] accepts.
const MostSimilarities = 64

// Nowhere is the from value of a text that is taken at every similarity, see [Clusters].
const Nowhere = 2

// Clusters groups n texts at the given similarities, which must ascend.
//
// alike must call take once for each text after leader that is similar enough to it, in any order.
// from[i] is the lowest similarity at which text i is still free; it is free at all higher ones too.
// It is [Nowhere] if the text is taken at all similarities. So a pair matters only if its resemblance
// is at least the greater of the two values: below that, one of the texts is taken.
// Clusters updates from between calls of take, and alike must not change it. Clusters stops at the
// first error of alike and returns it.
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

// upTo returns the similarities that a resemblance reaches, a bit for each.
func (t *Taken) upTo(resemblance float64) uint64 {
	n, equal := slices.BinarySearch(t.similarities, resemblance)
	if equal {
		n++
	}
	return 1<<n - 1
}

// Pairs returns the pairs in which one text took the other at some similarity, in the order of
// leaders.
func (t *Taken) Pairs() []Take { return t.pairs }

// At returns the place of each text at one of the similarities.
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

// NewTaken restores the result of [Clusters] for n texts from its pairs. It returns an error if
// Clusters cannot have found these pairs.
func NewTaken(n int, similarities []float64, pairs []Take) (*Taken, error) {
	if err := checkSimilarities(similarities); err != nil {
		return nil, err
	}
	last := int32(0)
	for _, p := range pairs {
		if p.Leader < last || p.Text <= p.Leader || int(p.Text) >= n || !(p.Resemblance >= similarities[0] && p.Resemblance <= 1) {
			return nil, fmt.Errorf("clusters of %d texts: the pair %+v is impossible or out of order", n, p)
		}
		last = p.Leader
	}
	return &Taken{similarities: similarities, texts: n, pairs: pairs}, nil
}

// Similarities returns the similarities at which texts are taken, in ascending order.
func (t *Taken) Similarities() []float64 { return t.similarities }

// Among returns what [Clusters] finds at some of the similarities alone.
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

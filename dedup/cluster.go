package dedup

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// # Clusters
//
// Texts are given in their order of precedence. In that order, each text that is in no cluster yet
// leads a new one. The cluster gets all texts that are similar enough to the leader and in no
// cluster yet. So every member resembles the leader, and not just another member. The result
// depends only on this order.
//
// The clusters can be found at several similarities at once. A text is open at a similarity until
// it is in another text's cluster at that similarity. A text that resembles an earlier leader by
// .42 is open only above .42, so it is compared only above .42. If n texts share one template and
// all resemble each other equally, the result has n-1 pairs instead of n(n-1)/2.

// Taken is the result of [Clusters]: the clusters of the texts at each similarity. A pair (i, j)
// means that text j is in the cluster that text i leads.
type Taken struct {
	similarities []float64
	texts        int
	pairs        []Take // in ascending order of their leaders, and of their texts
}

// A Take records that Text is in the cluster that Leader leads, at one or more similarities up to
// Resemblance. Both are indexes of texts in their order of precedence, so Leader is less than Text.
type Take struct {
	Leader, Text int32
	Resemblance  float64
}

// MaxSimilarities is the maximum number of similarities that [Clusters] accepts in one call,
// because it keeps one bit for each in a 64-bit word.
const MaxSimilarities = 64

// Nowhere is above every resemblance. [Clusters] sets from[i] to Nowhere if text i is in another
// text's cluster at every similarity. Then no resemblance of text i matters.
const Nowhere = 2

// Clusters groups n texts at the given similarities, which must be in ascending order.
//
// alike must call take, in any order, once for each text after leader that is similar enough to
// leader. from[i] is the lowest similarity at which text i is not yet in another text's cluster.
// The same is true at all higher similarities. from[i] is [Nowhere] if there is no such similarity.
// A pair matters only if its resemblance is at least from[leader] and from[other]. Each call to
// take updates from, which alike must not change. Clusters stops at the first error of alike and
// returns it.
func Clusters(n int, similarities []float64, alike func(leader int, from []float64, take func(other int, resemblance float64)) error) (*Taken, error) {
	if err := checkSimilarities(similarities); err != nil {
		return nil, err
	}
	t := &Taken{similarities: similarities, texts: n}
	from := slices.Repeat(similarities[:1], n)
	open := slices.Repeat([]uint64{1<<len(similarities) - 1}, n) // for each text, a bit for each similarity at which the text is in no other text's cluster
	for i := range n {
		if open[i] == 0 {
			continue
		}
		before := len(t.pairs)
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
		slices.SortFunc(t.pairs[before:], func(p, q Take) int { return cmp.Compare(p.Text, q.Text) })
	}
	return t, nil
}

func checkSimilarities(similarities []float64) error {
	if len(similarities) == 0 || len(similarities) > MaxSimilarities || !slices.IsSorted(similarities) {
		return fmt.Errorf("cluster at similarities %v: give 1 to %d similarities in ascending order", similarities, MaxSimilarities)
	}
	return nil
}

func (t *Taken) upTo(resemblance float64) uint64 {
	n, equal := slices.BinarySearch(t.similarities, resemblance)
	if equal {
		n++
	}
	return 1<<n - 1
}

// Pairs returns each pair of a leader and a text that is in its cluster at some similarity, in
// ascending order of leader and text.
func (t *Taken) Pairs() []Take { return t.pairs }

// At returns the leader of each text at the given similarity, which must be one of
// [Taken.Similarities]. A text that leads a cluster, or is in none, is its own leader.
func (t *Taken) At(similarity float64) (leaders []int32) {
	leaders = make([]int32, t.texts)
	for i := range leaders {
		leaders[i] = int32(i)
	}
	for _, p := range t.pairs {
		if p.Resemblance >= similarity && leaders[p.Leader] == p.Leader && leaders[p.Text] == p.Text {
			leaders[p.Text] = p.Leader
		}
	}
	return leaders
}

// Find returns the index in [Taken.Pairs] of the pair of a leader and a text in its cluster.
func (t *Taken) Find(leader, text int32) int {
	at, _ := slices.BinarySearchFunc(t.pairs, Take{Leader: leader, Text: text}, Take.compare)
	return at
}

func (p Take) compare(q Take) int {
	return cmp.Or(cmp.Compare(p.Leader, q.Leader), cmp.Compare(p.Text, q.Text))
}

// NewTaken restores the result of [Clusters] for n texts from its pairs. It returns an error if
// Clusters could not have returned these pairs.
func NewTaken(n int, similarities []float64, pairs []Take) (*Taken, error) {
	if err := checkSimilarities(similarities); err != nil {
		return nil, err
	}
	last := Take{}
	for _, p := range pairs {
		if p.Leader < 0 || p.compare(last) <= 0 || p.Text <= p.Leader || int(p.Text) >= n || !(p.Resemblance >= similarities[0] && p.Resemblance <= 1) {
			return nil, fmt.Errorf("cluster %d texts: the pair %+v is invalid or out of order", n, p)
		}
		last = p
	}
	return &Taken{similarities: similarities, texts: n, pairs: pairs}, nil
}

// Similarities returns the similarities that were passed to [Clusters], in ascending order.
func (t *Taken) Similarities() []float64 { return t.similarities }

// Among reduces t to some of its similarities. The result is the same as if [Clusters] had been
// called with only these similarities.
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

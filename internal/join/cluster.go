package join

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

// Taken are the clusters of texts at several similarities. A pair (i, j) means that text j is in the
// cluster that text i leads.
type Taken struct {
	similarities []float64
	texts        int
	pairs        []Take   // after [Taken.Sort] in ascending order of their leaders, and of their texts
	open         []uint32 // for each text, a bit for each similarity at which the text is in no other text's cluster
}

// A Take records that Text is in the cluster that Leader leads, at one or more similarities up to
// Resemblance. Both are indexes of texts in their order of precedence, so Leader is less than Text.
type Take struct {
	Leader, Text int32
	Resemblance  float64
}

// maxSimilarities is the maximum number of similarities, because a Taken keeps one bit for each.
const maxSimilarities = 32

// Nowhere is above every resemblance. [Taken.From] returns it for a text that is in another text's
// cluster at every similarity. Then no resemblance of the text matters.
const Nowhere = 2

// NewTaken returns n texts that are in no cluster yet, at the given similarities, which must be in
// ascending order.
func NewTaken(n int, similarities []float64) (*Taken, error) {
	if len(similarities) == 0 || len(similarities) > maxSimilarities || !slices.IsSorted(similarities) {
		return nil, fmt.Errorf("cluster at similarities %v: give 1 to %d similarities in ascending order", similarities, maxSimilarities)
	}
	return &Taken{similarities: similarities, texts: n, open: slices.Repeat([]uint32{1<<len(similarities) - 1}, n)}, nil
}

// From returns the lowest similarity at which a text is not in another text's cluster, or [Nowhere] if
// there is none. A pair matters only if its resemblance is at least that of both texts.
func (t *Taken) From(text int32) float64 {
	if t.open[text] == 0 {
		return Nowhere
	}
	return t.similarities[bits.TrailingZeros32(t.open[text])]
}

// Take records the resemblance of a text to an earlier one. The calls for each text must come in
// ascending order of leader, and after all calls in which the leader is the text. Take returns false
// if the leader takes the text at no similarity.
func (t *Taken) Take(leader, text int32, resemblance float64) bool {
	if leader < 0 || text <= leader || int(text) >= t.texts {
		return false
	}
	now := t.open[leader] & t.open[text] & t.upTo(resemblance)
	if now == 0 {
		return false
	}
	t.pairs = append(t.pairs, Take{leader, text, resemblance})
	t.open[text] &^= now
	return true
}

func (t *Taken) upTo(resemblance float64) uint32 {
	n, equal := slices.BinarySearch(t.similarities, resemblance)
	if equal {
		n++
	}
	return 1<<n - 1
}

// Sort sorts the pairs. The methods below need that.
func (t *Taken) Sort() { slices.SortFunc(t.pairs, Take.compare) }

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

// Similarities returns the similarities of the clusters, in ascending order.
func (t *Taken) Similarities() []float64 { return t.similarities }

// Among reduces t to some of its similarities, as if it had been made with only these.
func (t *Taken) Among(similarities []float64) (*Taken, error) {
	some, err := NewTaken(t.texts, similarities)
	if err != nil {
		return nil, err
	}
	for _, p := range t.pairs {
		some.Take(p.Leader, p.Text, p.Resemblance)
	}
	return some, nil
}

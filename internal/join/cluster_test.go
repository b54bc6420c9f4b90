package join

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A likePair is a pair of texts with their resemblance. A is less than B.
type likePair struct {
	A, B        int
	Resemblance float64
}

// takenBy returns the clusters of n texts by a list of pairs. If it skips is true, it passes only pairs
// that matter to Take.
func takenBy(t interface{ Fatal(...any) }, n int, similarities []float64, pairs []likePair, skips bool) *Taken {
	taken, err := NewTaken(n, similarities)
	if err != nil {
		t.Fatal(err)
	}
	pairs = slices.Clone(pairs)
	slices.SortFunc(pairs, func(p, q likePair) int { return cmp.Or(cmp.Compare(p.B, q.B), cmp.Compare(p.A, q.A)) })
	for _, p := range pairs {
		if a, b := int32(p.A), int32(p.B); !skips || p.Resemblance >= max(taken.From(a), taken.From(b)) {
			taken.Take(a, b, p.Resemblance)
		}
	}
	taken.Sort()
	return taken
}

// A membership says which cluster a text is in, and how much the text resembles the leader.
type membership struct {
	Leader      int32
	Resemblance float64
}

func membershipsAt(t *Taken, similarity float64) (all []membership) {
	for i, leader := range t.At(similarity) {
		m := membership{leader, 1}
		if leader != int32(i) {
			m.Resemblance = t.Pairs()[t.Find(leader, int32(i))].Resemblance
		}
		all = append(all, m)
	}
	return all
}

func TestClusters(t *testing.T) {
	pairs := []likePair{{0, 2, .9}, {1, 2, .95}, {2, 3, .99}, {1, 4, .8}}
	want := map[float64][]membership{
		.8:  {{0, 1}, {1, 1}, {0, .9}, {3, 1}, {1, .8}}, // text 3 resembles 2, but not the leader of 2, which is 0
		.95: {{0, 1}, {1, 1}, {1, .95}, {3, 1}, {4, 1}},
		.99: {{0, 1}, {1, 1}, {2, 1}, {2, .99}, {4, 1}},
	}
	got := takenBy(t, 5, []float64{.8, .95, .99}, pairs, false)
	for similarity, want := range want {
		if got := membershipsAt(got, similarity); !slices.Equal(got, want) {
			t.Errorf("at %v: %v, want %v", similarity, got, want)
		}
	}
}

// Clusters at several similarities must be the same as those at each similarity alone, although
// pairs that do not matter may be skipped.
func TestClustersAtOnce(t *testing.T) {
	similarities := []float64{.1, .2, .3, .5, .7, 1}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(rt, "texts")
		var pairs []likePair
		for a := range n {
			for b := range a {
				pairs = append(pairs, likePair{b, a, rapid.SampledFrom([]float64{0, .1, .15, .2, .3, .4, .5, .6, .7, .9, 1}).Draw(rt, "resemblance")})
			}
		}
		at := takenBy(rt, n, similarities, pairs, true)
		if len(at.Pairs()) > n*len(similarities) {
			rt.Errorf("%d pairs of %d texts", len(at.Pairs()), n)
		}
		for _, similarity := range similarities {
			alone := takenBy(rt, n, []float64{similarity}, pairs, false)
			if got, want := membershipsAt(at, similarity), membershipsAt(alone, similarity); !slices.Equal(got, want) {
				rt.Fatalf("at %v: %v, want %v", similarity, got, want)
			}
		}
		var few []float64
		for _, similarity := range similarities {
			if rapid.Bool().Draw(rt, "asked for") {
				few = append(few, similarity)
			}
		}
		if len(few) == 0 {
			return
		}
		alone := takenBy(rt, n, few, pairs, false)
		got, err := at.Among(few)
		if err != nil || !slices.Equal(got.Pairs(), alone.Pairs()) || !slices.Equal(got.Similarities(), few) {
			rt.Fatalf("among %v: %v, %v, want %v", few, got.Pairs(), err, alone.Pairs())
		}
	})
}

func TestNewTaken(t *testing.T) {
	for _, similarities := range [][]float64{nil, {.8, .3}, make([]float64, maxSimilarities+1)} {
		if _, err := NewTaken(3, similarities); err == nil {
			t.Errorf("clusters at %v", similarities)
		}
	}
}

// Take must refuse pairs that cannot be.
func TestTake(t *testing.T) {
	taken, err := NewTaken(3, []float64{.3, .8})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Take{{1, 1, .9}, {-1, 1, .9}, {0, 3, .9}, {2, 1, .9}, {0, 1, .2}, {0, 1, math.NaN()}} {
		if taken.Take(p.Leader, p.Text, p.Resemblance) {
			t.Errorf("%v is taken", p)
		}
	}
	if !taken.Take(0, 1, .5) || taken.From(1) != .8 || !taken.Take(1, 2, .9) || taken.From(2) != .3 {
		t.Errorf("text 1 is open from %v, text 2 from %v", taken.From(1), taken.From(2))
	}
}

package dedup

import (
	"errors"
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

// alikeIn returns a function alike for Clusters that passes all texts from a list of pairs to take,
// without looking at from.
func alikeIn(pairs []likePair) func(int, []float64, func(int, float64)) error {
	return func(leader int, _ []float64, take func(int, float64)) error {
		for _, p := range pairs {
			if p.A == leader {
				take(p.B, p.Resemblance)
			}
		}
		return nil
	}
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
	for range 2 {
		got, err := Clusters(5, []float64{.8, .95, .99}, alikeIn(pairs))
		if err != nil {
			t.Fatal(err)
		}
		for similarity, want := range want {
			if got := membershipsAt(got, similarity); !slices.Equal(got, want) {
				t.Errorf("at %v: %v, want %v", similarity, got, want)
			}
		}
		slices.Reverse(pairs) // the order of the pairs must not matter
	}
}

// Clusters at several similarities must be the same as those at each similarity alone, although
// alike may skip texts that are already in a cluster.
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
		at, err := Clusters(n, similarities, func(leader int, from []float64, take func(int, float64)) error {
			for _, p := range pairs {
				if p.A == leader && p.Resemblance >= max(from[leader], from[p.B]) {
					take(p.B, p.Resemblance)
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		if len(at.Pairs()) > n*len(similarities) {
			rt.Errorf("%d pairs of %d texts", len(at.Pairs()), n)
		}
		for _, similarity := range similarities {
			alone, err := Clusters(n, []float64{similarity}, alikeIn(pairs))
			if err != nil {
				rt.Fatal(err)
			}
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
		alone, err := Clusters(n, few, alikeIn(pairs))
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := at.Among(few), alone; !slices.Equal(got.Pairs(), want.Pairs()) || !slices.Equal(got.Similarities(), few) {
			rt.Fatalf("among %v: %v, want %v", few, got.Pairs(), want.Pairs())
		}
	})
}

func TestClustersError(t *testing.T) {
	gone, asked := errors.New("gone"), 0
	_, err := Clusters(3, []float64{.8}, func(int, []float64, func(int, float64)) error { asked++; return gone })
	if err != gone || asked != 1 {
		t.Errorf("error %v after %d questions", err, asked)
	}
	for _, similarities := range [][]float64{nil, {.8, .3}, make([]float64, MaxSimilarities+1)} {
		if _, err := Clusters(3, similarities, alikeIn(nil)); err == nil {
			t.Errorf("clusters at %v", similarities)
		}
	}
}

// NewTaken must refuse pairs that Clusters cannot have found.
func TestNewTaken(t *testing.T) {
	similarities := []float64{.3, .8}
	for _, pairs := range [][]Take{
		{{1, 1, .9}}, {{-1, 1, .9}}, {{0, 3, .9}}, {{0, 1, .2}}, {{0, 1, 1.1}}, {{0, 1, math.NaN()}}, {{1, 2, 1}, {0, 1, 1}},
	} {
		if _, err := NewTaken(3, similarities, pairs); err == nil {
			t.Errorf("%v are taken", pairs)
		}
	}
	taken, err := NewTaken(3, similarities, []Take{{0, 1, .5}, {1, 2, .9}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := membershipsAt(taken, .8), []membership{{0, 1}, {1, 1}, {1, .9}}; !slices.Equal(got, want) {
		t.Errorf("at .8: %v, want %v", got, want)
	}
	if _, err := NewTaken(3, nil, nil); err == nil {
		t.Error("texts are taken at no similarity")
	}
}

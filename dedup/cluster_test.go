package dedup

import (
	"errors"
	"slices"
	"testing"
)

// A likePair is two texts, A before B.
type likePair struct {
	A, B        int
	Resemblance float64
}

// alikeIn looks texts up in a list of pairs, without minding what is taken.
func alikeIn(pairs []likePair) func(int, []bool, func(int, float64)) error {
	return func(leader int, _ []bool, take func(int, float64)) error {
		for _, p := range pairs {
			if p.A == leader {
				take(p.B, p.Resemblance)
			}
		}
		return nil
	}
}

func TestClusters(t *testing.T) {
	pairs := []likePair{{0, 2, .9}, {1, 2, .95}, {2, 3, .99}, {1, 4, .8}}
	want := []Place{{0, 1}, {1, 1}, {0, .9}, {3, 1}, {1, .8}}
	if got, err := Clusters(5, alikeIn(pairs)); !slices.Equal(got, want) || err != nil {
		t.Errorf("got %v, %v, want %v: 3 resembles 2, but not its leader 0", got, err, want)
	}
	slices.Reverse(pairs)
	if got, err := Clusters(5, alikeIn(pairs)); !slices.Equal(got, want) || err != nil {
		t.Errorf("in another order %v, %v, want %v", got, err, want)
	}
}

func TestClustersError(t *testing.T) {
	gone, asked := errors.New("gone"), 0
	_, err := Clusters(3, func(int, []bool, func(int, float64)) error { asked++; return gone })
	if err != gone || asked != 1 {
		t.Errorf("error %v after %d questions", err, asked)
	}
}

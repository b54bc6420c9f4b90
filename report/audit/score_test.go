package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"skink/dedup"
	"skink/store"
)

// scoresOf returns the link scores of a site of n URLs with the given links. The URLs in to are redirects.
func scoresOf(t *testing.T, n int, links map[int][]store.Link, to map[int]string) []float64 {
	t.Helper()
	s := newSite(false)
	s.scored, s.said = true, map[int32][]phrase{}
	for i := range n {
		r := &store.Record{URL: urlOf(i), Kind: store.Page}
		r.ID = dedup.HashOf([]byte(r.URL))
		if target, ok := to[i]; ok {
			r.Kind, r.Location = store.Redirect, target
		}
		s.add(r)
	}
	s.resolve()
	for i := range n {
		s.link(int32(i), links[i])
	}
	s.count()
	var all []float64
	for _, v := range s.scores {
		all = append(all, float64(v))
	}
	return all
}

func urlOf(i int) string { return fmt.Sprintf("http://a.test/%d", i) }

func linkTo(all ...int) (links []store.Link) {
	for _, to := range all {
		links = append(links, store.Link{URL: urlOf(to), Kind: store.LinkAnchor})
	}
	return links
}

// The scores are worked out by hand from the definition: each rank is .15/n and .85 times its share of the ranks of
// the pages that link to it.
func TestScoreByHand(t *testing.T) {
	t.Parallel()
	unfollowed := linkTo(1, 2)
	unfollowed[0].NoFollow = true
	image := linkTo(1, 2)
	image[0].Kind = store.LinkImage
	for _, c := range []struct {
		name  string
		links map[int][]store.Link
		to    map[int]string
		want  []float64
	}{
		// h = .05 + .85 (1-h), so h = .9/1.85; each leaf has half of the rest: (1-h)/2
		{"a home page and two leaves", map[int][]store.Link{0: linkTo(1, 2), 1: linkTo(0), 2: linkTo(0)}, nil, []float64{100, 52.7778, 52.7778}},
		// page 2 has no link, so its rank is spread: x = .05 + .85/3 z, y = x + .425 x, z = x + .425 x + .85 y
		{"a dead end", map[int][]store.Link{0: linkTo(1, 2), 1: linkTo(2)}, nil, []float64{37.9327, 54.0541, 100}},
		{"two links count as one", map[int][]store.Link{0: linkTo(1, 2, 1, 1), 1: linkTo(2, 2)}, nil, []float64{37.9327, 54.0541, 100}},
		{"a link to itself does not count", map[int][]store.Link{0: linkTo(0, 1, 2), 1: linkTo(2)}, nil, []float64{37.9327, 54.0541, 100}},
		// a and b are x, c is x + .85 x, with c spread over all
		{"nofollow", map[int][]store.Link{0: unfollowed}, nil, []float64{54.0541, 54.0541, 100}},
		{"an image", map[int][]store.Link{0: image}, nil, []float64{54.0541, 54.0541, 100}},
		{"a redirect is a link", map[int][]store.Link{0: linkTo(1)}, map[int]string{1: urlOf(2)}, []float64{38.8727, 71.9145, 100}},
		{"no link", nil, nil, []float64{100, 100, 100}},
	} {
		got := scoresOf(t, 3, c.links, c.to)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-3 {
				t.Errorf("%s: scores %.4f, want %.4f", c.name, got, c.want)
				break
			}
		}
	}
}

// TestScoreExact compares the scores of random sites with those from Gaussian elimination.
func TestScoreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 2 + random.IntN(40)
		links, follows := map[int][]store.Link{}, make([]map[int]bool, n)
		for i := range n {
			follows[i] = map[int]bool{}
			for range random.IntN(6) {
				l := linkTo(random.IntN(n))[0]
				if l.NoFollow = random.IntN(5) == 0; !l.NoFollow && l.URL != urlOf(i) {
					for k := range n {
						if l.URL == urlOf(k) {
							follows[i][k] = true
						}
					}
				}
				links[i] = append(links[i], l)
			}
		}
		got, want := scoresOf(t, n, links, nil), solved(follows)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4 {
				t.Fatalf("%d URLs: score %d is %v, want %v", n, i, got[i], want[i])
			}
		}
	}
}

// solved solves (1 - .85 P) x = .15/n, in which P has the probabilities of the steps from each page, and scales x.
func solved(follows []map[int]bool) []float64 {
	n := len(follows)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		m[i][i], m[i][n] = 1, .15/float64(n)
	}
	for from, all := range follows {
		for to := range n {
			if len(all) == 0 {
				m[to][from] -= .85 / float64(n)
			} else if all[to] {
				m[to][from] -= .85 / float64(len(all))
			}
		}
	}
	for i := range n { // the matrix is diagonally dominant by columns, so no pivot is needed
		for j := range n {
			if f := m[j][i] / m[i][i]; j != i {
				for k := i; k <= n; k++ {
					m[j][k] -= f * m[i][k]
				}
			}
		}
	}
	x, best := make([]float64, n), 0.0
	for i := range n {
		x[i] = m[i][n] / m[i][i]
		best = max(best, x[i])
	}
	for i := range x {
		x[i] *= 100 / best
	}
	return x
}

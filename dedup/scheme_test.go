package dedup

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBands checks the longest bands that find .98 of the pairs with exactly the requested
// similarity.
func TestBands(t *testing.T) {
	for _, c := range []struct {
		t           float64
		bands, rows int
	}{{1, 3, 28}, {.95, 6, 14}, {.9, 12, 7}, {.8, 14, 6}, {.7, 21, 4}, {.3, 42, 2}, {.1, 84, 1}, {.05, 84, 1}} {
		s, err := BandsFor(c.t)
		if err != nil || s.Bands() != c.bands || s.Rows != c.rows {
			t.Errorf("t %.2f: %d×%d, %v; want %d×%d", c.t, s.Bands(), s.Rows, err, c.bands, c.rows)
		}
	}
	for _, bad := range []float64{0, .01, .04, 1.01, -1, math.NaN()} {
		if s, err := BandsFor(bad); err == nil {
			t.Errorf("t %v: %v, want an error", bad, s)
		}
	}
}

// TestProbability checks the published probabilities of the scheme "super". It also checks that the
// measured share of pairs agrees with the probability for each scheme.
func TestProbability(t *testing.T) {
	super := Scheme{Name: "super", Rows: 14, Need: 2}
	for j, want := range map[float64]float64{.8: .026, .9: .42, .95: .88} {
		if got := super.Probability(j); math.Abs(got-want) > .005 {
			t.Errorf("super at %.2f: %.3f, want %.3f", j, got, want)
		}
	}
	const pairs = 300
	rng := rand.New(rand.NewPCG(3, 4))
	mega := Scheme{Name: "mega", Rows: 14, Need: 2}
	for _, s := range []Scheme{super, mega, {"bands", 14, 1}, {"bands", 7, 1}, {"bands", 6, 1}, {"bands", 4, 1}} {
		for _, j := range []float64{.6, .8, .9, .95} {
			found := 0
			for range pairs {
				x, y := twoSets(rng, 300, j)
				a, b := NewSketch(x), NewSketch(y)
				if agree(s.Keys(nil, &a), s.Keys(nil, &b)) >= s.Meet() {
					found++
				}
			}
			p := s.Probability(j)
			se := math.Sqrt(p*(1-p)/pairs) + 1e-3
			if got := float64(found) / pairs; math.Abs(got-p) > 4*se {
				t.Errorf("%v at %.2f: found %.3f, curve %.3f ± %.3f", s, j, got, p, se)
			}
		}
	}
}

func TestParseScheme(t *testing.T) {
	for name, want := range map[string]string{
		"bands": "bands: at least 1 of 14 bands of 6 minima each is equal",
		"super": "super: at least 2 of 6 super-shingles of 14 minima each are equal",
		"mega":  "mega: at least 1 of 15 mega-shingles of 2·14 minima each is equal",
	} {
		if s, err := ParseScheme(name, .8); err != nil || s.String() != want {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := ParseScheme("simhash", .8); err == nil || !strings.Contains(err.Error(), "simhash") {
		t.Errorf("unknown scheme: %v", err)
	}
}

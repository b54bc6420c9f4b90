package rivals

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"skink/dedup"
	"skink/dedup/language"
)

func docOf(text string) Doc {
	d := Doc{&dedup.Text{}, "en"}
	d.Read([]byte(text))
	return d
}

// TestSpotsOfPaper checks the spots of the example in the paper by Theobald et al.
func TestSpotsOfPaper(t *testing.T) {
	d := docOf("At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried to set the record " +
		"straight from an attack circulating widely on the Internet that is designed to play into prejudices against Muslims and fears of terrorism.")
	names := map[uint64]string{}
	for i, number := range d.Numbers() {
		names[number] = d.Token(i)
	}
	var got []string
	for spot := range spots(d) {
		got = append(got, names[spot[0]]+":"+names[spot[1]]+":"+names[spot[2]])
	}
	slices.Sort(got)
	want := "a:rally:kick a:weeklong:campaign an:attack:circulating is:designed:play the:internet:designed the:record:straight the:south:carolina"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("the spots are\n%s, want\n%s", s, want)
	}
}

// TestWordsByHand checks values that were worked by hand. There are four texts, so a word of one has the rarity ln 4, and
// a word of two ln 2, which is half of the highest.
func TestWordsByHand(t *testing.T) {
	var c Collection
	for _, text := range []string{"sea fog", "sea ship", "boat", "rope"} {
		c.Add(docOf(text).Text)
	}
	one, two := math.Log(5), math.Log(3) // weights of a word of one text, and of a word of two
	for _, tt := range []struct {
		measure, a, b string
		want          float64
	}{
		{"cosine", "", "", 1},
		{"cosine", "", "sea", 0},
		{"cosine", "boat", "rope", 0},
		{"cosine", "sea fog", "fog sea", 1},
		{"cosine", "sea fog", "sea ship", two * two / (one*one + two*two)},
		{"cosine", "boat boat", "boat", 1},
		{"cosine", "boat boat rope", "boat", (1 + math.Ln2) / math.Sqrt((1+math.Ln2)*(1+math.Ln2)+1)},
		{"i-match", "", "", 1},
		{"i-match", "sea fog", "ship sea", 1}, // the words of one text are too rare
		{"i-match", "sea sea boat", "sea", 1},
		{"i-match", "sea", "boat", 0},
		{"i-match", "fog", "ship", 0}, // no word counts, and the texts differ
		{"i-match", "fog", "Fog!", 1},
		{"spotsigs", "", "", 1},
		{"spotsigs", "sea fog", "fog sea", 0},
		{"spotsigs", "the red boat", "see the red boat", 1},
		{"spotsigs", "the red boat and a blue boat", "the red boat and a green boat", 1. / 3},
		{"spotsigs", "the red boat, the red boat", "the red boat", 1. / 2},
		{"spotsigs", "the boat", "the boat", 1}, // no spot, but equal
	} {
		if got := WordMeasures[tt.measure](&c, docOf(tt.a), docOf(tt.b)); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s of %q and %q: %v, want %v", tt.measure, tt.a, tt.b, got, tt.want)
		}
	}
}

// TestWordsBruteForce compares the measures with implementations on strings.
func TestWordsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 3))
	vocabulary := strings.Fields("the a is of sea fog ship boat rope tide gull sand wave and an")
	var texts []string
	var c Collection
	for range 60 {
		var words []string
		for range rng.IntN(12) {
			words = append(words, vocabulary[rng.IntN(len(vocabulary))])
		}
		texts = append(texts, strings.Join(words, " "))
		c.Add(docOf(texts[len(texts)-1]).Text)
	}
	df := map[string]float64{}
	for _, text := range texts {
		for w := range maps.Keys(bag(text)) {
			df[w]++
		}
	}
	n := float64(len(texts))
	brute := map[string]func(a, b string) float64{
		"cosine": func(a, b string) float64 {
			length := func(x map[string]float64) (sum float64) {
				for w, f := range x {
					sum += math.Pow((1+math.Log(f))*math.Log(1+n/df[w]), 2)
				}
				return math.Sqrt(sum)
			}
			x, y, dot := bag(a), bag(b), 0.
			for w, f := range x {
				if g := y[w]; g > 0 {
					dot += (1 + math.Log(f)) * (1 + math.Log(g)) * math.Pow(math.Log(1+n/df[w]), 2)
				}
			}
			if len(x) == 0 && len(y) == 0 {
				return 1
			}
			return dot / cmp.Or(length(x)*length(y), 1)
		},
		"i-match": func(a, b string) float64 {
			kept := func(text string) string {
				var words []string
				for w := range bag(text) {
					if nidf := math.Log(n/df[w]) / math.Log(n); nidf >= .1 && nidf <= .9 {
						words = append(words, w)
					}
				}
				slices.Sort(words)
				return cmp.Or(strings.Join(words, " "), "="+text)
			}
			return equal(kept(a), kept(b))
		},
		"spotsigs": func(a, b string) float64 {
			x, y := map[string]float64{}, map[string]float64{}
			for text, m := range map[string]map[string]float64{" " + a: x, b: y} {
				words := strings.Fields(text)
				for i, w := range words {
					if w != "a" && w != "an" && w != "the" && w != "is" {
						continue
					}
					var chain []string
					for _, next := range words[i+1:] {
						if next != "is" && !language.FunctionWord("en", next) && len(chain) < 2 {
							chain = append(chain, next)
						}
					}
					if len(chain) == 2 {
						m[fmt.Sprint(w, chain)]++
					}
				}
			}
			low, high := 0., 0.
			for _, m := range []map[string]float64{x, y} {
				for s := range m {
					low += min(x[s], y[s])
					high += max(x[s], y[s])
					x[s], y[s] = 0, 0
				}
			}
			if high == 0 {
				return equal(a, b)
			}
			return low / high
		},
	}
	for _, a := range texts {
		for _, b := range texts {
			for name, want := range brute {
				if got, want := WordMeasures[name](&c, docOf(a), docOf(b)), want(a, b); math.Abs(got-want) > 1e-9 {
					t.Fatalf("%s of %q and %q: %v, want %v", name, a, b, got, want)
				}
			}
		}
	}
}

func bag(text string) map[string]float64 {
	n := map[string]float64{}
	for _, w := range strings.Fields(text) {
		n[w]++
	}
	return n
}

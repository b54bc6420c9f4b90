package dedup_test

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/extract"
)

// containedRule returns a rule by which a page is a duplicate if a leader contains this share of it.
func containedRule(t testing.TB, share float64) dedup.Rule {
	t.Helper()
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	rule.Contained = share
	return rule
}

// A tongue generates texts in one script. The frequencies of its words follow Zipf's law, as in
// natural languages.
type tongue struct {
	name string
	word func(n uint64) string // the n-th most frequent word
	glue string                // text between two words
}

// syllables returns a function that makes a word from a number by syllables.
func syllables(all ...string) func(uint64) string {
	return func(n uint64) string {
		word := ""
		for {
			word += all[n%uint64(len(all))]
			if n /= uint64(len(all)); n == 0 {
				return word
			}
		}
	}
}

var tongues = []tongue{
	{"Latin", syllables("the", "an", "re", "to", "ing", "li", "ma", "ou", "ter", "so"), " "},
	{"Cyrillic", syllables("по", "на", "ст", "ра", "ни", "ко", "во", "ла", "ми", "ть"), " "},
	{"German", syllables("der", "und", "ge", "schä", "über", "ung", "keit", "ver", "lich", "mö"), " "},
	{"Han", func(n uint64) string { return string(rune(0x4E00 + n%3000)) }, ""},
}

// words returns a text of n words.
func (t tongue) words(rng *rand.Rand, n int) []string {
	zipf := rand.NewZipf(rng, 1.1, 4, 30_000)
	all := make([]string, n)
	for i := range all {
		all[i] = t.word(zipf.Uint64())
	}
	return all
}

func (t tongue) join(words []string) string { return strings.Join(words, t.glue) }

// edits change an excerpt at a number of spots.
var edits = []struct {
	name string
	edit func(rng *rand.Rand, t tongue, words []string, spots int) []string
}{
	{"replaced words", func(rng *rand.Rand, t tongue, words []string, spots int) []string {
		for range spots {
			words[rng.IntN(len(words))] = t.word(rng.Uint64N(1 << 20))
		}
		return words
	}},
	{"replaced words at equal distances", func(rng *rand.Rand, t tongue, words []string, spots int) []string {
		for i := range spots {
			words[(2*i+1)*len(words)/(2*spots)] = t.word(rng.Uint64N(1 << 20))
		}
		return words
	}},
	{"deleted words", func(rng *rand.Rand, _ tongue, words []string, spots int) []string {
		for range spots {
			i := rng.IntN(len(words))
			words = slices.Delete(words, i, i+1)
		}
		return words
	}},
	{"inserted words", func(rng *rand.Rand, t tongue, words []string, spots int) []string {
		for range spots {
			words = slices.Insert(words, rng.IntN(len(words)), t.word(rng.Uint64N(1<<20)))
		}
		return words
	}},
	{"swapped words", func(rng *rand.Rand, _ tongue, words []string, spots int) []string {
		for range spots {
			i := rng.IntN(len(words) - 1)
			words[i], words[i+1] = words[i+1], words[i]
		}
		return words
	}},
	{"a sentence of its own", func(rng *rand.Rand, t tongue, words []string, spots int) []string {
		return append(words, t.words(rng, spots)...)
	}},
}

// excerpt returns an edited part of source of n words. It has as many edits as are possible without
// lowering the containment below least. of has the runs of the source.
func excerpt(rng *rand.Rand, t tongue, source []string, of dedup.Set, n int, least float64, edit func(*rand.Rand, tongue, []string, int) []string) string {
	at, seed := rng.IntN(len(source)-n+1), rng.Uint64()
	best := t.join(source[at : at+n])
	for spots := 1; ; spots += max(1, n/200) {
		text := t.join(edit(rand.New(rand.NewPCG(seed, 1)), t, slices.Clone(source[at:at+n]), spots))
		if dedup.Containment(runs(text), of) < least {
			return best
		}
		best = text
	}
}

// TestExcerpts measures how many excerpts an index finds whose containment is just above the least of
// the rule. Every excerpt that is found must be contained in the text that is named as its source.
func TestExcerpts(t *testing.T) {
	const least, wanted, sources, each = .9, .98, 24, 16
	rule := containedRule(t, least)
	rule.MinWords -= 10 // some edits delete words
	for i, tongue := range tongues {
		t.Run(tongue.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			x, usual := dedup.NewIndex(rule), dedup.NewIndex(containedRule(t, 0))
			texts, of := make([][]string, sources), make([]dedup.Set, sources)
			for i := range texts { // lengths from 500 to 20,000 words
				texts[i] = tongue.words(rng, int(500*math.Pow(40, float64(i)/(sources-1))))
				text := tongue.join(texts[i])
				of[i] = runs(text)
				if v := x.Add(fmt.Sprint(i), text); v.Kind != dedup.Unique {
					t.Fatalf("source %d is %+v", i, v)
				}
				usual.Add(fmt.Sprint(i), text)
			}
			for _, length := range []int{50, 100, 200, 500, 1000, 2000} {
				found, byBands, all := 0, 0, 0
				for _, e := range edits {
					for range each {
						source := rng.IntN(sources)
						for len(texts[source]) < length {
							source = rng.IntN(sources)
						}
						text := excerpt(rng, tongue, texts[source], of[source], length, least, e.edit)
						all++
						if usual.Match(text).Kind == dedup.Near {
							byBands++
						}
						v := x.Match(text)
						if v.Kind == dedup.Unique {
							continue
						}
						found++
						contained := dedup.Containment(runs(text), of[source])
						if v.Kind != dedup.Near || v.DuplicateOf != fmt.Sprint(source) || v.Containment != contained || contained < least {
							t.Errorf("%d words, %s: got %+v, want that %d contains it by %v", length, e.name, v, source, contained)
						}
					}
				}
				t.Logf("%4d words: found %d of %d, and %d by the default rule", length, found, all, byBands)
				if float64(found) < wanted*float64(all) {
					t.Errorf("%d words: found %d of %d excerpts, want %v of them", length, found, all, wanted)
				}
			}
		})
	}
}

// TestExcerptsOfPages takes runs of paragraphs from each page of a site and pastes them into another
// page. The paragraphs must then be found as an excerpt of a page that contains them.
func TestExcerptsOfPages(t *testing.T) {
	const least, wanted = .9, .98
	var pages []string
	err := filepath.WalkDir("../testdata/site", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if doc, err := extract.Parse(body, "text/html"); err == nil {
			pages = append(pages, doc.Text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rule := containedRule(t, least)
	var canon dedup.Text
	count := func(text string) int {
		canon.Read([]byte(text))
		return canon.Len()
	}
	found, all := 0, 0
	for i, page := range pages {
		host := strings.Split(pages[(i+7)%len(pages)], "\n")
		paragraphs := strings.Split(page, "\n")
		for from := range paragraphs {
			to := from + 1
			for to < len(paragraphs) && count(strings.Join(paragraphs[from:to], "\n")) < rule.MinWords {
				to++
			}
			part := strings.Join(paragraphs[from:to], "\n")
			if count(part) < rule.MinWords {
				break
			}
			source := strings.Join(slices.Insert(slices.Clone(host), len(host)/2, part), "\n")
			x := dedup.NewIndex(rule)
			for k := range 8 {
				k = (i + 1 + k) % len(pages)
				x.Add(fmt.Sprint(k), pages[k])
			}
			if x.Add("source", source).Kind != dedup.Unique {
				continue // another page contains most of it, and a page is compared only with pages that lead
			}
			all++
			v := x.Match(part)
			if v.Kind == dedup.Unique {
				continue
			}
			found++
			of := source
			if v.DuplicateOf != "source" {
				var k int
				if _, err := fmt.Sscan(v.DuplicateOf, &k); err != nil {
					t.Fatalf("%+v: %v", v, err)
				}
				of = pages[k]
			}
			if got := dedup.Containment(runs(part), runs(of)); got < least || v.Kind == dedup.Near && got != v.Containment {
				t.Errorf("%.40q is %+v, contained by %v", part, v, got)
			}
		}
	}
	t.Logf("found %d of %d excerpts of %d pages", found, all, len(pages))
	if all < 100 || float64(found) < wanted*float64(all) {
		t.Errorf("found %d of %d excerpts, want %v of at least 100", found, all, wanted)
	}
}

// TestContainedIsTrue checks each verdict of an index against the definition. A near text has enough
// of its runs in its leader, and an earlier leader is unique. If all runs of a unique text that is
// not changed are in an earlier leader, the text must be found.
func TestContainedIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, err := dedup.NewRule(.8, "bands", rapid.SampledFrom([]int{0, 5, 50}).Draw(t, "least words"))
		if err != nil {
			t.Fatal(err)
		}
		rule.Contained = rapid.SampledFrom([]float64{1e-300, .1, .5, .9, 1}).Draw(t, "contained")
		x := dedup.NewIndex(rule)
		texts := rapid.SliceOfN(rapid.Custom(drawParts), 0, 20).Draw(t, "texts")
		verdicts := make([]dedup.Verdict, len(texts))
		for i, text := range texts {
			v := x.Add(fmt.Sprint(i), text)
			verdicts[i] = v
			if v.Kind != dedup.Near {
				if v.Containment != 0 {
					t.Fatalf("text %d is %+v", i, v)
				}
				continue
			}
			leader := int(v.Leader) - 1
			got := dedup.Containment(runs(text), runs(texts[leader]))
			if got < rule.Contained || got != v.Containment || verdicts[leader].Kind != dedup.Unique || v.DuplicateOf != fmt.Sprint(leader) {
				t.Fatalf("text %d is %+v, contained by %v in a text that is %+v", i, v, got, verdicts[leader])
			}
			if r := resemblanceOf(text, texts[leader], rule); r != v.Resemblance {
				t.Fatalf("text %d is %+v, want a resemblance of %v", i, v, r)
			}
		}
	})
}

// drawParts returns a random text that consists of some of ten passages of different lengths.
func drawParts(t *rapid.T) string {
	var b strings.Builder
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 8).Draw(t, "passages") {
		for i := range 1 << n {
			fmt.Fprintf(&b, "w%d ", (n*7919+i*i*31)%(50<<n))
		}
	}
	return b.String()
}

// The keys of a text under a rule with containment are a sample that depends only on the runs: a
// source has all keys of a literal excerpt. The number of keys must be as expected.
func TestSampledKeys(t *testing.T) {
	rule := containedRule(t, .95)
	rng := rand.New(rand.NewPCG(1, 2))
	words := tongues[0].words(rng, 20_000)
	keys := func(words []string) []uint64 {
		var text dedup.Text
		text.ReadString(tongues[0].join(words))
		return rule.Keys(nil, &text, nil)
	}
	all := keys(words)
	if share := float64(len(all)) / float64(len(words)); share < .11 || share > .14 {
		t.Errorf("%d keys for %d words, want about an eighth", len(all), len(words))
	}
	for _, key := range keys(words[5000:6000]) {
		if !slices.Contains(all, key) {
			t.Fatalf("the source lacks key %x of its excerpt", key)
		}
	}
	if got := keys(words[:5]); len(got) != 0 {
		t.Errorf("five words have the keys %x, want none", got)
	}
	asked, meet := rule.Asked(all)
	if len(asked) != 36 || meet != 16 {
		t.Errorf("of %d keys %d are looked up and %d must be shared, want 36 and 16", len(all), len(asked), meet)
	}
	if asked, meet = rule.Asked(all[:1]); len(asked) != 1 || meet != 1 {
		t.Errorf("of one key %d are looked up and %d must be shared", len(asked), meet)
	}
}

package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
)

// doorways are pages of 181 words that differ in nothing but the name of a city, which stands in
// each of their sentences.
func doorways(cities ...string) (pages []page) {
	const sentence = "our team of trained workers comes to your house or office in %s within one hour and cleans all rooms "
	for i, city := range cities {
		var b strings.Builder
		for n := range 9 {
			fmt.Fprintf(&b, sentence+"%s.\n", city, []string{"today", "now", "soon", "well", "fast", "again", "twice", "daily", "always"}[n])
		}
		b.WriteString("Call us.")
		pages = append(pages, article(fmt.Sprintf("http://clean.test/%d", i), b.String()))
	}
	return pages
}

func alike(t testing.TB, most int, opt Options, pages ...page) *Alike {
	t.Helper()
	a, err := findAlike(context.Background(), storeOf(t, opt.Rule, pages...), opt, most)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Whatever the similarity, the clusters are those of a judgement with it.
func TestAlikeIsAJudgement(t *testing.T) {
	rule := ruleFor(t, 0.8, 10)
	rapid.Check(t, func(r *rapid.T) {
		var pages []page
		for i, text := range similarTexts(r) {
			pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), text))
		}
		opt := Options{Rule: rule}
		s := storeOf(t, rule, pages...)
		a, err := FindAlike(context.Background(), s, opt)
		if err != nil {
			r.Fatal(err)
		}
		curve, err := a.Curve(context.Background(), 0.1)
		if err != nil {
			r.Fatal(err)
		}
		for i, similarity := range []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
			got, err := a.At(context.Background(), similarity)
			if err != nil {
				r.Fatal(err)
			}
			opt.Similarity = similarity
			want := judge(t, s, opt)
			if got, want := clustersOf(t, got), clustersOf(t, want); got != want {
				r.Fatalf("at %v:\n got %s\nwant %s", similarity, got, want)
			}
			step := Step{Similarity: float64(i+3) * 0.1}
			for _, c := range clusters(t, want) {
				step.Clusters, step.Pages = step.Clusters+1, step.Pages+1+len(c.members)
			}
			if curve[i] != step {
				r.Fatalf("the curve says %+v, want %+v", curve[i], step)
			}
		}
	})
}

// Doorway pages are no duplicates of each other by the usual similarity, and are found below it.
func TestAlikeFindsDoorways(t *testing.T) {
	rule := defaultRule(t)
	pages := append(doorways("Berlin", "Hamburg", "Munich", "Cologne", "Frankfurt", "Stuttgart", "Leipzig", "Bremen"),
		article("http://clean.test/about", words(1, 180)))
	if got := clustersOf(t, judge(t, storeOf(t, rule, pages...), Options{Rule: rule})); got != "" {
		t.Fatalf("at %v there is %s", rule.Similarity, got)
	}
	a := alike(t, MostPairs, Options{Rule: rule}, pages...)
	w, err := a.At(context.Background(), a.Least())
	if err != nil {
		t.Fatal(err)
	}
	all := clusters(t, w)
	if len(all) != 1 || len(all[0].members) != 7 {
		t.Fatalf("at %v there are %s", a.Least(), clustersOf(t, w))
	}
	groups, err := a.Below(context.Background(), rule.Similarity)
	if err != nil || len(groups) != 1 || groups[0].Leader != all[0].leader.ID || len(groups[0].Members) != 7 {
		t.Errorf("below %v there are %+v (%v)", rule.Similarity, groups, err)
	}
	above, below := a.Near(0.35, 10)
	if len(above)+len(below) != 1 { // seven pairs matter, and all have the same page
		t.Errorf("%d pairs above and %d below, of eight pages", len(above), len(below))
	}
	for _, p := range slices.Concat(above, below) {
		if want := dedup.Resemblance(shinglesOf(rule, pages, p.URLs[0]), shinglesOf(rule, pages, p.URLs[1])); p.Resemblance != want {
			t.Errorf("%v resemble each other by %v, want %v", p.URLs, p.Resemblance, want)
		}
	}
}

func shinglesOf(rule dedup.Rule, pages []page, url string) dedup.Set {
	i := slices.IndexFunc(pages, func(p page) bool { return p.url == url })
	var text dedup.Text
	rule.Read(&text, pages[i].text, "en")
	return dedup.NewSet(rule.Shingles(&text))
}

// A pair at the edge is above it, and the nearest come first to whoever asks for few.
func TestNear(t *testing.T) {
	text := words(1, 200)
	var pages []page
	for i := range 8 {
		cut := strings.Fields(text)
		pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), strings.Join(cut[:200-10*i], " ")+" "+words(uint64(100+i), 10*i)))
	}
	a := alike(t, MostPairs, Options{Rule: defaultRule(t), WholeText: true}, pages...)
	above, below := a.Near(0.6, 1)
	if len(above) != 1 || len(below) != 1 || above[0].Resemblance < 0.6 || below[0].Resemblance >= 0.6 {
		t.Fatalf("above %v, below %v", above, below)
	}
	for _, p := range a.pairs {
		if p.resemblance >= 0.6 && p.resemblance < above[0].Resemblance || p.resemblance < 0.6 && p.resemblance > below[0].Resemblance {
			t.Errorf("a pair of %v is nearer", p.resemblance)
		}
	}
	exactly, _ := a.Near(above[0].Resemblance, 1)
	if len(exactly) != 1 || exactly[0] != above[0] {
		t.Errorf("at its own resemblance: %v, want %v", exactly, above)
	}
}

// A store with too many pairs keeps the most alike, and says so.
func TestAlikeIsBounded(t *testing.T) {
	rule := defaultRule(t)
	pages := doorways("Berlin", "Hamburg", "Munich", "Cologne", "Frankfurt", "Stuttgart", "Leipzig", "Bremen")
	text := words(3, 200)
	for i := range 6 {
		pages = append(pages, article(fmt.Sprintf("http://b.test/%d", i), text+words(uint64(10+i), 10)))
	}
	all := alike(t, MostPairs, Options{Rule: rule}, pages...)
	if all.Pairs() != 7+5 || all.Least() != LeastAlike { // one page leads each kind
		t.Fatalf("%d pairs from %v on", all.Pairs(), all.Least())
	}
	few := alike(t, 8, Options{Rule: rule}, pages...)
	if few.Pairs() > 8 || few.Least() <= LeastAlike {
		t.Errorf("%d pairs from %v on", few.Pairs(), few.Least())
	}
	known := 0
	for _, p := range all.pairs {
		if p.resemblance >= few.Least() {
			known++
		}
	}
	if few.Pairs() != known {
		t.Errorf("%d pairs are known, and there are %d", few.Pairs(), known)
	}
}

// Pages that are near each other stand in no group below, nor does one that is like nobody.
func TestBelow(t *testing.T) {
	text := words(1, 200)
	half := strings.Join(strings.Fields(text)[:150], " ")
	rule := defaultRule(t)
	a := alike(t, MostPairs, Options{Rule: rule},
		article("http://a.test/1", text), article("http://a.test/22", but(text, "x")), // near each other
		article("http://a.test/333", half+" "+words(2, 50)), article("http://a.test/4444", half+" "+words(3, 50)),
		article("http://b.test/", words(9, 200)))
	groups, err := a.Below(context.Background(), rule.Similarity)
	if err != nil || len(groups) != 1 || len(groups[0].Members) != 2 {
		t.Fatalf("%+v (%v)", groups, err)
	}
	same(t, "leader", groups[0].Leader.String(), dedup.HashOf([]byte("http://a.test/1")).String())
	for i, m := range groups[0].Members {
		if m.Resemblance < LeastAlike || m.Resemblance >= rule.Similarity || i > 0 && m.Resemblance > groups[0].Members[i-1].Resemblance {
			t.Errorf("member %d resembles the leader by %v", i, m.Resemblance)
		}
	}
}

// A site of doorways is one group, whatever the pairs of its pages are.
func TestBelowOfManyAlike(t *testing.T) {
	var cities []string
	for i := range 60 {
		cities = append(cities, fmt.Sprintf("city%d", i))
	}
	a := alike(t, 64, Options{Rule: defaultRule(t)}, doorways(cities...)...)
	groups, err := a.Below(context.Background(), 0.8)
	if err != nil || a.Least() != LeastAlike || len(groups) != 1 || len(groups[0].Members) != 59 {
		t.Errorf("%d pairs from %v on, in %d groups (%v)", a.Pairs(), a.Least(), len(groups), err)
	}
}

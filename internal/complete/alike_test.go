package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/internal/join"
	"skink/report/audit"
	"skink/store"
)

// doorways returns pages of 181 words that differ only in the name of a city. Each sentence except
// the last contains the name.
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

func alike(t testing.TB, opt Options, pages ...page) *Alike {
	t.Helper()
	a, err := FindAlike(context.Background(), storeOf(t, opt.Rule, pages...), opt, EachTwentieth(opt.Rule.Similarity)...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAlikeIsAJudgement checks the clusters at each similarity. They must equal the result of Judge
// at that similarity, and the result of comparing every pair of pages.
func TestAlikeIsAJudgement(t *testing.T) {
	rule := ruleFor(t, 0.8, 10)
	rapid.Check(t, func(r *rapid.T) {
		var pages []page
		for i, text := range similarTexts(r) {
			pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), text))
		}
		opt := Options{Rule: rule, Memory: someMemory(r)}
		s := storeOf(t, rule, pages...)
		similarities := EachTwentieth(rule.Similarity)
		a, err := FindAlike(context.Background(), s, opt, similarities...)
		if err != nil {
			r.Fatal(err)
		}
		compared := everyPair(r, rule, pages, a, similarities)
		for i, step := range a.Steps() {
			if got, want := placesAt(a.taken, similarities[i]), placesAt(compared, similarities[i]); !slices.Equal(got, want) {
				r.Fatalf("at %v:\n got %v\nwant %v by every pair", similarities[i], got, want)
			}
			opt.Similarity = similarities[i]
			whole := judge(t, s, opt)
			if got, want := placesAt(a.taken, opt.Similarity), placesAt(whole.found, opt.Similarity); !slices.Equal(got, want) {
				r.Fatalf("at %v:\n got %v\nwant %v", opt.Similarity, got, want)
			}
			want := audit.Step{Similarity: similarities[i]}
			for _, c := range clusters(t, whole) {
				want.Clusters, want.Pages = want.Clusters+1, want.Pages+1+len(c.members)
			}
			if step != want {
				r.Fatalf("the curve says %+v, want %+v", step, want)
			}
		}
	})
}

// someMemory draws an amount of memory that forces several rounds, or 0.
func someMemory(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{1, 16 * 600, 16 * 3000, 0}).Draw(t, "memory")
}

// placesAt returns the pair by which each text is in a cluster at a similarity.
func placesAt(found *join.Taken, similarity float64) (pairs []join.Take) {
	for i, leader := range found.At(similarity) {
		if leader != int32(i) {
			pairs = append(pairs, found.Pairs()[found.Find(leader, int32(i))])
		}
	}
	return pairs
}

// nearPairs returns the pairs of a near the given similarity.
func nearPairs(t testing.TB, a *Alike, s store.Reader, similarity float64, n int) (above, below []audit.LikePair) {
	t.Helper()
	above, below, err := a.Near(t.Context(), s, similarity, n)
	if err != nil {
		t.Fatal(err)
	}
	return above, below
}

// everyPair returns the clusters that result if each text is compared with every other text.
func everyPair(t *rapid.T, rule dedup.Rule, pages []page, a *Alike, similarities []float64) *join.Taken {
	sets := make([]dedup.Set, len(a.pages.first))
	for i := range sets {
		sets[i] = shinglesOf(rule, pages, urlOf(pages, a.pages.lead(i)))
	}
	taken, err := join.NewTaken(len(sets), similarities)
	if err != nil {
		t.Fatal(err)
	}
	for leader := range sets {
		for text := leader + 1; text < len(sets); text++ {
			taken.Take(int32(leader), int32(text), dedup.Resemblance(sets[leader], sets[text]))
		}
	}
	taken.Sort()
	return taken
}

// Doorway pages are not near-duplicates at the usual similarity, but Below finds them.
func TestAlikeFindsDoorways(t *testing.T) {
	rule := defaultRule(t)
	pages := append(doorways("Berlin", "Hamburg", "Munich", "Cologne", "Frankfurt", "Stuttgart", "Leipzig", "Bremen"),
		article("http://clean.test/about", words(1, 180)))
	if got := clustersOf(t, judge(t, storeOf(t, rule, pages...), Options{Rule: rule})); got != "" {
		t.Fatalf("at %v there is %s", rule.Similarity, got)
	}
	a := alike(t, Options{Rule: rule}, pages...)
	first := a.Steps()[0]
	if first != (audit.Step{Similarity: MinAlike, Clusters: 1, Pages: 8}) {
		t.Fatalf("at the least there are %+v", first)
	}
	groups := a.Below(rule.Similarity)
	if len(groups) != 1 || len(groups[0].Members) != 7 {
		t.Errorf("below %v there are %+v", rule.Similarity, groups)
	}
	above, below := nearPairs(t, a, storeOf(t, rule, pages...), 0.35, 10)
	if len(above)+len(below) != 1 { // all seven pairs contain the leading page, and Near returns only one pair with a page
		t.Errorf("%d pairs above and %d below, of eight pages", len(above), len(below))
	}
	for _, p := range slices.Concat(above, below) {
		if want := dedup.Resemblance(shinglesOf(rule, pages, p.URLs[0]), shinglesOf(rule, pages, p.URLs[1])); p.Resemblance != want {
			t.Errorf("%v resemble each other by %v, want %v", p.URLs, p.Resemblance, want)
		}
	}
}

// urlOf returns the URL of the page with an ID.
func urlOf(pages []page, id dedup.Hash) string {
	return pages[slices.IndexFunc(pages, func(p page) bool { return dedup.HashOf([]byte(p.url)) == id })].url
}

func shinglesOf(rule dedup.Rule, pages []page, url string) dedup.Set {
	i := slices.IndexFunc(pages, func(p page) bool { return p.url == url })
	var text dedup.Text
	text.ReadString(pages[i].text)
	return rule.Set(&text)
}

// A pair with exactly the given similarity is above it. If Near may return only one pair on each
// side, it returns the closest one.
func TestNear(t *testing.T) {
	text := words(1, 200)
	var pages []page
	for i := range 8 {
		cut := strings.Fields(text)
		pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), strings.Join(cut[:200-10*i], " ")+" "+words(uint64(100+i), 10*i)))
	}
	a, s := alike(t, Options{Rule: defaultRule(t)}, pages...), storeOf(t, defaultRule(t), pages...)
	above, below := nearPairs(t, a, s, 0.6, 1)
	if len(above) != 1 || len(below) != 1 || above[0].Resemblance < 0.6 || below[0].Resemblance >= 0.6 {
		t.Fatalf("above %v, below %v", above, below)
	}
	for _, p := range a.taken.Pairs() {
		if p.Resemblance >= 0.6 && p.Resemblance < above[0].Resemblance || p.Resemblance < 0.6 && p.Resemblance > below[0].Resemblance {
			t.Errorf("a pair of %v is nearer", p.Resemblance)
		}
	}
	exactly, _ := nearPairs(t, a, s, above[0].Resemblance, 1)
	if len(exactly) != 1 || exactly[0] != above[0] {
		t.Errorf("at its own resemblance: %v, want %v", exactly, above)
	}
}

// Below must omit a near-duplicate of another page, and a page that resembles no other.
func TestBelow(t *testing.T) {
	text := words(1, 200)
	half := strings.Join(strings.Fields(text)[:150], " ")
	rule := defaultRule(t)
	a := alike(t, Options{Rule: rule},
		article("http://a.test/1", text), article("http://a.test/22", but(text, "x")), // near-duplicates of each other
		article("http://a.test/333", half+" "+words(2, 50)), article("http://a.test/4444", half+" "+words(3, 50)),
		article("http://b.test/", words(9, 200)))
	groups := a.Below(rule.Similarity)
	if len(groups) != 1 || len(groups[0].Members) != 2 {
		t.Fatalf("%+v", groups)
	}
	same(t, "leader", groups[0].Leader.String(), dedup.HashOf([]byte("http://a.test/1")).String())
	for i, m := range groups[0].Members {
		if m.Resemblance < MinAlike || m.Resemblance >= rule.Similarity || i > 0 && m.Resemblance > groups[0].Members[i-1].Resemblance {
			t.Errorf("member %d resembles the leader by %v", i, m.Resemblance)
		}
	}
}

// All doorway pages of a site form one group. The number of comparisons must grow with the number
// of pages, and not with the number of pairs.
func TestBelowOfManyAlike(t *testing.T) {
	for _, n := range []int{60, 120, 240} {
		var cities []string
		for i := range n {
			cities = append(cities, fmt.Sprintf("city%d", i))
		}
		rule := defaultRule(t)
		s := storeOf(t, rule, doorways(cities...)...)
		w, _, err := compareTexts(context.Background(), s, Options{Rule: rule}, EachTwentieth(rule.Similarity)...)
		if err != nil {
			t.Fatal(err)
		}
		if compared := w.compared - judge(t, s, Options{Rule: rule}).compared; compared > n+10 {
			t.Errorf("%d pages: %d comparisons", n, compared)
		}
		groups := alike(t, Options{Rule: rule}, doorways(cities...)...).Below(0.8)
		if len(groups) != 1 || len(groups[0].Members) != n-1 {
			t.Errorf("%d pages are %d groups", n, len(groups))
		}
	}
}

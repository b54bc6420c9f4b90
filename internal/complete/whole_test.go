package complete

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skink/dedup"
	"skink/store"
)

// TestWholeRanks checks which page leads a cluster and why, and the verdicts of the members.
func TestWholeRanks(t *testing.T) {
	a := words(1, 100)
	long := a + "and some words more"
	for _, c := range []struct {
		pages []page
		want  string
	}{
		{[]page{article("http://a.test/2", a), article("http://a.test/1", words(2, 100))}, ""},
		{[]page{noindex(article("https://a.test/", a)), article("http://a.test/longer", a)},
			"http://a.test/longer (may be indexed), 1: https://a.test/ exact 1.000;\n"},
		{[]page{canonical(article("https://a.test/1", a), "http://a.test/333"), article("http://a.test/22", a), article("http://a.test/333", a)},
			"http://a.test/333 (canonical link), 2: https://a.test/1 exact 1.000; http://a.test/22 exact 1.000;\n"},
		// The canonical URL of a page that would not lead is ignored.
		{[]page{article("https://a.test/1", a), canonical(article("http://b.test/22", a), "http://b.test/333"), article("http://b.test/333", a)},
			"https://a.test/1 (https), 2: http://b.test/22 exact 1.000; http://b.test/333 exact 1.000;\n"},
		{[]page{canonical(article("http://a.test/22", a), "http://a.test/22"), article("http://a.test/1", a)}, // naming itself as canonical has no effect
			"http://a.test/1 (shortest path), 1: http://a.test/22 exact 1.000;\n"},
		// The canonical URL of a page with another text is ignored too.
		{[]page{article("http://a.test/22", a), article("http://a.test/1", a), canonical(article("http://a.test/3", words(3, 100)), "http://a.test/22")},
			"http://a.test/1 (shortest path), 1: http://a.test/22 exact 1.000;\n"},
		{[]page{article("http://a.test/1", a), article("https://a.test/long", a)},
			"https://a.test/long (https), 1: http://a.test/1 exact 1.000;\n"},
		{[]page{article("http://b.test/1?q", a), article("http://longer.test/1", a)},
			"http://longer.test/1 (shortest path), 1: http://b.test/1?q exact 1.000;\n"},
		{[]page{article("http://a.test/1", a), article("http://a.test/2", long)},
			"http://a.test/1 (smallest URL), 1: http://a.test/2 near 0.958;\n"},
		{[]page{article("http://b.test/1", a), article("http://a.test/1", a)},
			"http://a.test/1 (smallest URL), 1: http://b.test/1 exact 1.000;\n"},
		// A short text has only exact copies in its cluster, and the largest cluster comes first.
		{[]page{article("http://a.test/1", "a short text"), article("http://a.test/2", "a short text"), article("http://a.test/3", "a short text too"),
			article("http://b.test/1", a), article("http://b.test/2", a), article("http://b.test/3", but(a, "x")), article("http://c.test/1", ""), article("http://c.test/2", "")},
			"http://b.test/1 (smallest URL), 2: http://b.test/2 exact 1.000; http://b.test/3 near 0.978;\n" +
				"http://a.test/1 (smallest URL), 1: http://a.test/2 exact 1.000;\n"},
		// An exact copy of a near-duplicate is a near-duplicate of the leader.
		{[]page{article("http://a.test/1", long), article("http://a.test/2", a), article("http://a.test/3", a)},
			"http://a.test/1 (smallest URL), 2: http://a.test/2 near 0.958; http://a.test/3 near 0.958;\n"},
		// The member with the highest resemblance comes first, even if another member is ranked before
		// it.
		{[]page{article("http://a.test/1", a), article("http://a.test/2", but(a, "x")+"y z"), article("http://a.test/3", but(a, "x"))},
			"http://a.test/1 (smallest URL), 2: http://a.test/3 near 0.978; http://a.test/2 near 0.957;\n"},
		// Pages with noindex can lead each other.
		{[]page{noindex(article("http://a.test/1", a)), noindex(article("http://a.test/2", a))},
			"http://a.test/1 (smallest URL), 1: http://a.test/2 exact 1.000;\n"},
	} {
		rule := defaultRule(t)
		same(t, "clusters", clustersOf(t, judge(t, storeOf(t, rule, c.pages...), Options{Rule: rule})), c.want)
	}
}

// The clusters must not depend on the order of the crawl, and the resemblance of each member must
// be the exact one.
func TestWholeKnowsNoOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := similarTexts(rt)
		rule := ruleFor(t, rapid.SampledFrom([]float64{.3, .5, .8}).Draw(rt, "similarity"), 10)
		rule.Shingling.K = 2
		hidden := rapid.SliceOfN(rapid.IntRange(0, 5), len(texts), len(texts)).Draw(rt, "hidden")
		pages := make([]page, len(texts))
		for i := range texts {
			pages[i] = article(fmt.Sprintf("http://a.test/%d", i), texts[i])
			if hidden[i] == 0 {
				pages[i] = noindex(pages[i])
			}
		}
		first := storeOf(t, rule, pages...)
		w := judge(t, first, Options{Rule: rule, Memory: someMemory(rt)})
		want := clustersOf(t, w)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 3)).Shuffle(len(pages), func(i, k int) { pages[i], pages[k] = pages[k], pages[i] })
		if got := clustersOf(t, judge(t, storeOf(t, rule, pages...), Options{Rule: rule})); got != want {
			rt.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
		soundWhole(rt, first, w, rule)
	})
}

// soundWhole checks the result of a comparison: the verdicts against the texts, and the results of
// Changes, Pages, Tally, Clusters and Members against each other.
func soundWhole(t *rapid.T, s store.Reader, w *Whole, rule dedup.Rule) {
	ctx := context.Background()
	set := func(id dedup.Hash) dedup.Set {
		var canon dedup.Text
		canon.Read([]byte(pageOf(t, s, id).Text))
		return canon.Set(rule.Shingling.K)
	}
	members := map[dedup.Hash]int{}
	var tally store.Tally
	for page, err := range w.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		r := &page.Record
		tally.Add(r)
		if by := pageOf(t, w, r.ID).Record; !reflect.DeepEqual(by, *r) {
			t.Fatalf("a record differs by the way to it:\n%+v\n%+v", *r, by)
		}
		if !r.Follows() {
			continue
		}
		members[r.Leader]++
		leader := pageOf(t, w, r.Leader).Record
		got := dedup.Resemblance(set(r.ID), set(r.Leader))
		switch {
		case leader.Follows() || leader.URL != r.DuplicateOf:
			t.Fatalf("%s is led by %+v", r.URL, leader)
		case got != r.Resemblance || got < rule.Similarity:
			t.Fatalf("%s resembles its leader by %v, and says %v", r.URL, got, r.Resemblance)
		case leader.NoIndex && !r.NoIndex:
			t.Fatalf("%s may be fed, and its leader %s not", r.URL, leader.URL)
		}
	}
	if got, _ := w.Tally(ctx); got.Pages() != tally.Pages() || got.Near != tally.Near || got.Unique != tally.Unique {
		t.Fatalf("tally %+v, want %+v", got, tally)
	}
	for c, err := range w.Clusters(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range w.Members(ctx, []dedup.Hash{c.Leader}) {
			if err != nil || r.Leader != c.Leader {
				t.Fatalf("member %+v of %s: %v", r, c.Leader, err)
			}
			n++
		}
		if n != c.Members || n != members[c.Leader] {
			t.Fatalf("the cluster of %d has %d members, says %d, and the records say %d", c.Leader, n, c.Members, members[c.Leader])
		}
		delete(members, c.Leader)
	}
	if len(members) > 0 {
		t.Fatalf("leaders without a cluster: %v", members)
	}
}

// Pairs must find the same pairs as comparing every text with every other.
func TestPairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rule := ruleFor(t, rapid.SampledFrom([]float64{.1, .3, .5, .8, 1}).Draw(rt, "similarity"), 10)
		rule.Shingling.K = 2
		var pages []page
		for i, text := range similarTexts(rt) {
			pages = append(pages, article(fmt.Sprintf("http://a.test/%d", i), text))
		}
		got := collect(t, Pairs(t.Context(), storeOf(t, rule, pages...), rule, someMemory(rt)))
		if want := bruteForce(pages, rule); !slices.Equal(got, want) {
			rt.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

// Two pages with the same words are exact, and a pair, however few their words are.
func TestPairsOfThinPages(t *testing.T) {
	rule := ruleFor(t, .8, 10)
	got := pairsIn(t, storeOf(t, rule, article("http://a.test/1", "few words"), article("http://a.test/2", "few words"), article("http://a.test/3", "others")), rule)
	if want := []Pair{{"http://a.test/1", "http://a.test/2", 1}}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func pairsIn(t testing.TB, s store.Reader, rule dedup.Rule) []Pair {
	t.Helper()
	return collect(t, Pairs(t.Context(), s, rule, 0))
}

func comparePairs(x, y Pair) int {
	return strings.Compare(x.A+" "+x.B, y.A+" "+y.B)
}

func bruteForce(pages []page, rule dedup.Rule) (pairs []Pair) {
	sets := make([]dedup.Set, len(pages))
	for i, p := range pages {
		var canon dedup.Text
		canon.Read([]byte(p.text))
		sets[i] = canon.Set(rule.Shingling.K)
	}
	for i := range pages {
		for k := range i {
			if r := dedup.Resemblance(sets[i], sets[k]); r >= rule.Similarity {
				a, b := pages[i].url, pages[k].url
				pairs = append(pairs, Pair{min(a, b), max(a, b), r})
			}
		}
	}
	slices.SortFunc(pairs, comparePairs)
	return pairs
}

// Pages whose text was not stored keep the verdict of the crawl, and are in no cluster.
func TestWholeSkipped(t *testing.T) {
	rule := defaultRule(t)
	a := words(1, 100)
	without := func(url, text string, verdict dedup.VerdictKind) page {
		return page{url: url, text: text, verdict: verdict, noText: true}
	}
	s := storeOf(t, rule, article("http://a.test/long", a), without("http://a.test/2", a, dedup.Exact), without("http://a.test/3", but(a, "x"), dedup.Near))
	w := judge(t, s, Options{Rule: rule})
	same(t, "clusters", clustersOf(t, w), "")
	same(t, "verdicts", verdicts(t, w), verdicts(t, s))
}

// verdicts describes the verdicts of the pages in a store, one page on each line.
func verdicts(t testing.TB, s store.Reader) string {
	t.Helper()
	var b strings.Builder
	for _, page := range collect(t, s.Changes(context.Background(), "", store.WantRecord)) {
		r := &page.Record
		fmt.Fprintf(&b, "%s %s %t\n", r.URL, r.Verdict, r.NoText)
	}
	return b.String()
}

func TestWholeStops(t *testing.T) {
	rule := defaultRule(t)
	s := storeOf(t, rule, article("http://a.test/1", words(1, 100)), article("http://a.test/2", but(words(1, 100), "x")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Judge(ctx, s, Options{Rule: rule}); err != context.Canceled {
		t.Errorf("got %v, want that the context ended", err)
	}
}

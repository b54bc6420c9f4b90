package precedence

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skink/internal/tools/storetest"
)

func at(second int) time.Time { return time.Unix(1e9+int64(second), 0) }

// Each row has two pages, the first of which leads, and the reason. The second page is better by
// all criteria that come after that reason.
func TestOrder(t *testing.T) {
	good := func(url string) Standing { return Standing{URL: url, Listed: true, Seen: at(1)} }
	const short, long = "https://z.test/", "http://a.test/a/longer/path"
	for _, c := range []struct {
		reason      Reason
		first, next Standing
	}{
		{Indexed, Standing{URL: long, Place: 9, Seen: at(9)}, Standing{URL: short, NoIndex: true, Listed: true, Seen: at(1)}},
		{Public, Standing{URL: long, Place: 9, Seen: at(9)}, Standing{URL: short, Private: true, Listed: true, Seen: at(1)}},
		{Indexed, Standing{URL: long, Private: true, Place: 9}, Standing{URL: short, NoIndex: true, Names: long}},
		{Canonical, Standing{URL: long, Place: 9, Seen: at(9), OtherLang: true}, Standing{URL: short, Names: long, Listed: true, Seen: at(1)}},
		{Preferred, Standing{URL: long, Place: -2, Seen: at(9), OtherLang: true}, Standing{URL: short, Place: -1, Listed: true, Seen: at(1)}},
		{Preferred, Standing{URL: long, Place: -1, Seen: at(9), OtherLang: true}, Standing{URL: short, Listed: true, Seen: at(1)}},
		{HostOrder, Standing{URL: long, Place: 1, Seen: at(9), OtherLang: true}, Standing{URL: short, Place: 2, Listed: true, Seen: at(1)}},
		{InSitemap, Standing{URL: long, Listed: true, Seen: at(9), OtherLang: true}, Standing{URL: short, Seen: at(1)}},
		{FirstSeen, Standing{URL: long, Seen: at(1), OtherLang: true}, Standing{URL: short, Seen: at(2)}},
		{HTTPS, Standing{URL: "https://a.test/a/longer/path", OtherLang: true}, Standing{URL: "http://a.test/"}},
		{Language, Standing{URL: long}, Standing{URL: "http://a.test/", OtherLang: true}},
		{ShortestPath, Standing{URL: "http://z.test/b"}, Standing{URL: "http://a.test/aa"}},
		{SmallestURL, Standing{URL: "http://a.test/a"}, Standing{URL: "http://a.test/b"}},
	} {
		for _, pages := range [][]Standing{{c.first, c.next}, {c.next, c.first}} {
			if got := pages[Leader(pages)]; got != c.first {
				t.Errorf("%s: %s leads, want %s", c.reason, got.URL, c.first.URL)
			}
		}
		if got := Why(&c.first, &c.next); got != c.reason {
			t.Errorf("%s leads %s: %s, want %s", c.first.URL, c.next.URL, got, c.reason)
		}
	}
	a := good("http://a.test/")
	if d, reason := Compare(&a, &a); d != 0 || reason != "" {
		t.Errorf("a page goes before itself: %s", reason)
	}
	if Leader(nil) >= 0 {
		t.Error("a page leads none")
	}
}

// TestCanonical checks which canonical URLs count. The first page of each row would lead by all
// other criteria.
func TestCanonical(t *testing.T) {
	page := func(url, names string, seen int) Standing { return Standing{URL: url, Names: names, Seen: at(seen)} }
	const a, b, c = "http://a.test/", "http://b.test/", "http://c.test/"
	hidden := page(b, "", 2)
	hidden.NoIndex = true
	private := page(b, "", 2)
	private.Private = true
	for _, test := range []struct {
		name  string
		pages []Standing
		want  string
	}{
		{"the page that would lead names one", []Standing{page(a, b, 1), page(b, "", 2), page(c, "", 3)}, b},
		{"all copies name one", []Standing{page(a, c, 1), page(b, c, 2), page(c, "", 3)}, c},
		{"a copy that would not lead names itself through a third", []Standing{page(a, "", 1), page(b, c, 2), page(c, "", 3)}, a},
		{"two foreign pages name each other's host", []Standing{page(a, "", 1), page(b, c, 2), page(c, b, 3)}, a},
		{"the page that is named names a third", []Standing{page(a, b, 1), page(b, c, 2), page(c, "", 3)}, a},
		{"two pages name each other", []Standing{page(a, b, 1), page(b, a, 2)}, a},
		{"the page that is named is not there", []Standing{page(a, "http://d.test/", 1), page(b, "", 2)}, a},
		{"it is not to be indexed", []Standing{page(a, b, 1), hidden}, a},
		{"it is private", []Standing{page(a, b, 1), private}, a},
	} {
		if got := test.pages[Leader(test.pages)].URL; got != test.want {
			t.Errorf("%s: %s leads, want %s", test.name, got, test.want)
		}
	}
}

// anyStanding returns the random standing of a page that may name one of some other pages.
func anyStanding(t *rapid.T, url string, urls []string) Standing {
	s := Standing{
		URL: url, NoIndex: rapid.IntRange(0, 5).Draw(t, "noindex") == 0, Private: rapid.IntRange(0, 5).Draw(t, "private") == 0, Place: rapid.IntRange(0, 2).Draw(t, "place"),
		Listed: rapid.Bool().Draw(t, "listed"), Seen: at(rapid.IntRange(0, 2).Draw(t, "seen")), OtherLang: rapid.Bool().Draw(t, "language"),
	}
	if names := rapid.SampledFrom(append(urls, "", "")).Draw(t, "names"); names != url {
		s.Names = names
	}
	return s
}

// The leader does not depend on the order of the pages, and the order has no circles.
func TestLeaderKnowsNoOrder(t *testing.T) {
	urls := []string{"http://a.test/", "https://a.test/", "http://b.test/b", "http://c.test/cc", "https://d.test/d"}
	rapid.Check(t, func(t *rapid.T) {
		var pages []Standing
		for _, url := range urls {
			pages = append(pages, anyStanding(t, url, urls))
		}
		want := pages[Leader(pages)]
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		if got := pages[Leader(pages)]; got != want {
			t.Fatalf("%+v leads, and in another order %+v", want, got)
		}
		slices.SortFunc(pages, func(a, b Standing) int { d, _ := Compare(&a, &b); return d })
		for i := range pages {
			for j := range pages {
				if d, _ := Compare(&pages[i], &pages[j]); d != cmp.Compare(i, j) {
					t.Fatalf("%+v and %+v: %d at the places %d and %d", pages[i], pages[j], d, i, j)
				}
			}
		}
		// A page that is not the leader and would not lead without it changes nothing.
		if last := pages[len(pages)-1]; last != want && !Yields(&pages[0], &last) {
			if got := pages[Leader(pages[:len(pages)-1])]; got != want {
				t.Fatalf("%+v leads, and without %+v it is %+v", want, last, got)
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	ctx := t.Context()
	s := storetest.NewMemory()
	if _, err := Add(ctx, s, []string{`/stable/`, `^https://docs\.`}, []string{"b.test", "a.test", "b.test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Move(ctx, s, "b.test", "www.b.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(ctx, s, nil, []string{"c.test"}); err != nil { // if only seeds are added, the order keeps its expressions
		t.Fatal(err)
	}
	o, err := Read(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]int{
		"http://x.test/stable/": -2, "https://docs.a.test/stable/": -2, "https://docs.a.test/": -1,
		"http://b.test/": 0, "http://www.b.test/": 0, "https://b.test/": 0, "http://a.test/": 1, "http://c.test/": 2,
		"http://a.test:8080/": 3, "http://else.test/": 3,
	} {
		if got := o.Place(url); got != want {
			t.Errorf("%s has place %d, want %d", url, got, want)
		}
	}
	if o, err = Read(ctx, s, "^http://c", "else"); err != nil || o.Place("http://c.test/") != -2 || o.Place("http://else.test/") != -1 || o.Place("http://x.test/stable/") != 3 {
		t.Errorf("the expressions of a reader do not replace those of the store: %v", err)
	}
	if _, err := Add(ctx, s, []string{"other"}, nil); err != ErrPrefer {
		t.Errorf("other expressions: %v", err)
	}
	if _, err := newOrder(kept{Prefer: []string{"("}}); err == nil || !strings.Contains(err.Error(), `"("`) {
		t.Errorf("an expression that cannot be read: %v", err)
	}
	var none *Order
	if none.Place("http://a.test/") != 0 {
		t.Error("no order gives a place")
	}
}

// An order that cannot be read is not merged, so the order of the store stays readable.
func TestMergeRefuses(t *testing.T) {
	s := storetest.NewMemory()
	for _, text := range []string{`{"prefer":["("]}`, `{"prefer":`} {
		if _, err := Merge(t.Context(), s, []byte(text)); err == nil {
			t.Errorf("Merge accepts %s", text)
		}
	}
	if _, err := Read(t.Context(), s); err != nil {
		t.Error(err)
	}
}

package dedup

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	rule, err := NewRule(.5, "bands", 3)
	if err != nil {
		t.Fatal(err)
	}
	page := Set{1, 2, 3, 4}
	for _, c := range []struct {
		why  string
		with []Candidate
		want Verdict
	}{
		{"nobody", nil, Verdict{Kind: Unique}},
		{"not similar enough", []Candidate{{Num: 1, Name: "1", Set: Set{1, 7, 8}}}, Verdict{Kind: Unique}},
		{"just similar enough", []Candidate{{Num: 1, Name: "1", Set: Set{1, 2}}}, Verdict{Near, 1, "1", .5, ByBands, 0}},
		{"the most similar", []Candidate{{Num: 1, Name: "1", Set: Set{1, 2}}, {Num: 2, Name: "2", Set: Set{1, 2, 3}}}, Verdict{Near, 2, "2", .75, ByBands, 0}},
		{"the earliest of equals", []Candidate{{Num: 5, Name: "5", Set: Set{1, 2, 3}}, {Num: 4, Name: "4", Set: Set{2, 3, 4}}}, Verdict{Near, 4, "4", .75, ByBands, 0}},
		{"the same shingles in another text", []Candidate{{Num: 3, Name: "3", Set: page}}, Verdict{Near, 3, "3", 1, ByBands, 0}},
	} {
		if got := rule.Judge(page, c.with); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.why, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		min, tokens int
		want        bool
	}{{50, 49, true}, {50, 50, false}, {0, 0, true}, {0, 1, false}} {
		if got := (Rule{MinWords: c.min}).Short(c.tokens); got != c.want {
			t.Errorf("%d tokens of at least %d: %v", c.tokens, c.min, got)
		}
	}
}

func TestCopy(t *testing.T) {
	near := Verdict{Near, 3, "3", .9, ByBands, 0}
	for _, c := range []struct {
		first, want Verdict
	}{
		{Verdict{Kind: Unique}, Verdict{Exact, 7, "7", 1, ByText, 0}},
		{Verdict{Kind: Thin}, Verdict{Exact, 7, "7", 1, ByText, 0}},
		{near, near},
		{Verdict{Exact, 2, "2", 1, ByText, 0}, Verdict{Exact, 2, "2", 1, ByText, 0}},
	} {
		if got := Copy(7, "7", c.first); got != c.want {
			t.Errorf("copy of a %s page: %+v, want %+v", c.first.Kind, got, c.want)
		}
	}
}

func TestShortlist(t *testing.T) {
	rule, _ := NewRule(.8, "bands", 0)
	list := []Candidate{{Num: 9, Estimate: .9}, {Num: 1, Estimate: .66}, {Num: 2, Estimate: .67}, {Num: 3, Estimate: .9}}
	for n := range 40 {
		list = append(list, Candidate{Num: uint64(100 + n), Estimate: .7})
	}
	want := []uint64{3, 9}
	for n := range uint64(MaxVerify - 2) {
		want = append(want, 100+n)
	}
	for words, most := range map[int]int{100: MaxVerify, MaxVerifyWords / MaxVerify: MaxVerify, 100_000: 10, 1 << 30: 1} {
		var got []uint64
		for _, c := range rule.Shortlist(slices.Clone(list), words) {
			got = append(got, c.Num)
		}
		if !slices.Equal(got, want[:most]) {
			t.Errorf("for a page of %d words: %v, want %v", words, got, want[:most])
		}
	}
}

// Met must return the leaders that share the most keys, and the earliest of equals.
func TestMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keys := rapid.IntRange(1, 14).Draw(t, "keys")
		meet := rapid.IntRange(0, 3).Draw(t, "meet")
		shared := map[uint64]int{}
		for range rapid.IntRange(0, 3*MaxMet).Draw(t, "leaders") {
			shared[rng.Uint64N(10*MaxMet)] = 1 + rng.IntN(keys)
		}
		var want []uint64
		for num, n := range shared {
			if n >= meet {
				want = append(want, num)
			}
		}
		slices.SortFunc(want, func(a, b uint64) int { return cmp.Or(shared[b]-shared[a], cmp.Compare(a, b)) })
		want = want[:min(len(want), MaxMet)]
		slices.Sort(want)
		if got := Met(shared, meet); !slices.Equal(got, want) {
			t.Fatalf("got %d leaders, want %d", len(got), len(want))
		}
	})
}

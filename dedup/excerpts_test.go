package dedup

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skink/base/splitmix"
)

// An Excerpts must yield each excerpt of each source once, as a comparison of all pairs finds them.
func TestExcerptsMissNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]float64{.05, .5, .9, .95, 1}).Draw(t, "least")
		numbers := rapid.SliceOfN(rapid.Uint64Range(0, 60), 0, 60)
		sets := make([]Set, rapid.IntRange(0, 20).Draw(t, "sets"))
		var order = NewOccurrences(100)
		for i := range sets {
			list := numbers.Draw(t, "numbers")
			if i > 0 && rapid.Bool().Draw(t, "excerpt") {
				of := sets[rapid.IntRange(0, i-1).Draw(t, "of")]
				list = append(list[:min(len(list), 3)], of[:rapid.IntRange(0, len(of)).Draw(t, "part")]...)
			} else {
				for k := range list {
					list[k] = splitmix.Mix(list[k])
				}
			}
			sets[i] = NewSet(list)
			order.Count(sets[i])
		}
		x := NewExcerpts(least, len(sets), order)
		for i, s := range sets {
			x.Add(i, s)
		}
		for k, source := range sets {
			var found []int
			x.Of(source, func(text int) bool {
				found = append(found, text)
				return true
			})
			slices.Sort(found)
			if len(slices.Compact(slices.Clone(found))) != len(found) {
				t.Fatalf("texts were yielded twice: %v", found)
			}
			for i, s := range sets {
				if len(s) > 0 && i != k && Containment(s, source) >= least && !slices.Contains(found, i) {
					t.Fatalf("text %d is contained in %d by %v, and was not found", i, k, Containment(s, source))
				}
			}
		}
	})
}

// A search that stops early leaves nothing behind for the next search.
func TestExcerptsStop(t *testing.T) {
	sets := []Set{{1 << 40, 2 << 40, 3 << 40}, {1 << 40, 2 << 40, 3 << 40}, {1 << 40, 2 << 40, 3 << 40, 4 << 40}}
	order := NewOccurrences(10)
	for _, s := range sets {
		order.Count(s)
	}
	x := NewExcerpts(.9, len(sets), order)
	for i, s := range sets {
		x.Add(i, s)
	}
	for range 2 {
		n := 0
		x.Of(sets[2], func(int) bool {
			n++
			return false
		})
		if n != 1 {
			t.Fatalf("%d texts were yielded after the search should stop", n)
		}
	}
	var all []int
	x.Of(sets[2][:2], func(text int) bool {
		all = append(all, text)
		return true
	})
	if len(all) != 0 {
		t.Errorf("two of three runs are an excerpt of %v", all)
	}
}

// An excerpt is found among many texts that share nothing, and texts that are in no other are not
// indexed.
func TestExcerptsIndexFew(t *testing.T) {
	const texts, size = 200, 500
	sets := make([]Set, texts)
	order := NewOccurrences(texts * size)
	for i := range sets {
		list := make([]uint64, size)
		for k := range list {
			list[k] = splitmix.Mix(uint64(i*size + k))
		}
		sets[i] = NewSet(list)
	}
	excerpt := NewSet(sets[77][100:200])
	sets = append(sets, excerpt)
	for _, s := range sets {
		order.Count(s)
	}
	x := NewExcerpts(.95, len(sets), order)
	for i, s := range sets {
		x.Add(i, s)
	}
	if n := len(x.posts); n > 50 {
		t.Errorf("%d runs are indexed, want only a few of the excerpt", n)
	}
	var found []int
	x.Of(sets[77], func(text int) bool {
		found = append(found, text)
		return true
	})
	if !slices.Equal(found, []int{texts}) {
		t.Errorf("found %v, want %d", found, texts)
	}
}

package join

import (
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skink/base/splitmix"
	"skink/dedup"
)

// An Excerpts must yield each excerpt of each source once, as a comparison of all pairs finds them.
func TestExcerptsMissNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]float64{.05, .5, .9, .95, 1}).Draw(t, "least")
		numbers := rapid.SliceOfN(rapid.Uint64Range(0, 60), 0, 60)
		sets := make([]dedup.Set, rapid.IntRange(0, 20).Draw(t, "sets"))
		var order = NewOccurrences(100, 1<<30)
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
			sets[i] = dedup.NewSet(list)
			order.Count(sets[i])
		}
		memory := rapid.SampledFrom([]int{1, 500, 1 << 20}).Draw(t, "memory")
		all := slices.Collect(rounds(t, memory, excerptsOf(least, order, sets)))
		for k, source := range sets {
			var found []int32
			for _, x := range all {
				found = append(found, foundIn(x, source)...)
			}
			slices.Sort(found)
			if len(slices.Compact(slices.Clone(found))) != len(found) {
				t.Fatalf("texts were yielded twice: %v", found)
			}
			for i, s := range sets {
				if len(s) > 0 && i != k && dedup.Containment(s, source) >= least && !slices.Contains(found, int32(i)) {
					t.Fatalf("text %d is contained in %d by %v, and was not found", i, k, dedup.Containment(s, source))
				}
			}
		}
	})
}

// excerptsOf returns the rows of sets.
func excerptsOf(least float64, order *Occurrences, sets []dedup.Set) (rows [][]byte) {
	for i, s := range sets {
		if row := order.Excerpt(least, int32(i), s); row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// rounds yields an index of as many rows as fit in memory, then one of the next, and so on.
func rounds(t interface{ Fatal(...any) }, memory int, rows [][]byte) iter.Seq[*Excerpts] {
	return func(yield func(*Excerpts) bool) {
		for more, next := true, int32(0); more; {
			var x *Excerpts
			var err error
			x, next, more, err = NewExcerpts(memory, rowsFrom(rows, next))
			if err != nil {
				t.Fatal(err)
			}
			if !yield(x) {
				return
			}
		}
	}
}

// rowsFrom yields the rows from that of a text on.
func rowsFrom(rows [][]byte, text int32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, row := range rows {
			if TextOf(row) >= text && !yield(row, nil) {
				return
			}
		}
	}
}

func foundIn(x *Excerpts, source dedup.Set) (found []int32) {
	x.Of(source, func(text int32) bool {
		found = append(found, text)
		return true
	})
	return found
}

// A search that stops early leaves nothing behind for the next search.
func TestExcerptsStop(t *testing.T) {
	sets := []dedup.Set{{1 << 40, 2 << 40, 3 << 40}, {1 << 40, 2 << 40, 3 << 40}, {1 << 40, 2 << 40, 3 << 40, 4 << 40}}
	order := NewOccurrences(10, 1<<30)
	for _, s := range sets {
		order.Count(s)
	}
	x, _, _, err := NewExcerpts(1<<20, rowsFrom(excerptsOf(.9, order, sets), 0))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n := 0
		x.Of(sets[2], func(int32) bool {
			n++
			return false
		})
		if n != 1 {
			t.Fatalf("%d texts were yielded after the search should stop", n)
		}
	}
	if all := foundIn(x, sets[2][:2]); len(all) != 0 {
		t.Errorf("two of three runs are an excerpt of %v", all)
	}
}

// An excerpt is found among many texts that share nothing, and texts that are in no other are not
// indexed.
func TestExcerptsIndexFew(t *testing.T) {
	const texts, size = 200, 500
	sets := make([]dedup.Set, texts)
	order := NewOccurrences(texts*size, 1<<30)
	for i := range sets {
		list := make([]uint64, size)
		for k := range list {
			list[k] = splitmix.Mix(uint64(i*size + k))
		}
		sets[i] = dedup.NewSet(list)
	}
	excerpt := dedup.NewSet(sets[77][100:200])
	sets = append(sets, excerpt)
	for _, s := range sets {
		order.Count(s)
	}
	x, _, _, err := NewExcerpts(1<<20, rowsFrom(excerptsOf(.95, order, sets), 0))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(x.posts); n > 50 {
		t.Errorf("%d runs are indexed, want only a few of the excerpt", n)
	}
	if found := foundIn(x, sets[77]); !slices.Equal(found, []int32{texts}) {
		t.Errorf("found %v, want %d", found, texts)
	}
}

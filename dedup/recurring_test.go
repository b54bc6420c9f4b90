package dedup

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRecurringBounds(t *testing.T) {
	for _, c := range []struct {
		pages, on int // number of pages of the host, and of pages with the block
		want      bool
	}{
		{19, 19, false}, // a host with fewer than 20 pages has no recurring blocks
		{20, 9, false},
		{20, 10, true},
		{100, 10, true},
		{101, 10, false}, // the block is on less than a tenth of the pages
		{101, 11, true},
		{490, 48, false},
		{490, 49, true},
		{1000, 49, false}, // a block on fifty pages recurs, however many pages the host has
		{1000, 50, true},
	} {
		r := NewRecurring(c.pages)
		reread := func(take func([]uint64)) {
			for i := range c.pages {
				blocks := []uint64{uint64(1000 + i)}
				if i < c.on {
					blocks = append(blocks, 7)
				}
				take(blocks)
			}
		}
		reread(r.Read)
		reread(r.Count)
		got := r.Blocks()
		if n, ok := got[7]; ok != c.want || ok && n != c.on || len(got) > 1 {
			t.Errorf("%d of %d pages: %v, want %v", c.on, c.pages, got, c.want)
		}
	}
}

// TestRecurringIsExact checks that the result equals that of counting every block, in any order of
// the pages, even if blocks share a bucket.
func TestRecurringIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pageCount := rapid.IntRange(0, 80).Draw(rt, "page count")
		crowded := rapid.Bool().Draw(rt, "crowded")
		block := rapid.Custom(func(rt *rapid.T) uint64 {
			b := rapid.Uint64Range(0, 40).Draw(rt, "block")
			if crowded {
				b = b*bucketsPerPage*uint64(pageCount) + b%3
			}
			return b
		})
		pages := rapid.SliceOfN(rapid.SliceOfNDistinct(block, 0, 20, rapid.ID[uint64]), pageCount, pageCount).Draw(rt, "pages")
		want := map[uint64]int{}
		for _, p := range pages {
			for _, b := range p {
				want[b]++
			}
		}
		least := max(10, (len(pages)+9)/10)
		maps.DeleteFunc(want, func(_ uint64, n int) bool { return n < least || len(pages) < 20 })

		r := NewRecurring(len(pages))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 0))
		for _, take := range []func([]uint64){r.Read, r.Count} {
			random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
			for _, p := range pages {
				take(slices.Clone(p))
			}
		}
		if got := r.Blocks(); !maps.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestBlock checks that only the words of a block determine its number.
func TestBlock(t *testing.T) {
	rule, err := NewRule(DefaultSimilarity, "bands", DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	var text Text
	a, ok := rule.Block(&text, "© 2021, All rights reserved.", "en")
	b, _ := rule.Block(&text, "2021 ALL RIGHTS – RESERVED", "en")
	c, _ := rule.Block(&text, "2022 all rights reserved", "en")
	if !ok || a != b || a == c {
		t.Errorf("numbers %x, %x, %x", a, b, c)
	}
	if _, ok := rule.Block(&text, " } ]; —", "en"); ok {
		t.Error("a line without words is a block")
	}
}

package complete

import (
	"fmt"
	"strings"
	"testing"

	"skink/store"
)

// floodOf is pages that are one template and own words of their own each, in one block, so that the
// template is no block that returns.
func floodOf(t testing.TB, n, own int) *store.Memory {
	template := words(1, 421)
	pages := make([]page, n)
	for i := range pages {
		pages[i] = article(fmt.Sprintf("http://a.test/%d", i), template+words(uint64(100+i), own))
	}
	return storeOf(t, defaultRule(t), pages...)
}

// A flood of pages that all resemble each other by .7 is judged at .8 without comparing them: what
// is compared grows with the pages at most. In a flood of copies each is compared with its leader.
func TestFlood(t *testing.T) {
	for _, c := range []struct {
		own, clusters int
		compared      int // for each page, at most
	}{{88, 0, 0}, {10, 1, 1}} {
		for _, n := range []int{100, 200, 400, 800} {
			w := judge(t, floodOf(t, n, c.own), Options{Rule: defaultRule(t), WholeText: true})
			if got := strings.Count(clustersOf(t, w), "\n"); got != c.clusters || w.compared > c.compared*n+10 {
				t.Errorf("%d pages with %d words of their own: %d clusters, %d comparisons", n, c.own, got, w.compared)
			}
		}
	}
}

func BenchmarkFlood(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, rule := floodOf(b, n, 88), defaultRule(b)
			b.SetBytes(int64(n * len(words(1, 509))))
			b.ReportAllocs()
			for b.Loop() {
				judge(b, s, Options{Rule: rule})
			}
		})
	}
}

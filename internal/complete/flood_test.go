package complete

import (
	"fmt"
	"strings"
	"testing"

	"skink/internal/tools/storetest"
)

// floodOf returns a store of n pages. Each page is a template followed by own words that differ,
// all in one block, so that the template is not a repeated block.
func floodOf(t testing.TB, n, own int) *storetest.Memory {
	template := words(1, 421)
	pages := make([]page, n)
	for i := range pages {
		pages[i] = article(fmt.Sprintf("http://a.test/%d", i), template+words(uint64(100+i), own))
	}
	return storeOf(t, defaultRule(t), pages...)
}

// All pages resemble each other by 0.7 if they have 88 words of their own. At a similarity of 0.8
// they must be judged without comparing pairs. With 10 such words the pages are near-duplicates,
// and each should be compared only with the leader.
func TestFlood(t *testing.T) {
	for _, c := range []struct {
		own, clusters int
		compared      int // largest number of comparisons for each page
	}{{88, 0, 0}, {10, 1, 1}} {
		for _, n := range []int{100, 200, 400, 800} {
			w := judge(t, floodOf(t, n, c.own), Options{Rule: defaultRule(t)})
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

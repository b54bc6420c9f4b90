package complete

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"skink/internal/tools/storetest"
	"skink/store"
)

// BenchmarkFindAlike finds the clusters of a store at each twentieth from MinAlike to 1. There
// are two kinds of stores:
//
//   - mixed: each host has a hundred pages with a common menu. A page has 40 to 700 words out of a
//     vocabulary of 20,000, with the frequencies of a natural language. A fifth of the pages
//     consist of a template of the host, in which 10 to 60% of the words are replaced by their own.
//   - template: all pages have one text of 181 words, in which only the name of a city differs,
//     like doorway pages. All pages resemble each other, but not enough to be near-duplicates.
//
// SKINK_PAGES is the number of pages, 2,000 by default. The time should grow little faster than
// this number.
func BenchmarkFindAlike(b *testing.B) {
	pages := 2000
	if n, err := strconv.Atoi(os.Getenv("SKINK_PAGES")); err == nil {
		pages = n
	}
	for _, c := range []struct {
		name  string
		pages func(int) iter.Seq[page]
	}{{"mixed", generated}, {"template", doorwaysOf}} {
		b.Run(c.name, func(b *testing.B) {
			rule := defaultRule(b)
			s := storetest.NewMemory()
			bytes := int64(0)
			for p := range c.pages(pages) {
				bytes += int64(len(p.text))
				if _, err := s.Commit(context.Background(), []*store.Entry{p.entry(rule)}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				a, err := FindAlike(context.Background(), s, Options{Rule: rule}, EachTwentieth(rule.Similarity)...)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(a.taken.Pairs()))/float64(pages), "pairs/page")
			}
		})
	}
}

func doorwaysOf(n int) iter.Seq[page] {
	cities := make([]string, n)
	for i := range cities {
		cities[i] = fmt.Sprintf("city%d", i)
	}
	return slices.Values(doorways(cities...))
}

// generated returns the n pages of the mixed store.
func generated(n int) iter.Seq[page] {
	const hosts = 100
	return func(yield func(page) bool) {
		random := rand.New(rand.NewPCG(84, 3))
		zipf := rand.NewZipf(random, 1.1, 8, 20_000)
		text := func(words int) string {
			var b strings.Builder
			for range words {
				fmt.Fprintf(&b, "w%d ", zipf.Uint64())
			}
			return b.String()
		}
		menu, template := "", ""
		for i := range n {
			if i%hosts == 0 {
				menu, template = text(25), text(300)
			}
			own := text(40 + random.IntN(660))
			if i%5 == 0 {
				at := 1 - (0.1 + 0.5*random.Float64())
				fixed := strings.Fields(template)
				own = strings.Join(fixed[:int(at*float64(len(fixed)))], " ") + " " + text(int((1-at)*300))
			}
			if !yield(article(fmt.Sprintf("http://h%d.test/%d", i/hosts, i), menu+"\n"+own)) {
				return
			}
		}
	}
}

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"skink/dedup"
)

// A graft is the article of one page put into the template of another page.
type graft struct {
	article, template *page
	extracted         extracted // text extracted from the resulting page
	resemblance       float64   // resemblance of that text to the text extracted from the article's own page, 0 to 1
}

// graftAll puts each article into the templates of n other pages. It leaves out templates that
// contain their own article a second time, outside its box. In each of n rounds, article i is put
// into template i+d, where d is a random distance, so each template gets several articles that can
// be compared.
func graftAll(pages []*page, n int, ownBox bool, random *rand.Rand) (grafts []graft) {
	for _, step := range steps(len(pages), n, random) {
		for i, p := range pages {
			q := pages[(i+step)%len(pages)]
			if p == q || q.twice {
				continue
			}
			t := p.in(q, ownBox)
			grafts = append(grafts, graft{p, q, t, dedup.Resemblance(p.own.set, t.set)})
		}
	}
	return grafts
}

// steps returns n different random numbers between 1 and pages-1.
func steps(pages, n int, random *rand.Rand) []int {
	all := random.Perm(max(pages-1, 0))
	for i := range all {
		all[i]++
	}
	return all[:min(n, len(all))]
}

func resemblances(grafts []graft) (all []float64) {
	for _, g := range grafts {
		all = append(all, g.resemblance)
	}
	return all
}

// strangers returns the resemblances between texts extracted from the same template with different
// articles, including the template's own. They should be low, because the articles differ.
func strangers(grafts []graft) (all []float64) {
	in := map[*page][]dedup.Set{}
	var templates []*page
	for _, g := range grafts {
		if in[g.template] == nil {
			in[g.template] = []dedup.Set{g.template.own.set}
			templates = append(templates, g.template)
		}
		in[g.template] = append(in[g.template], g.extracted.set)
	}
	for _, t := range templates {
		for i, a := range in[t] {
			for _, b := range in[t][i+1:] {
				all = append(all, dedup.Resemblance(a, b))
			}
		}
	}
	return all
}

func different(texts []string, n int, random *rand.Rand) (all []float64) {
	sets := make([]dedup.Set, 0, len(texts))
	seen := map[dedup.Hash]bool{}
	var t dedup.Text
	for _, text := range texts {
		t.Read([]byte(text))
		if t.Len() > 0 && !seen[t.Hash()] {
			seen[t.Hash()] = true
			sets = append(sets, t.Set(shingle))
		}
	}
	for range n {
		if len(sets) < 2 {
			break
		}
		i, j := random.IntN(len(sets)), random.IntN(len(sets)-1)
		if j >= i {
			j++
		}
		all = append(all, dedup.Resemblance(sets[i], sets[j]))
	}
	return all
}

// share returns the fraction of the values in all that are at least bound.
func share(all []float64, bound float64) float64 {
	n := 0
	for _, x := range all {
		if x >= bound {
			n++
		}
	}
	return float64(n) / float64(max(len(all), 1))
}

func mean(all []float64) float64 {
	sum := 0.
	for _, x := range all {
		sum += x
	}
	return sum / float64(max(len(all), 1))
}

func likeness(all []float64) string {
	return fmt.Sprintf("%d: resemblance ≥ .8 in %.1f%%, ≥ .9 in %.1f%%, mean %.3f", len(all), 100*share(all, .8), 100*share(all, .9), mean(all))
}

func unlikeness(all []float64) string {
	return fmt.Sprintf("%d pairs: resemblance ≥ .3 in %.2f%%, mean %.4f", len(all), 100*share(all, .3), mean(all))
}

// A fault is the reason why the text of a graft does not resemble that of its article, and the page
// to blame.
type fault struct {
	page *page
	why  string
}

// fault returns the main reason why the text of the graft differs from that of its article. Either
// some of the article was lost, or text of a template was extracted with it. It compares the
// shingles that occur in only one of the two texts.
func (g graft) fault() fault {
	onlyOwn, onlyGraft := minus(g.article.own.set, g.extracted.set), minus(g.extracted.set, g.article.own.set)
	lost, got := overlap(onlyOwn, g.article.text), overlap(onlyGraft, g.article.text)
	worst, n := fault{g.template, "in the template some of the article is lost"}, lost
	for _, f := range []struct {
		n int
		fault
	}{
		{got, fault{g.article, "on the own page some of the article is lost"}},
		{len(onlyGraft) - got, fault{g.template, "in the template text is taken that is not the article's"}},
		{len(onlyOwn) - lost, fault{g.article, "on the own page text is taken that is not the article's"}},
	} {
		if f.n > n {
			worst, n = f.fault, f.n
		}
	}
	return worst
}

func minus(a, b dedup.Set) (only dedup.Set) {
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			only = append(only, s)
		}
	}
	return only
}

func overlap(a, b dedup.Set) int { return len(a) - len(minus(a, b)) }

// blamed describes a page that causes bad grafts: those whose resemblance to their article is below
// 0.8.
type blamed struct {
	fault
	grafts []graft // the bad grafts, lowest resemblance first
}

// blame returns the pages that cause bad grafts, by fault, most frequent fault first.
func blame(grafts []graft) (all []blamed) {
	at := map[fault]int{}
	for _, g := range grafts {
		if g.resemblance >= dedup.DefaultSimilarity {
			continue
		}
		f := g.fault()
		i, ok := at[f]
		if !ok {
			i = len(all)
			at[f] = i
			all = append(all, blamed{fault: f})
		}
		all[i].grafts = append(all[i].grafts, g)
	}
	for _, b := range all {
		slices.SortStableFunc(b.grafts, func(a, b graft) int { return cmp.Compare(a.resemblance, b.resemblance) })
	}
	slices.SortStableFunc(all, func(a, b blamed) int { return cmp.Compare(len(b.grafts), len(a.grafts)) })
	return all
}

func reasons(all []blamed) (lines []string) {
	grafts, pages := map[string]int{}, map[string]int{}
	for _, b := range all {
		grafts[b.why] += len(b.grafts)
		pages[b.why]++
	}
	for why, n := range grafts {
		lines = append(lines, fmt.Sprintf("%5d on %d pages: %s", n, pages[why], why))
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	return lines
}

func (b blamed) story() string {
	var w strings.Builder
	g := b.grafts[0]
	fmt.Fprintf(&w, "%s: %d grafts, for %s\n", b.page.name, len(b.grafts), b.why)
	fmt.Fprintf(&w, "  %.3f  %s in the template of %s\n", g.resemblance, g.article.name, g.template.name)
	fmt.Fprintf(&w, "         own page: %s, %d shingles; graft: %s, %d shingles; article: %d shingles\n",
		g.article.own.how, len(g.article.own.set), g.extracted.how, len(g.extracted.set), len(g.article.text))
	writeLines(&w, "-", g.article.own.text, g.extracted.text)
	writeLines(&w, "+", g.extracted.text, g.article.own.text)
	return w.String()
}

func writeLines(b *strings.Builder, sign, text, other string) {
	const shown, wide = 12, 110
	has := map[string]bool{}
	for l := range strings.Lines(other) {
		has[strings.TrimSpace(l)] = true
	}
	n := 0
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l == "" || has[l] {
			continue
		}
		if n++; n <= shown {
			if r := []rune(l); len(r) > wide {
				l = string(r[:wide]) + "…"
			}
			fmt.Fprintf(b, "       %s %s\n", sign, l)
		}
	}
	if n > shown {
		fmt.Fprintf(b, "       %s and %d lines more\n", sign, n-shown)
	}
}

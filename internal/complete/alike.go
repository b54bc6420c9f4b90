package complete

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"skink/dedup"
	"skink/internal/join"
	"skink/report/audit"
	"skink/store"
)

// # Clusters at several similarities
//
// The similarity at which two pages start to count as duplicates is chosen before a crawl. The
// pages of the crawl then show whether it was a good choice. An Alike contains the clusters of
// duplicates at several similarities, computed in one pass. At each similarity they equal the
// result of [Judge]. [Alike.Steps] returns the number of clusters and pages at each similarity.
// [Alike.Near] returns pairs of pages just above and just below one similarity.
//
// One pass at the lowest similarity suffices. The join, [join.Join], proposes pairs of pages
// that may be similar enough. A pair is compared if at some similarity the first page leads a
// cluster, and the second is not yet in a cluster. For example, n pages of one template may
// resemble each other equally. At and below that resemblance, the first page leads all others, so
// n-1 pairs are compared. Above it, the join excludes the pairs without reading the texts. A page
// joins at most one cluster at each similarity, so each similarity adds at most one pair of 16
// bytes for each page.
//
// The resemblance of a pair is exact: the texts are compared, not sketches of them.
//
// Cost: most of the work is reading the text of each page about three times. A store of 300,000 texts of
// 100 words, one in ten of which resembles another, was compared. In one round, that took 27 seconds of CPU time and 245 MB of memory, at all similarities from
// 0.3 up. In a limit of 200 MB, and so in many rounds, it took 51 seconds, and 168 MB of temporary files.
//
// Weakness: some stores are slow. If each page consists of a few paragraphs from a common pool, the
// resemblances take all values between two similarities, and the pages are compared pair by pair.

// MinAlike is the lowest resemblance at which pairs are found, unless the crawl's similarity is
// lower. Pages that share a template and differ only in a few names have about this resemblance.
const MinAlike = 0.3

// EachTwentieth returns the multiples of 0.05 from the lesser of [MinAlike] and least up to 1.
func EachTwentieth(least float64) (all []float64) {
	for n := 1; n <= 20; n++ {
		if similarity := float64(n) / 20; similarity >= min(least, MinAlike) {
			all = append(all, similarity)
		}
	}
	return all
}

// An Alike contains the clusters of a store at several similarities.
type Alike struct {
	similarities []float64
	pages        *pages
	taken        *join.Taken
	steps        []audit.Step
	order        []int32 // indexes into taken.Pairs(), in ascending order of resemblance
}

// FindAlike finds the clusters of the pages of s at the given similarities, which must be in
// ascending order. It ignores opt.Similarity, and compares pages by resemblance even if the rule is
// containment.
func FindAlike(ctx context.Context, s store.Reader, opt Options, similarities ...float64) (*Alike, error) {
	if len(similarities) == 0 {
		return nil, fmt.Errorf("find similar pages: no similarity given")
	}
	opt.Rule.Contained = 0
	w, found, err := compareTexts(ctx, s, opt, similarities...)
	if err != nil {
		return nil, err
	}
	a := &Alike{similarities: similarities, pages: &w.pages}
	if a.taken, err = found.Among(similarities); err != nil {
		return nil, err
	}
	pairs := a.taken.Pairs()
	a.order = numbers(len(pairs))
	slices.SortFunc(a.order, func(x, y int32) int {
		p, q := &pairs[x], &pairs[y]
		return cmp.Or(cmp.Compare(p.Resemblance, q.Resemblance), cmp.Compare(x, y))
	})
	for _, similarity := range similarities {
		a.steps = append(a.steps, a.count(similarity))
	}
	return a, nil
}

// Least returns the lowest of the similarities passed to FindAlike.
func (a *Alike) Least() float64 { return a.similarities[0] }

// Steps returns the result for each similarity.
func (a *Alike) Steps() []audit.Step { return a.steps }

func (a *Alike) count(similarity float64) audit.Step {
	s := audit.Step{Similarity: similarity}
	for _, n := range a.pages.sizes(a.taken.At(similarity)) {
		if n > 1 {
			s.Clusters, s.Pages = s.Clusters+1, s.Pages+int(n)
		}
	}
	return s
}

// Near returns at most n pairs whose resemblance is at or just above the given similarity, and at
// most n whose resemblance is just below it. The pairs closest to the similarity come first. Near
// chooses among the pairs that FindAlike found: in each, one page leads a cluster that contains the
// other at some similarity. No page is in two pairs of one list. The URLs are read from s.
func (a *Alike) Near(ctx context.Context, s store.Reader, similarity float64, n int) (above, below []audit.LikePair, err error) {
	pairs := a.taken.Pairs()
	at := sort.Search(len(a.order), func(i int) bool { return pairs[a.order[i]].Resemblance >= similarity })
	if above, err = a.sample(ctx, s, a.order[at:], n); err != nil {
		return nil, nil, err
	}
	slices.Reverse(above)
	down := slices.Clone(a.order[max(0, at-sampled):at])
	slices.Reverse(down)
	below, err = a.sample(ctx, s, down, n)
	return above, below, err
}

// sampled bounds the cost of Near: it examines at most this many pairs above the similarity, and at
// most this many below it.
const sampled = 10_000

func (a *Alike) sample(ctx context.Context, s store.Reader, order []int32, n int) (pairs []audit.LikePair, err error) {
	met := map[int32]bool{}
	for _, i := range order[:min(len(order), sampled)] {
		p := a.taken.Pairs()[i]
		if len(pairs) == n {
			break
		}
		if met[p.Leader] || met[p.Text] {
			continue
		}
		met[p.Leader], met[p.Text] = true, true
		like := audit.LikePair{A: a.pages.lead(int(p.Leader)), B: a.pages.lead(int(p.Text)), Resemblance: p.Resemblance}
		records, err := recordsOf(ctx, s, like.A, like.B)
		if err != nil {
			return nil, err
		}
		like.URLs = [2]string{records[0].URL, records[1].URL}
		pairs = append(pairs, like)
	}
	return pairs, nil
}

// Below groups the leaders at the given similarity by their resemblance to each other. A group is a
// cluster at the lowest similarity that splits into several clusters at the given one. The largest
// group comes first. In each group, the member with the highest resemblance to the leader comes
// first. If several pages have the same text, Below returns only the first of them in order of
// precedence. A page that resembles no other leader is in no group.
func (a *Alike) Below(similarity float64) (groups []audit.NearlyGroup) {
	at, least := a.taken.At(similarity), clustering{}
	least.set(a.taken, a.Least())
	for i, text := range least.led {
		leader := least.leaders[text]
		if i == 0 || least.leaders[least.led[i-1]] != leader {
			groups = append(groups, audit.NearlyGroup{Leader: a.pages.lead(int(leader))})
		}
		if at[text] == text {
			resemblance, _ := least.resemblance(text)
			g := &groups[len(groups)-1]
			g.Members = append(g.Members, audit.NearlyPage{ID: a.pages.lead(int(text)), Resemblance: resemblance})
		}
	}
	groups = slices.DeleteFunc(groups, func(g audit.NearlyGroup) bool { return len(g.Members) == 0 })
	slices.SortStableFunc(groups, func(x, y audit.NearlyGroup) int { return cmp.Compare(len(y.Members), len(x.Members)) })
	return groups
}

// FindNearly compares all pages of a store with each other, which takes a few seconds per ten
// thousand pages. It returns those whose similarity is slightly below the threshold of the rule.
func FindNearly(ctx context.Context, s store.Reader, rule dedup.Rule) (*audit.Nearly, error) {
	if rule.Similarity <= MinAlike {
		return &audit.Nearly{From: rule.Similarity}, nil
	}
	alike, err := FindAlike(ctx, s, Options{Rule: rule, Keep: true}, MinAlike, rule.Similarity)
	if err != nil {
		return nil, err
	}
	return alike.Nearly(rule), nil
}

// Nearly returns the pages that are almost duplicates under rule. The rule's similarity must be one
// of those passed to FindAlike.
func (a *Alike) Nearly(rule dedup.Rule) *audit.Nearly {
	n := &audit.Nearly{From: a.Least()}
	if rule.Similarity > n.From {
		n.Groups = a.Below(rule.Similarity)
	}
	return n
}

// NearlyUnasked is like FindNearly, but returns nil for a store with more than 20,000 pages, because
// comparing them would take too long.
func NearlyUnasked(ctx context.Context, s store.Reader, rule dedup.Rule) (*audit.Nearly, error) {
	tally, err := s.Tally(ctx)
	if err != nil || tally.Pages() > 20_000 {
		return nil, err
	}
	return FindNearly(ctx, s, rule)
}

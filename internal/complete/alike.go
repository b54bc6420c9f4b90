package complete

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"skink/dedup"
	"skink/store"
)

// # How much pages resemble each other
//
// A similarity is chosen before a crawl, and only after the crawl is it clear whether it was the
// right one. An Alike holds the clusters at some similarities, found at once. At each similarity
// they are the same as [Judge] finds. [Alike.Curve] returns the number of clusters and pages at
// each similarity, and [Alike.Near] returns pairs just above and just below one.
//
// The texts are read and joined once, at the lowest of the similarities. A pair is compared if at
// some similarity the first text leads, the second is not yet taken, and the join cannot exclude
// the pair, see [dedup.Clusters]. For n pages of one template that all resemble each other equally,
// n-1 pairs are compared. At and below their resemblance the first page leads them all. Above it
// the join tells them apart without reading their texts. A text is taken at most once at each
// similarity. That bounds the number of pairs that are kept, at 16 bytes each.
//
// The exact join of a Whole finds the pairs, and their resemblance is exact: no sketch is used.
// Most of the work is reading the texts some six times, half a millisecond of CPU for a page of
// forty to seven hundred words. A store of 100,000 such pages, four in ten of which resemble
// another, took 57 seconds of CPU and 1.4 GB. A store of 1,000,000 pages at one similarity took 760
// seconds and 4.6 GB. 20,000 pages in one template of 181 words took 7 seconds. Two busy cores were
// used.
//
// Known weaknesses: the result is exact, but it is not always fast. If each page is made of some
// paragraphs of a common stock, the resemblances take all values between two similarities, and the
// pages are compared pair by pair.

// LeastAlike is the resemblance from which pairs are looked for, unless the crawl's similarity is
// lower. Pages in one template that differ in a few names resemble each other by about that much.
const LeastAlike = 0.3

// EachTwentieth returns the similarities from the lesser of [LeastAlike] and least to 1, in steps
// of a twentieth.
func EachTwentieth(least float64) (all []float64) {
	for n := 1; n <= 20; n++ {
		if similarity := float64(n) / 20; similarity >= min(least, LeastAlike) {
			all = append(all, similarity)
		}
	}
	return all
}

// An Alike holds the clusters of a store at some similarities.
type Alike struct {
	similarities []float64
	texts        []likeText
	taken        *dedup.Taken
	order        []int32 // places in the pairs of taken, by resemblance
}

// A likeText holds what is kept of a text.
type likeText struct {
	id    dedup.Hash // of the page of the best rank
	url   string     // of the same
	pages int        // that have the text
}

// FindAlike finds the clusters of the pages of s at some similarities, in ascending order. It
// ignores opt.Similarity.
func FindAlike(ctx context.Context, s store.Reader, opt Options, similarities ...float64) (*Alike, error) {
	if len(similarities) == 0 {
		return nil, fmt.Errorf("pages that are alike: no similarity was asked for")
	}
	w, found, err := compareTexts(ctx, s, opt, similarities...)
	if err != nil {
		return nil, err
	}
	a := &Alike{similarities: similarities, taken: found.Among(similarities)}
	for _, t := range w.texts {
		a.texts = append(a.texts, likeText{t.pages[0].id, t.pages[0].URL, len(t.pages)})
	}
	pairs := a.taken.Pairs()
	a.order = make([]int32, len(pairs))
	for i := range a.order {
		a.order[i] = int32(i)
	}
	slices.SortFunc(a.order, func(x, y int32) int {
		p, q := &pairs[x], &pairs[y]
		return cmp.Or(cmp.Compare(p.Resemblance, q.Resemblance), cmp.Compare(p.Leader, q.Leader), cmp.Compare(p.Text, q.Text))
	})
	return a, nil
}

// Least returns the lowest of the similarities.
func (a *Alike) Least() float64 { return a.similarities[0] }

// A Step is the result for one similarity.
type Step struct {
	Similarity float64 `json:"similarity"`
	Clusters   int     `json:"clusters"` // with two pages or more
	Pages      int     `json:"pages"`    // in those clusters, their leaders too
}

// Curve returns the result for each of the similarities.
func (a *Alike) Curve() (steps []Step) {
	for _, similarity := range a.similarities {
		steps = append(steps, a.count(similarity))
	}
	return steps
}

func (a *Alike) count(similarity float64) Step {
	sizes := make([]int, len(a.texts))
	for i, p := range a.taken.At(similarity) {
		sizes[p.Leader] += a.texts[i].pages
	}
	s := Step{Similarity: similarity}
	for _, n := range sizes {
		if n > 1 {
			s.Clusters, s.Pages = s.Clusters+1, s.Pages+n
		}
	}
	return s
}

// A LikePair is two pages and their exact resemblance.
type LikePair struct {
	A, B        dedup.Hash // ids
	URLs        [2]string  // of A and B
	Resemblance float64
}

// Near returns at most n pairs whose resemblance is at or just above a similarity, and at most n
// whose resemblance is just below it, the highest resemblance first. It chooses among the pairs in
// which one page takes the other at some of the similarities. No page is in two pairs of one list.
func (a *Alike) Near(similarity float64, n int) (above, below []LikePair) {
	pairs := a.taken.Pairs()
	at := sort.Search(len(a.order), func(i int) bool { return pairs[a.order[i]].Resemblance >= similarity })
	above = a.sample(a.order[at:], n)
	slices.Reverse(above)
	down := slices.Clone(a.order[max(0, at-sampled):at])
	slices.Reverse(down)
	return above, a.sample(down, n)
}

// sampled is how many pairs are looked at for a sample.
const sampled = 10_000

func (a *Alike) sample(order []int32, n int) (pairs []LikePair) {
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
		x, y := &a.texts[p.Leader], &a.texts[p.Text]
		pairs = append(pairs, LikePair{A: x.id, B: y.id, URLs: [2]string{x.url, y.url}, Resemblance: p.Resemblance})
	}
	return pairs
}

// A LikeGroup is a page with the pages that resemble it, but not enough to be near.
type LikeGroup struct {
	Leader  dedup.Hash // id
	Members []LikeMember
}

// A LikeMember is a page of a group.
type LikeMember struct {
	ID          dedup.Hash
	Resemblance float64 // exact, to the leader
}

// Below groups the pages that lead at one of the similarities by their resemblance to each other. A
// group is a cluster at the lowest similarity that falls apart at this one. The largest group comes
// first, and in each group the highest resemblance. A text is represented by its page of the best
// rank. Pages that resemble no other leader are in no group.
func (a *Alike) Below(similarity float64) (groups []LikeGroup) {
	at, places := a.taken.At(similarity), a.taken.At(a.Least())
	for leader, led := range ledBy(places) {
		if len(led) < 2 {
			continue
		}
		g := LikeGroup{Leader: a.texts[leader].id}
		for _, text := range led[1:] {
			if at[text].Leader == text {
				g.Members = append(g.Members, LikeMember{a.texts[text].id, places[text].Resemblance})
			}
		}
		if len(g.Members) > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(x, y LikeGroup) int { return cmp.Compare(len(y.Members), len(x.Members)) })
	return groups
}

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
// A similarity is chosen before a crawl, and whether it was the right one shows after it. An Alike
// is what the clusters would be at some similarities, found at once. At each they are the same as
// [Judge] gives with that similarity. [Alike.Curve] says how many clusters and pages there are at
// each, and [Alike.Near] shows pairs that stand at the edge of one.
//
// The texts are read and joined once, at the least of the similarities, and a pair is compared if
// there is one at which the first of the two leads, the second was taken by none before it, and the
// two may be alike enough, see [dedup.Clusters]. Of n pages of one template, each as like each
// other, n-1 pairs are compared: the first page leads them all from their resemblance down, and
// above it the join tells them apart without a look at their texts. A text is taken once at each
// similarity at most, so that no more pairs than that are kept, of 16 bytes each.
//
// The pairs are found by the exact join of a Whole, and are exact themselves: no sketch is asked.
// Reading the texts some six times is most of the work: half a millisecond of CPU a page of forty to
// seven hundred words. A store of 100,000 such pages, four in ten of which resemble another, took 57
// seconds of CPU and 1.4 GB; one of 1,000,000 at one similarity 760 seconds and 4.6 GB; 20,000 pages
// in one template of 181 words took 7 seconds (on two cores that had much else to do).
//
// What it gets wrong: nothing, but it is not always fast. Pages that are each made of some
// paragraphs of a common stock resemble each other by all there is between two similarities, and
// are compared pair by pair.

// LeastAlike is the resemblance from which pairs are looked for unless the crawl's similarity is
// lower. Pages in one template that differ in a name here and there begin to resemble each other
// there.
const LeastAlike = 0.3

// EachTwentieth are the similarities from the lesser of [LeastAlike] and another to 1, in steps of
// a twentieth.
func EachTwentieth(least float64) (all []float64) {
	for n := 1; n <= 20; n++ {
		if similarity := float64(n) / 20; similarity >= min(least, LeastAlike) {
			all = append(all, similarity)
		}
	}
	return all
}

// An Alike is what the clusters of a store are at some similarities.
type Alike struct {
	similarities []float64
	texts        []likeText
	taken        *dedup.Taken
	order        []int32 // places in the pairs of taken, by resemblance
}

// A likeText is what is kept of a text.
type likeText struct {
	id    dedup.Hash // of the page of the best rank
	url   string     // of the same
	pages int        // that have the text
}

// FindAlike finds what the clusters of the pages of s are at some similarities, in ascending order.
// opt.Similarity does not matter.
func FindAlike(ctx context.Context, s store.Reader, opt Options, similarities ...float64) (*Alike, error) {
	if len(similarities) == 0 {
		return nil, fmt.Errorf("pages that are alike: no similarity was asked for")
	}
	w, found, err := compare(ctx, s, opt, similarities...)
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

// Least is the least of the similarities.
func (a *Alike) Least() float64 { return a.similarities[0] }

// A Step is what a similarity gives.
type Step struct {
	Similarity float64 `json:"similarity"`
	Clusters   int     `json:"clusters"` // with two pages or more
	Pages      int     `json:"pages"`    // in those clusters, their leaders too
}

// Curve says what each of the similarities gives.
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

// Near returns at most n pairs whose resemblance is at a similarity or next above it, and at most n
// that are next below it, the most alike first. They are pairs of which one page takes the other at
// some of the similarities. No page is in two pairs of one list.
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

// A LikeGroup is a page and those that resemble it, less than makes them near.
type LikeGroup struct {
	Leader  dedup.Hash // id
	Members []LikeMember
}

// A LikeMember is a page of a group.
type LikeMember struct {
	ID          dedup.Hash
	Resemblance float64 // exact, to the leader
}

// Below groups the pages that lead at one of the similarities by the resemblance that they have to
// each other all the same: what the least similarity puts into one cluster and this one does not.
// The largest group comes first, and in each the most alike. Of each text it is the page of the
// best rank. Pages that resemble no other leader are in none.
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

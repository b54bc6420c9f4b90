package complete

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"skink/dedup"
	"skink/store"
)

// # How much pages resemble each other
//
// A similarity is chosen before a crawl, and whether it was the right one shows after it. An Alike
// is the pairs of texts from a low resemblance on that matter, found once. From them it says for
// any similarity above that, at once, what the clusters would be: [Alike.At] gives the same as
// [Judge] does with that similarity. [Alike.Curve] says how many clusters and pages each similarity
// gives, and [Alike.Near] shows pairs that stand at its edge.
//
// A pair matters if there is a similarity at which the first of the two leads, the second was taken
// by none before it, and the two are alike enough. What is known of a text is therefore at which
// similarities it leads: at all, less those at which it is taken. Of n pages of one template, each
// as like each other, n-1 pairs matter: at their resemblance and below it the first page leads them
// all, and above it each leads alone. Where the rule keeps what has words of its own, all pairs are
// kept, for whom a page takes then depends on more than their resemblance.
//
// The pairs are found by the exact join of a Whole, and are exact themselves: no sketch is asked.
// Reading the texts some five times is nearly all of the work: on pages of forty to seven hundred
// words 0.2 to 0.4 ms of CPU a page, at 2,000 pages as at 100,000 (BenchmarkFindAlike). Each pair
// takes 16 bytes and 4 more for its order. There are at most so many; if there are more, those that
// are least alike are left out, and [Alike.Least] says from where on all are there. What it gets
// wrong: the time where all is alike. Ten thousand pages in one template are fifty million pairs,
// and each of them is compared, at a microsecond or two, although few are kept.

// LeastAlike is the resemblance from which pairs are looked for unless asked otherwise. Pages in
// one template that differ in a name here and there begin to resemble each other there.
const LeastAlike = 0.3

// MostPairs is how many pairs an Alike holds: some 40 MB.
const MostPairs = 2 << 20

// An Alike is the texts of a store and the pairs of them that matter.
type Alike struct {
	w     *Whole
	c     *comparison
	least float64
	pairs []alikePair // in the order of A, then of B
	begin []int32     // by text: where its pairs as A begin; one more at the end
	order []int32     // places in pairs, by resemblance
}

// An alikePair is two texts by their places, A before B.
type alikePair struct {
	a, b        int32
	resemblance float64
}

// FindAlike finds the pairs that matter of the pages of s from a resemblance of opt.Similarity on;
// 0: from [LeastAlike].
func FindAlike(ctx context.Context, s store.Reader, opt Options) (*Alike, error) {
	return findAlike(ctx, s, opt, MostPairs)
}

func findAlike(ctx context.Context, s store.Reader, opt Options, most int) (*Alike, error) {
	opt.Similarity = min(cmp.Or(opt.Similarity, LeastAlike), opt.Rule.Similarity)
	w, c, err := prepare(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	a := &Alike{w: w, c: c, least: opt.Similarity}
	none := make([]bool, len(w.texts))
	leads := make([]spans, len(w.texts)) // of those that come: at which similarities none before took them
	for i := range leads {
		leads[i] = always
	}
	for i := range w.texts {
		begin := len(a.pairs)
		err := c.alike(ctx, i, none, func(other int, resemblance float64) {
			if resemblance < a.least {
				return
			}
			free := leads[other].without(leads[i].upTo(resemblance))
			if w.rule.Contained != 0 || !slices.Equal(free, leads[other]) {
				a.pairs = append(a.pairs, alikePair{int32(i), int32(other), resemblance})
			}
			leads[other] = free
		})
		leads[i] = nil // nobody asks for it any more
		if err != nil {
			return nil, err
		}
		slices.SortFunc(a.pairs[begin:], func(x, y alikePair) int { return cmp.Compare(x.b, y.b) })
		if len(a.pairs) > most {
			a.raise(most)
		}
	}
	a.index()
	return a, nil
}

// A span is the similarities above one number, up to and with another.
type span struct{ above, upTo float64 }

// spans are some similarities: spans that do not touch, the lowest first.
type spans []span

// always is all similarities. Nobody changes it.
var always = spans{{-1, 2}}

// upTo is the similarities of s up to and with one.
func (s spans) upTo(similarity float64) (part spans) {
	for _, p := range s {
		if p.above < similarity {
			part = append(part, span{p.above, min(p.upTo, similarity)})
		}
	}
	return part
}

// without is the similarities of s that are not in others.
func (s spans) without(others spans) spans {
	for _, o := range others {
		var left spans
		for _, p := range s {
			if low := (span{p.above, min(p.upTo, o.above)}); low.above < low.upTo {
				left = append(left, low)
			}
			if high := (span{max(p.above, o.upTo), p.upTo}); high.above < high.upTo {
				left = append(left, high)
			}
		}
		s = left
	}
	return s
}

// raise leaves out the pairs that are least alike, so that fewer than half of so many are left.
func (a *Alike) raise(most int) {
	all := make([]float64, len(a.pairs))
	for i, p := range a.pairs {
		all[i] = p.resemblance
	}
	slices.Sort(all)
	edge := all[len(all)-1-most/2]
	kept := a.pairs[:0]
	for _, p := range a.pairs {
		if p.resemblance > edge {
			kept = append(kept, p)
		} else {
			a.least = max(a.least, edge)
		}
	}
	a.pairs = kept
	a.least = nextAbove(a.least)
}

// nextAbove is a resemblance that is above another, by less than two texts can differ.
func nextAbove(resemblance float64) float64 { return resemblance + 1e-12 }

func (a *Alike) index() {
	a.begin = make([]int32, len(a.w.texts)+1)
	for _, p := range a.pairs {
		a.begin[p.a+1]++
	}
	for i := range len(a.w.texts) {
		a.begin[i+1] += a.begin[i]
	}
	a.order = make([]int32, len(a.pairs))
	for i := range a.order {
		a.order[i] = int32(i)
	}
	slices.SortFunc(a.order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(a.pairs[x].resemblance, a.pairs[y].resemblance), cmp.Compare(x, y))
	})
}

// Least is the resemblance from which on all pairs that matter are known.
func (a *Alike) Least() float64 { return a.least }

// Pairs is how many pairs of texts are known.
func (a *Alike) Pairs() int { return len(a.pairs) }

// At is the store as it would be judged with a similarity, which is at least [Alike.Least]. It
// reads from the same store.
func (a *Alike) At(ctx context.Context, similarity float64) (*Whole, error) {
	places, err := a.places(ctx, similarity)
	if err != nil {
		return nil, err
	}
	w := *a.w
	w.rule.Similarity, w.places, w.led = similarity, places, ledBy(places)
	return &w, nil
}

// places gives each text its place at a similarity.
func (a *Alike) places(ctx context.Context, similarity float64) ([]dedup.Place, error) {
	return dedup.Clusters(len(a.w.texts), func(leader int, taken []bool, take func(int, float64)) error {
		for _, p := range a.pairs[a.begin[leader]:a.begin[leader+1]] {
			if p.resemblance < similarity || taken[p.b] {
				continue
			}
			loses, err := a.c.loses(ctx, int(p.b), leader)
			if err != nil {
				return err
			}
			if !loses {
				take(int(p.b), p.resemblance)
			}
		}
		return ctx.Err()
	})
}

// A Step is what a similarity gives.
type Step struct {
	Similarity float64 `json:"similarity"`
	Clusters   int     `json:"clusters"` // with two pages or more
	Pages      int     `json:"pages"`    // in those clusters, their leaders too
}

// Curve says what similarities from the least to 1 give, in steps of a number such as 0.05.
func (a *Alike) Curve(ctx context.Context, by float64) ([]Step, error) {
	var steps []Step
	for n := int(1/by + .5); n > 0; n-- {
		similarity := float64(n) * by
		if similarity < a.least-1e-9 {
			break
		}
		places, err := a.places(ctx, max(similarity, a.least))
		if err != nil {
			return nil, err
		}
		steps = append(steps, a.count(similarity, places))
	}
	slices.Reverse(steps)
	return steps, nil
}

func (a *Alike) count(similarity float64, places []dedup.Place) Step {
	sizes := make([]int, len(places))
	for i, p := range places {
		sizes[p.Leader] += len(a.w.texts[i].pages)
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
// that are next below it, the most alike first, of those that matter. No page is in two pairs of
// one list.
func (a *Alike) Near(similarity float64, n int) (above, below []LikePair) {
	at := sort.Search(len(a.order), func(i int) bool { return a.pairs[a.order[i]].resemblance >= similarity })
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
		p := a.pairs[i]
		if len(pairs) == n {
			break
		}
		if met[p.a] || met[p.b] {
			continue
		}
		met[p.a], met[p.b] = true, true
		x, y := &a.w.texts[p.a].pages[0], &a.w.texts[p.b].pages[0]
		pairs = append(pairs, LikePair{A: x.id, B: y.id, URLs: [2]string{x.url, y.url}, Resemblance: p.resemblance})
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

// Below groups the pages that lead at a similarity by the resemblance that they have to each other
// all the same: what the least similarity puts into one cluster and this one does not. The largest
// group comes first, and in each the most alike. Of each text it is the page of the best rank.
// Pages that resemble no other leader are in none.
func (a *Alike) Below(ctx context.Context, similarity float64) ([]LikeGroup, error) {
	at, err := a.places(ctx, similarity)
	if err != nil {
		return nil, err
	}
	places, err := a.places(ctx, a.least)
	if err != nil {
		return nil, err
	}
	var groups []LikeGroup
	for leader, led := range ledBy(places) {
		if len(led) < 2 {
			continue
		}
		g := LikeGroup{Leader: a.w.texts[leader].pages[0].id}
		for _, text := range led[1:] {
			if at[text].Leader == int(text) {
				g.Members = append(g.Members, LikeMember{a.w.texts[text].pages[0].id, places[text].Resemblance})
			}
		}
		if len(g.Members) > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(x, y LikeGroup) int { return cmp.Compare(len(y.Members), len(x.Members)) })
	return groups, nil
}

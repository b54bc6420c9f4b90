package complete

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"

	"skink/dedup"
	"skink/internal/join"
	"skink/store"
)

// A clustering is the clusters of all texts at one similarity.
type clustering struct {
	found   *join.Taken
	leaders []int32   // leader of each text; a text in no other's cluster is its own leader
	sizes   []int32   // number of pages in the cluster that each text leads
	led     []int32   // the other texts by leader, each leader's in descending order of resemblance, then by rank
	alike   []float64 // resemblance of each pair in found if the rule is containment, else nil
}

func (c *clustering) set(found *join.Taken, similarity float64) {
	c.found, c.leaders, c.led = found, found.At(similarity), nil
	for i, leader := range c.leaders {
		if leader != int32(i) {
			c.led = append(c.led, int32(i))
		}
	}
	slices.SortFunc(c.led, func(a, b int32) int {
		if d := cmp.Compare(c.leaders[a], c.leaders[b]); d != 0 {
			return d
		}
		x, _ := c.resemblance(a)
		y, _ := c.resemblance(b)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a, b))
	})
}

// resemblance returns the resemblance of a text to its leader, which is another text. If the rule is
// containment, it also returns the share of the text that the leader contains.
func (c *clustering) resemblance(text int32) (resemblance, contained float64) {
	at := c.found.Find(c.leaders[text], text)
	resemblance = c.found.Pairs()[at].Resemblance
	if c.alike != nil {
		return c.alike[at], resemblance
	}
	return resemblance, 0
}

// ledBy returns the other texts in the cluster that a text leads.
func (c *clustering) ledBy(leader int32) []int32 {
	start := sort.Search(len(c.led), func(i int) bool { return c.leaders[c.led[i]] >= leader })
	n := sort.Search(len(c.led)-start, func(i int) bool { return c.leaders[c.led[start+i]] > leader })
	return c.led[start : start+n]
}

// followers yields the other pages of the cluster that a page leads. It yields none if the page leads
// no other.
func (w *Whole) followers(leader dedup.Hash) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		first, known := w.pages.find(leader)
		if !known {
			return
		}
		text := w.pages.text[first]
		if w.pages.first[text] != first || w.leaders[text] != text {
			return
		}
		for _, t := range append([]int32{text}, w.ledBy(text)...) {
			for page := range w.pages.of(int(t)) {
				if page != first && !yield(page) {
					return
				}
			}
		}
	}
}

// Size returns the number of pages in the cluster of a page, itself included, or 0 for a page that was not
// compared.
func (w *Whole) Size(r *store.Record) int {
	page, ok := w.pages.find(r.ID)
	if !ok {
		return 0
	}
	return int(w.sizes[w.leaders[w.pages.text[page]]])
}

// Clusters yields the clusters with at least two pages, largest first. Clusters of the same size
// are in the order of precedence of their leaders.
func (w *Whole) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return store.Sequence(func(yield func(store.Cluster) error) (err error) {
		var leading []int32
		for i, size := range w.sizes {
			if size > 1 {
				leading = append(leading, int32(i))
			}
		}
		slices.SortStableFunc(leading, func(a, b int32) int { return cmp.Compare(w.sizes[b], w.sizes[a]) })
		for i := 0; i < len(leading) && err == nil; i++ {
			if err = ctx.Err(); err == nil {
				err = yield(store.Cluster{Leader: w.pages.lead(int(leading[i])), Members: int(w.sizes[leading[i]]) - 1})
			}
		}
		return err
	})
}

// Members yields the members of several clusters, given by their leaders. For each leader in turn,
// it yields the other pages of its cluster, those with the highest resemblance to the leader first.
// Pages with the same resemblance are in order of precedence. Members reads many pages at once,
// because that is faster.
func (w *Whole) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return store.Sequence(func(yield func(*store.Record) error) error {
		var ids []dedup.Hash
		for _, leader := range leaders {
			for page := range w.followers(leader) {
				ids = append(ids, w.pages.ids[page])
			}
		}
		for some := range slices.Chunk(ids, pagesAtOnce) {
			records := store.Listed(ctx, func() ([]*store.Record, error) { return recordsOf(ctx, w, some...) })
			if err := store.Forward(records, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

const pagesAtOnce = 256

// WhyLeads returns the criterion by which a leader ranks before the next page of its cluster, such
// as "https". It returns "" for a page that leads no other.
func (w *Whole) WhyLeads(ctx context.Context, leader *store.Record) (string, error) {
	none := int32(len(w.pages.ids))
	second := none
	for page := range w.followers(leader.ID) {
		second = min(second, page)
	}
	if second == none {
		return "", nil
	}
	records, err := recordsOf(ctx, w.Reader, w.pages.ids[second])
	if err != nil {
		return "", err
	}
	return w.by.why(leader, records[0], w.order), nil
}

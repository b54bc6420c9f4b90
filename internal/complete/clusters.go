package complete

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"skink/dedup"
	"skink/store"
)

// ledBy returns the texts of each cluster, by the index of its leader: first the leader, then the
// others in descending order of resemblance. Texts with the same resemblance are in order of
// precedence. The list is empty for a text that is not a leader.
func ledBy(places []dedup.Membership) [][]int {
	led := make([][]int, len(places))
	for i, p := range places { // a leader comes before the members of its cluster
		led[p.Leader] = append(led[p.Leader], i)
	}
	for _, texts := range led {
		if len(texts) > 2 {
			slices.SortStableFunc(texts[1:], func(a, b int) int { return cmp.Compare(places[b].Resemblance, places[a].Resemblance) })
		}
	}
	return led
}

// members returns the number of pages in a cluster, not counting its leading page. The argument
// text is the index of the leader's text; for any other text the result is 0 or less.
func (w *Whole) members(text int) (n int) {
	for _, t := range w.led[text] {
		n += len(w.texts[t].pages)
	}
	return n - 1
}

// leaders returns the texts that lead a cluster of at least two pages, those with the largest
// clusters first. Clusters of the same size are in the order of precedence of their leaders.
func (w *Whole) leaders() (texts []int) {
	for i := range w.led {
		if w.members(i) > 0 {
			texts = append(texts, i)
		}
	}
	slices.SortStableFunc(texts, func(a, b int) int { return cmp.Compare(w.members(b), w.members(a)) })
	return texts
}

func (w *Whole) followers(text int) iter.Seq[*ranked] {
	return func(yield func(*ranked) bool) {
		for _, t := range w.led[text] {
			for k := range w.texts[t].pages {
				if (t != text || k > 0) && !yield(&w.texts[t].pages[k]) {
					return
				}
			}
		}
	}
}

// Clusters yields the clusters with at least two pages, largest first. Clusters of the same size
// are in the order of precedence of their leaders.
func (w *Whole) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return func(yield func(store.Cluster, error) bool) {
		for _, i := range w.leaders() {
			if err := ctx.Err(); err != nil {
				yield(store.Cluster{}, err)
				return
			}
			if !yield(store.Cluster{Leader: w.texts[i].pages[0].id, Members: w.members(i)}, nil) {
				return
			}
		}
	}
}

// Members yields the members of several clusters, given by their leaders. For each leader in turn,
// it yields the other pages of its cluster, those with the highest resemblance to the leader first.
// Pages with the same resemblance are in order of precedence. Members reads many pages at once,
// because that is faster.
func (w *Whole) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		ids := make([]dedup.Hash, 0, pagesAtOnce)
		for p := range w.ledByThese(leaders) {
			if ids = append(ids, p.id); len(ids) == pagesAtOnce {
				if !w.yieldRecords(ctx, ids, yield) {
					return
				}
				ids = ids[:0]
			}
		}
		w.yieldRecords(ctx, ids, yield)
	}
}

const pagesAtOnce = 256

// ledByThese yields, for each leader in turn, the other pages of its cluster.
func (w *Whole) ledByThese(leaders []dedup.Hash) iter.Seq[*ranked] {
	return func(yield func(*ranked) bool) {
		for _, leader := range leaders {
			text, leads := w.ledFrom(leader)
			if !leads {
				continue
			}
			for p := range w.followers(text) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// yieldRecords passes the records of the pages with these IDs to yield. All of them were in the
// store during the comparison, so a missing record is an error. yieldRecords returns false if yield
// did.
func (w *Whole) yieldRecords(ctx context.Context, ids []dedup.Hash, yield func(*store.Record, error) bool) bool {
	pages, err := w.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		yield(nil, err)
		return false
	}
	for i, page := range pages {
		if page == nil {
			yield(nil, fmt.Errorf("find the record of page %s: %w", ids[i], store.ErrCorrupt))
			return false
		}
		if !yield(&page.Record, nil) {
			return false
		}
	}
	return true
}

// ledFrom returns the index in w.texts of the text of the page with the id leader. The result leads
// reports whether that page leads any other page.
func (w *Whole) ledFrom(leader dedup.Hash) (text int, leads bool) {
	i, known := w.of[leader]
	text = int(i)
	return text, known && w.texts[text].pages[0].id == leader && w.members(text) > 0
}

// WhyLeads returns the criterion by which a leader ranks before the next page of its cluster, such
// as "https". It returns "" for a page that leads no other.
func (w *Whole) WhyLeads(leader *store.Record) string {
	text, leads := w.ledFrom(leader.ID)
	if !leads {
		return ""
	}
	var second *ranked
	for p := range w.followers(text) {
		if second == nil || w.by.compare(p, second) < 0 {
			second = p
		}
	}
	return w.by.why(&w.texts[text].pages[0], second)
}

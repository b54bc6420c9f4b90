package ingest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// ledBy lists the texts that each text leads: itself first, then the others,
// highest resemblance first, ties by rank.
func ledBy(places []dedup.Place) [][]int {
	led := make([][]int, len(places))
	for i, p := range places { // a leader comes before those it leads
		led[p.Leader] = append(led[p.Leader], i)
	}
	for _, texts := range led {
		if len(texts) > 2 {
			slices.SortStableFunc(texts[1:], func(a, b int) int { return cmp.Compare(places[b].Resemblance, places[a].Resemblance) })
		}
	}
	return led
}

// members is how many pages follow the best of a text, if that leads.
func (w *Whole) members(text int) (n int) {
	for _, t := range w.led[text] {
		n += len(w.texts[t].pages)
	}
	return n - 1
}

// leaders are the texts that lead more than their first page, largest cluster
// first, ties by rank.
func (w *Whole) leaders() (texts []int) {
	for i := range w.led {
		if w.members(i) > 0 {
			texts = append(texts, i)
		}
	}
	slices.SortStableFunc(texts, func(a, b int) int { return cmp.Compare(w.members(b), w.members(a)) })
	return texts
}

// followers yields the pages of a text's cluster after the first.
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

// Clusters yields the leaders of the whole that have members, largest cluster
// first, ties by rank.
func (w *Whole) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return func(yield func(store.Cluster, error) bool) {
		for _, i := range w.leaders() {
			if err := ctx.Err(); err != nil {
				yield(store.Cluster{}, err)
				return
			}
			if !yield(store.Cluster{Leader: w.texts[i].pages[0].num, Members: w.members(i)}, nil) {
				return
			}
		}
	}
}

// Members yields the pages that a page leads in the whole, highest resemblance
// first, ties by rank.
func (w *Whole) Members(ctx context.Context, leader uint64) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		i, ok := w.of[leader]
		if !ok || w.texts[i].pages[0].num != leader {
			return
		}
		for p := range w.followers(int(i)) {
			r, err := w.recordOf(ctx, p)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// recordOf is the record of a page that was there when the whole was judged.
func (w *Whole) recordOf(ctx context.Context, p *ranked) (*store.Record, error) {
	r, err := w.RecordAt(ctx, p.num)
	if err == nil && r == nil {
		err = fmt.Errorf("record of %s: %w", p.url, store.ErrCorrupt)
	}
	return r, err
}

// Report is the whole as a source of a report.
func (w *Whole) Report() report.Source { return wholeReport{report.FromStore(w), w} }

type wholeReport struct {
	report.Source
	w *Whole
}

// Clusters yields the clusters of the whole, and why each leader leads.
func (r wholeReport) Clusters(ctx context.Context) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		for _, i := range r.w.leaders() {
			c, err := r.cluster(ctx, i)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (r wholeReport) cluster(ctx context.Context, text int) (report.Cluster, error) {
	lead := &r.w.texts[text].pages[0]
	rec, err := r.w.recordOf(ctx, lead)
	if err != nil {
		return report.Cluster{}, err
	}
	return report.Cluster{
		Leader:  report.LeaderOf(rec, r.w.whyLeads(text)),
		Size:    r.w.members(text),
		Members: asMembers(r.w.Members(ctx, lead.num)),
	}, nil
}

func asMembers(records iter.Seq2[*store.Record, error]) iter.Seq2[report.Member, error] {
	return func(yield func(report.Member, error) bool) {
		for r, err := range records {
			if err != nil {
				yield(report.Member{}, err)
				return
			}
			if !yield(report.MemberOf(r), nil) {
				return
			}
		}
	}
}

// whyLeads is the criterion by which the first page of a cluster is ranked before
// the best of the others.
func (w *Whole) whyLeads(text int) string {
	var second *ranked
	for p := range w.followers(text) {
		if second == nil || byRank(*p, *second) < 0 {
			second = p
		}
	}
	return why(&w.texts[text].pages[0], second)
}

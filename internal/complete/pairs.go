package complete

import (
	"cmp"
	"context"
	"slices"

	"skink/dedup"
	"skink/store"
)

// A Pair is two similar pages.
type Pair struct {
	A           string  `json:"a"` // URL of one page
	B           string  `json:"b"` // URL of the other page; greater than A
	Resemblance float64 `json:"resemblance"`
}

// Pairs returns all pairs of pages whose resemblance is at or above the rule's similarity, each
// with its exact resemblance, sorted by URL. Pages that are too short for the rule are in a pair only
// if their texts are the same.
func Pairs(ctx context.Context, s store.Reader, rule dedup.Rule) ([]Pair, error) {
	w, err := readWhole(ctx, s, Options{Rule: rule})
	if err != nil {
		return nil, err
	}
	pairs := w.copies()
	found, err := w.similar(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		for _, p := range w.texts[f.A].pages {
			for _, q := range w.texts[f.B].pages {
				pairs = append(pairs, pairOf(p, q, f.Resemblance))
			}
		}
	}
	slices.SortFunc(pairs, func(x, y Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return pairs, nil
}

// A textPair is two texts, given by their indexes in [Whole].texts, with their exact resemblance.
type textPair struct {
	A, B        int
	Resemblance float64
}

func (w *Whole) similar(ctx context.Context) (pairs []textPair, err error) {
	c, err := newMatcher(ctx, w, w.rule.Similarity)
	if err != nil {
		return nil, err
	}
	from := slices.Repeat([]float64{w.rule.Similarity}, len(w.texts))
	for i := range w.texts {
		err := c.alike(ctx, i, from, func(other int, resemblance float64) {
			pairs = append(pairs, textPair{i, other, resemblance})
		})
		if err != nil {
			return nil, err
		}
	}
	return pairs, nil
}

// copies returns the pairs of pages that have the same text, also if it is too short to compare.
func (w *Whole) copies() (pairs []Pair) {
	for _, t := range w.texts {
		for k, p := range t.pages {
			for _, q := range t.pages[k+1:] {
				pairs = append(pairs, pairOf(p, q, 1))
			}
		}
	}
	return pairs
}

func pairOf(p, q ranked, resemblance float64) Pair {
	return Pair{min(p.URL, q.URL), max(p.URL, q.URL), resemblance}
}

package complete

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
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

// Pairs yields all pairs of pages whose resemblance is at or above the rule's similarity, each
// with its exact resemblance, sorted by URL. Pages that are too short for the rule are in a pair only
// if their texts are the same.
func Pairs(ctx context.Context, s store.Reader, rule dedup.Rule) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		var rows sorter
		w, err := readWhole(ctx, s, Options{Rule: rule})
		if err == nil {
			err = w.pairs(ctx, &rows)
		}
		if err != nil {
			yield(Pair{}, errors.Join(err, rows.close()))
			return
		}
		for row, err := range rows.sorted() {
			if !yield(pairOf(row), err) || err != nil {
				break
			}
		}
		if err := rows.close(); err != nil {
			yield(Pair{}, err)
		}
	}
}

// pairs adds all pairs of pages to rows.
func (w *Whole) pairs(ctx context.Context, rows *sorter) error {
	c, err := newMatcher(ctx, w, w.rule.Similarity)
	if err != nil {
		return err
	}
	from := slices.Repeat([]float64{w.rule.Similarity}, len(w.texts))
	for i := range w.texts {
		err := w.addPairs(ctx, rows, i, i, 1) // also if the text is too short to compare
		failed := c.alike(ctx, i, from, func(other int, resemblance float64) {
			if err == nil {
				err = w.addPairs(ctx, rows, i, other, resemblance)
			}
		})
		if err := cmp.Or(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// addPairs adds the pairs of a page with text a and another page with text b.
func (w *Whole) addPairs(ctx context.Context, rows *sorter, a, b int, resemblance float64) error {
	for p := range w.pages.of(a) {
		for q := range w.pages.of(b) {
			if a == b && q <= p {
				continue
			}
			x, err := w.urls.of(ctx, w.Reader, w.pages.ids[p])
			if err != nil {
				return err
			}
			y, err := w.urls.of(ctx, w.Reader, w.pages.ids[q])
			if err != nil {
				return err
			}
			row := appendText(appendText(nil, min(x, y)), max(x, y))
			if err := rows.add(binary.BigEndian.AppendUint64(row, math.Float64bits(resemblance))); err != nil {
				return err
			}
		}
	}
	return nil
}

func pairOf(row []byte) (p Pair) {
	if row != nil {
		p.A, row = cutText(row)
		p.B, row = cutText(row)
		p.Resemblance = math.Float64frombits(binary.BigEndian.Uint64(row))
	}
	return p
}

package complete

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"

	"skink/dedup"
	"skink/internal/join"
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
// if their texts are the same. bytes is [Options].Memory.
func Pairs(ctx context.Context, s store.Reader, rule dedup.Rule, bytes int64) iter.Seq2[Pair, error] {
	return store.Sequence(func(yield func(Pair) error) error {
		var rows join.Sorter
		w, err := readWhole(ctx, s, Options{Rule: rule, Memory: bytes})
		if err == nil {
			err = w.pairs(ctx, &rows)
		}
		if err == nil {
			err = store.Forward(rows.Sorted(), func(row []byte) error { return yield(pairOf(row)) })
		}
		return errors.Join(err, rows.Close())
	})
}

// pairs adds all pairs of pages to rows.
func (w *Whole) pairs(ctx context.Context, rows *join.Sorter) error {
	for i := range w.short { // also if the text is too short to compare
		if err := w.addPairs(ctx, rows, int32(i), int32(i), 1); err != nil {
			return err
		}
	}
	m := w.matcher(w.rule.Similarity)
	m.From = func(int32) float64 { return w.rule.Similarity }
	m.Take = func(a, b int32, resemblance float64) error { return w.addPairs(ctx, rows, a, b, resemblance) }
	return m.Run(ctx, 0)
}

// addPairs adds the pairs of a page with text a and another page with text b.
func (w *Whole) addPairs(ctx context.Context, rows *join.Sorter, a, b int32, resemblance float64) error {
	for p := range w.pages.of(int(a)) {
		for q := range w.pages.of(int(b)) {
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
			row := join.AppendText(join.AppendText(nil, min(x, y)), max(x, y))
			if err := rows.Add(binary.BigEndian.AppendUint64(row, math.Float64bits(resemblance))); err != nil {
				return err
			}
		}
	}
	return nil
}

func pairOf(row []byte) (p Pair) {
	p.A, row = join.CutText(row)
	p.B, row = join.CutText(row)
	p.Resemblance = math.Float64frombits(binary.BigEndian.Uint64(row))
	return p
}

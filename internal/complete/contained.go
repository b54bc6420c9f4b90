package complete

import (
	"context"
	"errors"
	"fmt"

	"skink/dedup"
	"skink/internal/join"
)

// # Excerpts
//
// If the rule is containment, a text is in the cluster of a leader that contains enough of it,
// whatever the resemblance of the two. The longest text is ranked first, because a source is longer
// than its excerpts. So a source leads its excerpts, and two sources that share an excerpt stay
// apart. The excerpt belongs to the longer one.
//
// No excerpt is missed: the candidates come from an exact join, [join.Excerpts], and each is
// verified against the text.
//
// Texts are read in the order of the store three times, and once more for each round after the first.
// After that, only texts that may be the source of an excerpt are read, by id.
//
// Known weakness: a text that repeats itself may have more words than its source, and then it is
// not found.

// excerpts finds the texts of a store that other texts contain. Only one goroutine may use it.
type excerpts struct {
	texts // runs
	order *join.Occurrences
}

// findExcerpts returns the clusters of the texts by containment.
//
// A round takes as many excerpts as fit in memory. It reads all texts to mark those that may be
// sources, and then finds the excerpts of each of these in order of rank. So whether a text leads is
// known when its excerpts are sought, as if all were in memory.
func findExcerpts(ctx context.Context, w *Whole, similarities []float64) (found *join.Taken, err error) {
	w.progress.all = containedSteps
	runs := func(canon *dedup.Text, text string) dedup.Set { return dedup.Runs(canon, text) }
	x := &excerpts{texts{w: w, of: runs, sets: join.NewCache()}, join.NewOccurrences(w.words, w.room()/2)}
	err = x.Each(ctx, func(_ int32, runs dedup.Set) error {
		x.order.Count(runs)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, next, err := x.w.resume(similarities)
	if err != nil {
		return nil, err
	}
	rows := &join.Sorter{}
	defer func() { err = errors.Join(err, rows.Close()) }()
	err = x.Each(ctx, func(i int32, runs dedup.Set) error {
		if row := x.order.Excerpt(x.w.rule.Contained, i, runs); row != nil {
			return rows.Add(row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for more := true; more && err == nil; {
		var index *join.Excerpts
		if index, next, more, err = join.NewExcerpts(x.w.room()/2, rows.From(ctx, next)); err != nil {
			return nil, err
		}
		if err = x.round(ctx, index, found); more && err == nil {
			x.w.remember(ctx, found, next)
		}
	}
	if err != nil {
		return nil, err
	}
	found.Sort()
	return found, nil
}

// round finds the sources of the texts in an index.
func (x *excerpts) round(ctx context.Context, index *join.Excerpts, found *join.Taken) error {
	sources := make([]bool, len(x.w.short))
	err := x.Each(ctx, func(i int32, runs dedup.Set) error {
		index.Of(runs, func(other int32) bool {
			sources[i] = other > i
			return !sources[i]
		})
		return nil
	})
	if err != nil {
		return err
	}
	step := x.w.progress.next(len(x.w.short))
	for leader := range sources {
		step(leader)
		if !sources[leader] || found.From(int32(leader)) == join.Nowhere {
			continue
		}
		if err := x.contained(ctx, index, leader, found); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// contained records each later text that the leader contains, except texts that are already in a
// cluster.
func (x *excerpts) contained(ctx context.Context, index *join.Excerpts, leader int, found *join.Taken) error {
	source, err := x.Set(ctx, int32(leader))
	if err != nil {
		return err
	}
	index.Of(source, func(other int32) bool {
		if int(other) <= leader || found.From(other) == join.Nowhere {
			return true
		}
		x.w.compared++
		var runs dedup.Set
		if runs, err = x.Set(ctx, other); err != nil {
			return false
		}
		if share, ok := x.w.rule.Contains(runs, source); ok {
			found.Take(int32(leader), other, share)
		}
		return true
	})
	return err
}

// measureAlike sets w.alike to the exact resemblances of the whole texts of all pairs.
func (w *Whole) measureAlike(ctx context.Context, pairs []join.Take) error {
	var canon dedup.Text
	shingles := func(i int32) (dedup.Set, error) {
		p, err := w.read(ctx, w.pages.first[i])
		return w.shinglesOf(&canon, p), err
	}
	w.alike = make([]float64, len(pairs))
	var source dedup.Set
	for i, p := range pairs {
		var err error
		if i == 0 || pairs[i-1].Leader != p.Leader {
			if source, err = shingles(p.Leader); err != nil {
				return err
			}
		}
		own, err := shingles(p.Text)
		if err != nil {
			return fmt.Errorf("measure the resemblance of an excerpt: %w", err)
		}
		w.alike[i] = dedup.Resemblance(own, source)
	}
	return nil
}

package complete

import (
	"context"
	"errors"
	"fmt"

	"skink/dedup"
)

// # Excerpts
//
// If the rule is containment, a text is in the cluster of a leader that contains enough of it,
// whatever the resemblance of the two. The longest text is ranked first, because a source is longer
// than its excerpts. So a source leads its excerpts, and two sources that share an excerpt stay
// apart. The excerpt belongs to the longer one.
//
// No excerpt is missed: the candidates come from an exact join, [dedup.Excerpts], and each is
// verified against the text. Blocks that a host repeats are removed from the excerpt, but not from
// its source. So an excerpt on a host with a different template is found, and a page does not
// become an excerpt of another page merely because most of its words come from the template. No run
// of words crosses a removed block, because the source may have the block. A page that would have
// too few words left is compared whole.
//
// Texts are read in the order of the store three times, or five times if blocks are left out, and
// once more for each round after the first. After that, only texts that may be the source of an
// excerpt are read, by id.
//
// Known weakness: a text that repeats itself may have more words than its source, and then it is
// not found.

// excerpts finds the texts of a store that other texts contain. Only one goroutine may use it.
type excerpts struct {
	w     *Whole
	order *dedup.Occurrences
	runs  *setCache
	canon dedup.Text
}

func newExcerpts(ctx context.Context, w *Whole) (*excerpts, error) {
	w.progress.all = containedSteps
	x := &excerpts{w: w, runs: newSetCache(cacheBytes), order: dedup.NewOccurrences(w.words, w.room()/2)}
	return x, x.read(ctx, x.allRuns, counting(x.order))
}

func (x *excerpts) whole(ctx context.Context, similarities []float64) (*dedup.Taken, error) {
	return x.find(ctx, similarities, x.allRuns)
}

func (x *excerpts) shortened(ctx context.Context, similarities []float64) (*dedup.Taken, error) {
	found, err := x.find(ctx, similarities, x.leftRuns)
	if err != nil {
		return nil, err
	}
	return found, x.w.countShortened(ctx)
}

// read calls take with the index and the runs of each text that is long enough to be compared. The
// function runs returns the runs of one text. The order of the texts is arbitrary.
func (x *excerpts) read(ctx context.Context, runs func(*dedup.Text, int, wording) dedup.Set, take func(int, dedup.Set) error) error {
	return x.w.readAll(ctx, x.w.short(), runs, x.w.counted(take))
}

func (x *excerpts) allRuns(canon *dedup.Text, _ int, p wording) dedup.Set {
	return dedup.Runs(canon, p.text)
}

// leftRuns returns the runs of a text without its repeated blocks, or of the whole text if it would
// have no runs left.
func (x *excerpts) leftRuns(canon *dedup.Text, i int, p wording) dedup.Set {
	runs := dedup.Runs(canon, x.w.shortened(canon, i, p)...)
	if t := &x.w.texts[i]; t.shorter && len(runs) == 0 {
		t.shorter, t.bare = false, true
		return dedup.Runs(canon, p.text)
	}
	return runs
}

// find returns the clusters. The function own returns those runs of a text that a source of the
// text must contain.
//
// A round takes as many excerpts as fit in memory. It reads all texts to mark those that may be
// sources, and then finds the excerpts of each of these in order of rank. So whether a text leads is
// known when its excerpts are sought, as if all were in memory.
func (x *excerpts) find(ctx context.Context, similarities []float64, own func(*dedup.Text, int, wording) dedup.Set) (found *dedup.Taken, err error) {
	found, next, err := x.w.resume(ctx, similarities)
	if err != nil {
		return nil, err
	}
	rows := &sorter{}
	defer func() { err = errors.Join(err, rows.close()) }()
	err = x.read(ctx, own, func(i int, runs dedup.Set) error {
		if row := x.order.Excerpt(x.w.rule.Contained, int32(i), runs); row != nil {
			return rows.add(row)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for more := true; more && err == nil; {
		var index *dedup.Excerpts
		if index, next, more, err = dedup.NewExcerpts(x.w.room()/2, rows.from(ctx, next)); err != nil {
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
func (x *excerpts) round(ctx context.Context, index *dedup.Excerpts, found *dedup.Taken) error {
	sources := make([]bool, len(x.w.texts))
	err := x.read(ctx, x.allRuns, func(i int, runs dedup.Set) error {
		index.Of(runs, func(other int32) bool {
			sources[i] = other > int32(i)
			return !sources[i]
		})
		return nil
	})
	if err != nil {
		return err
	}
	step := x.w.progress.next(len(x.w.texts))
	for leader := range sources {
		step(leader)
		if !sources[leader] || found.From(int32(leader)) == dedup.Nowhere {
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
func (x *excerpts) contained(ctx context.Context, index *dedup.Excerpts, leader int, found *dedup.Taken) error {
	source, err := x.set(ctx, all(leader))
	if err != nil {
		return err
	}
	index.Of(source, func(other int32) bool {
		if int(other) <= leader || found.From(other) == dedup.Nowhere {
			return true
		}
		x.w.compared++
		var runs dedup.Set
		if runs, err = x.set(ctx, setKey{other, x.w.texts[other].shorter}); err != nil {
			return false
		}
		if share, ok := x.w.rule.Contains(runs, source); ok {
			found.Take(int32(leader), other, share)
		}
		return true
	})
	return err
}

// set returns the runs of the text that p identifies, with or without its repeated blocks.
func (x *excerpts) set(ctx context.Context, p setKey) (dedup.Set, error) {
	return x.w.cached(ctx, x.runs, p, func(said wording) dedup.Set {
		if p.left {
			return dedup.Runs(&x.canon, x.w.parts(&x.canon, said)...)
		}
		return dedup.Runs(&x.canon, said.text)
	})
}

// measureAlike sets w.alike to the exact resemblances of the whole texts of all pairs.
func (w *Whole) measureAlike(ctx context.Context, pairs []dedup.Take) error {
	var canon dedup.Text
	shingles := func(i int32) (dedup.Set, error) {
		p, err := w.read(ctx, w.pages.first[i])
		return w.shinglesOf(&canon, p, false), err
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

package complete

import (
	"context"
	"errors"
	"fmt"

	"skink/base/lru"
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
// Texts are read in the order of the store four times, or six times if blocks are left out. After
// that, only texts that may be the source of an excerpt are read, by id.
//
// Known weakness: a text that repeats itself may have more words than its source, and then it is
// not found.

// excerpts finds the texts of a store that other texts contain. Only one goroutine may use it.
type excerpts struct {
	w     *Whole
	order *dedup.Occurrences
	runs  *lru.Cache[setKey, dedup.Set]
	canon dedup.Text
}

func (w *Whole) findContained(ctx context.Context) (*dedup.Taken, error) {
	w.progress.all = containedSteps
	x := &excerpts{w: w, runs: lru.New[setKey](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })}
	x.order = dedup.NewOccurrences(w.words, w.room()/2)
	err := x.read(ctx, x.whole, func(_ int, runs dedup.Set) error {
		x.order.Count(runs)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !w.wholeText && !w.begun.Learned {
		found, err := x.find(ctx, x.whole)
		if err != nil {
			return nil, err
		}
		w.clustering.set(found, w.rule.Contained)
		if err := w.learn(ctx); err != nil || len(w.repeated) == 0 {
			return found, err
		}
	}
	if w.wholeText {
		return x.find(ctx, x.whole)
	}
	found, err := x.find(ctx, x.shortened)
	if err != nil {
		return nil, err
	}
	return found, w.countShortened(ctx)
}

// read calls take with the index and the runs of each text that is long enough to be compared. The
// function runs returns the runs of one text. The order of the texts is arbitrary.
func (x *excerpts) read(ctx context.Context, runs func(*dedup.Text, int, wording) dedup.Set, take func(int, dedup.Set) error) error {
	return x.w.readAll(ctx, x.w.short(), runs, x.w.counted(take))
}

func (x *excerpts) whole(canon *dedup.Text, _ int, p wording) dedup.Set {
	return dedup.Runs(canon, p.text)
}

// shortened returns the runs of a text without its repeated blocks, or of the whole text if it would
// have no runs left.
func (x *excerpts) shortened(canon *dedup.Text, i int, p wording) dedup.Set {
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
func (x *excerpts) find(ctx context.Context, own func(*dedup.Text, int, wording) dedup.Set) (found *dedup.Taken, err error) {
	found, next, err := x.w.resume(ctx, []float64{x.w.rule.Contained})
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
	err := x.read(ctx, x.whole, func(i int, runs dedup.Set) error {
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
	if runs, ok := x.runs.Get(p); ok {
		return runs, nil
	}
	said, err := x.w.read(ctx, x.w.pages.first[p.text])
	if err != nil {
		return nil, err
	}
	parts := []string{said.text}
	if p.left {
		parts = x.w.parts(&x.canon, said)
	}
	runs := dedup.Runs(&x.canon, parts...)
	x.runs.Put(p, runs)
	return runs, nil
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

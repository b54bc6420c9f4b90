package complete

import (
	"context"
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
	w       *Whole
	order   *dedup.Occurrences
	index   *dedup.Excerpts
	sources []bool // whether each text may contain another text
	runs    *lru.Cache[setKey, dedup.Set]
	canon   dedup.Text
}

func (w *Whole) findContained(ctx context.Context) (*dedup.Taken, error) {
	w.progress.all = containedSteps
	x := &excerpts{w: w, runs: lru.New[setKey](cacheBytes, func(s dedup.Set) int { return 8 * len(s) })}
	x.order = dedup.NewOccurrences(w.words)
	if err := x.read(ctx, x.whole, func(_ int, runs dedup.Set) { x.order.Count(runs) }); err != nil {
		return nil, err
	}
	found, err := x.find(ctx, x.whole)
	if err != nil || w.wholeText {
		return found, err
	}
	w.clustering.set(found, w.rule.Contained)
	if err := w.learn(ctx); err != nil || len(w.repeated) == 0 {
		return found, err
	}
	if found, err = x.find(ctx, x.shortened); err == nil {
		err = w.countShortened(ctx)
	}
	return found, err
}

// read calls take with the index and the runs of each text that is long enough to be compared. The
// function runs returns the runs of one text. The order of the texts is arbitrary.
func (x *excerpts) read(ctx context.Context, runs func(*dedup.Text, int, wording) dedup.Set, take func(int, dedup.Set)) error {
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
func (x *excerpts) find(ctx context.Context, own func(*dedup.Text, int, wording) dedup.Set) (*dedup.Taken, error) {
	x.index = dedup.NewExcerpts(x.w.rule.Contained, len(x.w.texts), x.order)
	if err := x.read(ctx, own, x.index.Add); err != nil {
		return nil, err
	}
	x.sources = make([]bool, len(x.w.texts))
	err := x.read(ctx, x.whole, func(i int, runs dedup.Set) {
		x.index.Of(runs, func(other int) bool {
			x.sources[i] = other > i
			return !x.sources[i]
		})
	})
	if err != nil {
		return nil, err
	}
	step := x.w.progress.next(len(x.w.texts))
	return dedup.Clusters(len(x.w.texts), []float64{x.w.rule.Contained}, func(leader int, from []float64, take func(int, float64)) error {
		step(leader)
		if !x.sources[leader] {
			return ctx.Err()
		}
		return x.contained(ctx, leader, from, take)
	})
}

// contained calls take for each later text that the leader contains, except texts that are already
// in a cluster.
func (x *excerpts) contained(ctx context.Context, leader int, from []float64, take func(int, float64)) error {
	source, err := x.set(ctx, all(leader))
	if err != nil {
		return err
	}
	x.index.Of(source, func(other int) bool {
		if other <= leader || from[other] == dedup.Nowhere {
			return true
		}
		x.w.compared++
		var runs dedup.Set
		if runs, err = x.set(ctx, setKey{int32(other), x.w.texts[other].shorter}); err != nil {
			return false
		}
		if share, ok := x.w.rule.Contains(runs, source); ok {
			take(other, share)
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

package complete

import (
	"context"
	"slices"

	"skink/dedup"
	"skink/internal/join"
)

// texts are the shingles or runs of the texts of a store that are long enough to compare. They are a
// [join.Source].
type texts struct {
	w     *Whole
	of    func(*dedup.Text, string) dedup.Set
	sets  *join.Cache
	canon dedup.Text
}

// matcher returns a matcher of the texts at a resemblance.
func (w *Whole) matcher(least float64) *join.Matcher {
	var step func(int)
	most := 0
	try := func(a int32) {
		if step == nil {
			step = w.progress.next(len(w.short))
		}
		w.compared++
		most = max(most, int(a))
		step(most)
	}
	return &join.Matcher{Source: &texts{w: w, of: w.shinglesOf, sets: join.NewCache()}, Shingles: w.words, Least: least, Room: w.room(), Try: try}
}

// findAlike finds the clusters at the given similarities.
func (w *Whole) findAlike(ctx context.Context, similarities []float64) (*join.Taken, error) {
	found, next, err := w.resume(ctx, similarities)
	if err != nil {
		return nil, err
	}
	m := w.matcher(similarities[0])
	m.From, m.Done = found.From, func(next int32) { w.remember(ctx, found, next) }
	m.Take = func(a, b int32, resemblance float64) error {
		found.Take(a, b, resemblance)
		return nil
	}
	err = m.Run(ctx, next)
	found.Sort()
	return found, err
}

// Each begins with the texts whose sets are in memory.
func (t *texts) Each(ctx context.Context, take func(int32, dedup.Set) error) error {
	done, yield := slices.Clone(t.w.short), t.w.counted(take)
	for i := range done {
		if done[i] {
			continue
		}
		if s, ok := t.sets.Get(int32(i)); ok {
			done[i] = true
			if err := yield(int32(i), s); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(done, false) {
		return ctx.Err()
	}
	return t.w.readAll(ctx, done, t.of, func(i int32, s dedup.Set) error {
		t.sets.Put(i, s)
		return yield(i, s)
	})
}

// Set returns the set of a text. If it is not in the cache, Set makes it of the text, and keeps it.
func (t *texts) Set(ctx context.Context, i int32) (dedup.Set, error) {
	if s, ok := t.sets.Get(i); ok {
		return s, nil
	}
	p, err := t.w.read(ctx, t.w.pages.first[i])
	if err != nil {
		return nil, err
	}
	s := t.of(&t.canon, p)
	t.sets.Put(i, s)
	return s, nil
}

func (w *Whole) shinglesOf(canon *dedup.Text, text string) dedup.Set {
	canon.ReadString(text)
	return w.rule.Set(canon)
}

package complete

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/internal/join"
	"skink/store"
)

// # Reading all texts
//
// Judging a whole store reads its texts several times. Looking up a page by its ID costs about ten
// times as much as reading it in the order of the store. So a step that needs all texts, in any
// order, reads all changes of the store from the beginning. Several goroutines process the texts.
// If [Options].Sparing is set, one goroutine does all the work, to avoid slowing down the rest of
// the process.

// counted returns a function that calls take and reports progress. It begins a new step, in which
// each text is one part.
func (w *Whole) counted(take func(int32, dedup.Set) error) func(int32, dedup.Set) error {
	step, done := w.progress.next(len(w.short)), 0
	return func(i int32, s dedup.Set) error {
		done++
		step(done)
		return take(i, s)
	}
}

// readAll calls shingle for each text for which done is false, and passes the resulting shingles to
// take. The order of texts is arbitrary, and calls of take do not overlap. When readAll returns,
// done is true for all texts.
func (w *Whole) readAll(ctx context.Context, done []bool, shingle func(canon *dedup.Text, text string) dedup.Set, take func(i int32, s dedup.Set) error) error {
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(max(1, runtime.GOMAXPROCS(0)/2)) // half of the processors, because other goroutines read texts and run take
	canons := sync.Pool{New: func() any { return new(dedup.Text) }}
	var taking sync.Mutex // serializes calls of take
	one := func(i int, text string) error {
		canon := canons.Get().(*dedup.Text)
		s := shingle(canon, text)
		canons.Put(canon)
		taking.Lock()
		defer taking.Unlock()
		return take(int32(i), s)
	}
	err := w.passOver(ctx, done, func(i int, text string) error {
		if w.sparing {
			return one(i, text)
		}
		workers.Go(func() error { return one(i, text) }) // waits for a worker
		return ctx.Err()
	})
	return cmp.Or(workers.Wait(), err)
}

// passOver yields the texts for which done is false, in the order of the store, which is the
// fastest way to read them. If a page's position in the store has changed in the meantime, its text
// comes at the end.
func (w *Whole) passOver(ctx context.Context, done []bool, yield func(i int, text string) error) error {
	for page, err := range w.Reader.Changes(ctx, "", store.WantText) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		at, known := w.pages.find(page.Record.ID)
		if !known || !page.Kept {
			continue
		}
		i := w.pages.text[at]
		if done[i] || w.pages.first[i] != at {
			continue
		}
		done[i] = true
		if err := yield(int(i), page.Text); err != nil {
			return err
		}
	}
	for i := range w.short {
		if done[i] {
			continue
		}
		p, err := w.read(ctx, w.pages.first[i])
		if err != nil {
			return err
		}
		done[i] = true
		if err := yield(i, p); err != nil {
			return err
		}
	}
	return nil
}

// read returns the text of a page. The text is "" if it is no longer stored, because the page was
// visited or judged again since the comparison began.
func (w *Whole) read(ctx context.Context, page int32) (string, error) {
	pages, err := w.Reader.Pages(ctx, w.pages.ids[page:page+1], store.WantText)
	if err != nil {
		return "", err
	}
	switch now := pages[0]; {
	case now != nil && now.Kept:
		return now.Text, nil
	case now == nil || now.Record.Kind != store.Page || now.Record.NoText || now.Record.Words == 0:
		return "", nil
	}
	return "", fmt.Errorf("read the text of %s: %w", pages[0].Record.URL, store.ErrCorrupt)
}

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
	found, next, err := w.resume(similarities)
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

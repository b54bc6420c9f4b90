package complete

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
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
func (w *Whole) counted(take func(int, dedup.Set)) func(int, dedup.Set) {
	step, done := w.progress.next(len(w.texts)), 0
	return func(i int, s dedup.Set) {
		done++
		step(done)
		take(i, s)
	}
}

// readAll calls shingle for each text for which done is false, and passes the resulting shingles to
// take. The order of texts is arbitrary, and calls of take do not overlap. When readAll returns,
// done is true for all texts.
func (w *Whole) readAll(ctx context.Context, done []bool, shingle func(canon *dedup.Text, t *text, words string) dedup.Set, take func(i int, s dedup.Set)) error {
	if w.sparing {
		var canon dedup.Text
		return w.passOver(ctx, done, func(i int, text string) error {
			take(i, shingle(&canon, &w.texts[i], text))
			return nil
		})
	}
	type words struct {
		at   int
		text string
	}
	read := make(chan words)
	workers, ctx := errgroup.WithContext(ctx)
	workers.Go(func() error {
		defer close(read)
		return w.passOver(ctx, done, func(i int, text string) error {
			select {
			case read <- words{i, text}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	var taking sync.Mutex                       // serializes calls of take
	for range max(1, runtime.GOMAXPROCS(0)/2) { // half of the processors, because other goroutines read texts and run take
		workers.Go(func() error {
			var canon dedup.Text
			for r := range read {
				s := shingle(&canon, &w.texts[r.at], r.text)
				taking.Lock()
				take(r.at, s)
				taking.Unlock()
			}
			return nil
		})
	}
	return workers.Wait()
}

// passOver yields the texts for which done is false, in the order of the store, which is the
// fastest way to read them. If a page's position in the store has changed in the meantime, its text
// comes at the end.
func (w *Whole) passOver(ctx context.Context, done []bool, yield func(i int, text string) error) error {
	for page, err := range w.Reader.Changes(ctx, "", store.WantText) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		i, known := w.of[page.Record.ID]
		if !known || done[i] || w.texts[i].pages[0].id != page.Record.ID || !page.Kept {
			continue
		}
		done[i] = true
		if err := yield(int(i), page.Text); err != nil {
			return err
		}
	}
	for i := range w.texts {
		if done[i] {
			continue
		}
		text, err := w.textOf(ctx, &w.texts[i].pages[0])
		if err != nil {
			return err
		}
		done[i] = true
		if err := yield(i, text); err != nil {
			return err
		}
	}
	return nil
}

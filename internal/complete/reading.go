package complete

import (
	"cmp"
	"context"
	"fmt"
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

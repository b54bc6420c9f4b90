package ingest

import (
	"context"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"

	"skink/crawler"
	"skink/document"
	"skink/extract"
	"skink/internal/corpus"
	"skink/internal/memory"
	"skink/store"
)

// EachRecord calls read for each record, on all CPUs and in any order. It calls what read returns in the
// order of the records, one call after the other. It ends with the first error. bytes is the memory of the
// process; see [memory.Divide].
func EachRecord(ctx context.Context, records iter.Seq2[*corpus.Record, error], documents *document.Reader, bytes int64, read func(context.Context, *corpus.Record) (func() error, error)) error {
	pool := memory.NewPool(memory.Divide(bytes).Reading)
	group, ctx := errgroup.WithContext(ctx)
	done := inOrder(ctx, group, runtime.GOMAXPROCS(0), batches(ctx, records, pool, documents), func(ctx context.Context, b *batch) (err error) {
		for _, f := range b.files {
			if f.then, err = read(ctx, f.from); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		return store.Forward(done, func(b *batch) error {
			for _, f := range b.files {
				if err := f.then(); err != nil {
					return err
				}
			}
			b.share.Release()
			return nil
		})
	})
	return group.Wait()
}

// TextOf returns the text of a record as [Pipeline.Files] reads it. Its errors are those of
// [corpus.Record.Text]. A record on which the parser fails cannot be read.
func TextOf(ctx context.Context, r *corpus.Record, ask extract.Options) (t corpus.Text, err error) {
	failed := guard(func() error {
		if t, err = r.Text(ctx, ask); err == nil && t.Doc != nil {
			opt := Options{Agent: func(string) string { return crawler.Defaults().UserAgent }}
			opt.obey(t.URL, t.Doc, t.Header)
		}
		return nil
	})
	if failed != nil {
		err = &corpus.BadError{Place: r.Place(), Err: failed}
	}
	return t, err
}

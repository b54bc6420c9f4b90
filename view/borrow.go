package view

import (
	"context"
	"iter"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

type borrowed struct{ from Source }

var _ store.Reader = borrowed{}

func asked[T any](ctx context.Context, b borrowed, question func(store.Reader) (T, error)) (answer T, err error) {
	err = b.from.Read(ctx, func(s store.Reader) (err error) {
		answer, err = question(s)
		return err
	})
	return answer, err
}

func listing[T any](ctx context.Context, b borrowed, list func(store.Reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		more := true
		err := b.from.Read(ctx, func(s store.Reader) error {
			for v, err := range list(s) {
				if more = err == nil && yield(v, nil); !more {
					return err
				}
			}
			return nil
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

func (b borrowed) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	return asked(ctx, b, func(s store.Reader) ([]*store.Content, error) { return s.Pages(ctx, ids, want) })
}

func (b borrowed) Changes(ctx context.Context, after store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return listing(ctx, b, func(s store.Reader) iter.Seq2[*store.Change, error] { return s.Changes(ctx, after, want) })
}

func (b borrowed) End(ctx context.Context) (store.Cursor, error) {
	return asked(ctx, b, func(s store.Reader) (store.Cursor, error) { return s.End(ctx) })
}

func (b borrowed) Clusters(ctx context.Context) iter.Seq2[store.Cluster, error] {
	return listing(ctx, b, func(s store.Reader) iter.Seq2[store.Cluster, error] { return s.Clusters(ctx) })
}

func (b borrowed) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	return listing(ctx, b, func(s store.Reader) iter.Seq2[*store.Record, error] { return s.Members(ctx, leaders) })
}

func (b borrowed) Tally(ctx context.Context) (store.Tally, error) {
	return asked(ctx, b, func(s store.Reader) (store.Tally, error) { return s.Tally(ctx) })
}

func (b borrowed) Meta(ctx context.Context, name string) ([]byte, error) {
	return asked(ctx, b, func(s store.Reader) ([]byte, error) { return s.Meta(ctx, name) })
}

func (b borrowed) Kept(ctx context.Context, name string) ([]byte, error) {
	return asked(ctx, b, func(s store.Reader) ([]byte, error) { return s.Kept(ctx, name) })
}

func (b borrowed) Keep(ctx context.Context, name string, value []byte) error {
	return b.from.Read(ctx, func(s store.Reader) error { return s.Keep(ctx, name, value) })
}

func (b borrowed) State(ctx context.Context, url string) (frontier.State, error) {
	return asked(ctx, b, func(s store.Reader) (frontier.State, error) { return s.State(ctx, url) })
}

func (b borrowed) URLs(ctx context.Context, state frontier.State) iter.Seq2[string, error] {
	return listing(ctx, b, func(s store.Reader) iter.Seq2[string, error] { return s.URLs(ctx, state) })
}

func (b borrowed) Hosts(ctx context.Context) iter.Seq2[frontier.Host, error] {
	return listing(ctx, b, func(s store.Reader) iter.Seq2[frontier.Host, error] { return s.Hosts(ctx) })
}

func (b borrowed) Counts(ctx context.Context) (frontier.Counts, error) {
	return asked(ctx, b, func(s store.Reader) (frontier.Counts, error) { return s.Counts(ctx) })
}

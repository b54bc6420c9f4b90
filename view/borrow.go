package view

import (
	"context"

	"skink/dedup"
	"skink/store"
)

// borrowed calls do with the store, and returns the result of do.
func borrowed[T any](ctx context.Context, from Source, do func(store.Reader) (T, error)) (result T, err error) {
	err = from.Read(ctx, func(s store.Reader) (err error) {
		result, err = do(s)
		return err
	})
	return result, err
}

// lentPages reads the pages of an audit's rows. It borrows the store for each call, because the
// audit is kept for longer than a store is lent.
type lentPages struct{ from Source }

func (l lentPages) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	return borrowed(ctx, l.from, func(s store.Reader) ([]*store.Content, error) { return s.Pages(ctx, ids, want) })
}

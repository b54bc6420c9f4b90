package ingest

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"

	"skink/store"
)

// inOrder calls do for each item, with about the given number of calls at the same time. The result
// yields the items in their order, each once its call to do has returned, and must be read by the group.
// An error from do or of the items ends the group.
func inOrder[T any](ctx context.Context, group *errgroup.Group, workers int, items iter.Seq2[T, error], do func(context.Context, T) error) iter.Seq2[T, error] {
	queue := make(chan chan T, workers) // also has the items that wait for an earlier one
	group.Go(func() error {
		defer close(queue)
		return store.Forward(items, func(item T) error {
			done := make(chan T, 1)
			if err := send(ctx, queue, done); err != nil {
				return err
			}
			group.Go(func() error {
				if err := do(ctx, item); err != nil {
					return err
				}
				done <- item
				return nil
			})
			return nil
		})
	})
	return store.Sequence(func(yield func(T) error) error {
		for done := range queue {
			select {
			case item := <-done:
				if err := yield(item); err != nil {
					return err
				}
			case <-ctx.Done(): // otherwise, this could block after an error of do
				return ctx.Err()
			}
		}
		return ctx.Err()
	})
}

// send fails only if ctx ends first.
func send[T any](ctx context.Context, to chan<- T, item T) error {
	select {
	case to <- item:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

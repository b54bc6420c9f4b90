package ingest

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// inOrder calls do for each item of a channel, with about the given number of calls at the same time. The
// returned channel delivers the items in order of arrival, each once its call to do has returned.
// An error from do ends the group.
func inOrder[T any](ctx context.Context, group *errgroup.Group, workers int, in <-chan T, do func(context.Context, T) error) <-chan T {
	queue, out := make(chan chan T, workers), make(chan T) // the queue also has the items that wait for an earlier one
	group.Go(func() error {
		defer close(queue)
		for item := range in {
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
		}
		return nil
	})
	group.Go(func() error {
		defer close(out)
		for done := range queue {
			select {
			case item := <-done:
				if err := send(ctx, out, item); err != nil {
					return err
				}
			case <-ctx.Done(): // otherwise, this could block after an error of do
				return ctx.Err()
			}
		}
		return nil
	})
	return out
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

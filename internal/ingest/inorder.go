package ingest

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// inOrder calls do for each item of a channel, in the given number of goroutines of the group. The
// returned channel delivers the items in order of arrival, each once its call to do has returned.
// An error from do ends the group.
func inOrder[T any](ctx context.Context, group *errgroup.Group, workers int, in <-chan T, do func(context.Context, T) error) <-chan T {
	type work struct {
		item T
		done chan struct{}
	}
	jobs, queue, out := make(chan work), make(chan work, 2*workers), make(chan T)
	group.Go(func() error {
		defer close(queue)
		defer close(jobs)
		for item := range in {
			w := work{item, make(chan struct{})}
			if err := send(ctx, queue, w); err != nil {
				return err
			}
			if err := send(ctx, jobs, w); err != nil {
				return err
			}
		}
		return nil
	})
	for range workers {
		group.Go(func() error {
			for w := range jobs {
				if err := do(ctx, w.item); err != nil {
					return err
				}
				close(w.done)
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(out)
		for w := range queue {
			select {
			case <-w.done:
			case <-ctx.Done(): // otherwise, this could block if no worker has received the item
				return ctx.Err()
			}
			if err := send(ctx, out, w.item); err != nil {
				return err
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

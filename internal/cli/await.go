package cli

import "context"

// await calls a read that may wait for ever, such as that of a terminal or of a pipe that nobody
// writes to, and gives up when ctx ends. Nothing can stop a read that waits, or the opening of a
// named pipe. So it is left behind: the command ends, and the process with it.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var nothing T
		return nothing, ctx.Err()
	}
}

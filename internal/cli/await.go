package cli

import "context"

// await reads what may keep a command waiting for ever, such as a terminal or a
// pipe that nobody writes to, and gives up when ctx ends. Nothing stops a read that
// waits, or the opening of a named pipe, so then it is left behind: the command ends,
// and with it the process.
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

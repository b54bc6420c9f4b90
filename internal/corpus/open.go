package corpus

import (
	"context"
	"io"
	"os"
)

// open opens an input. Reading from a pipe or a device may block forever, so opening and reading
// return the error of ctx when ctx ends.
func (in *Inputs) open(ctx context.Context, i input) (io.ReadCloser, error) {
	open := func() (io.ReadCloser, error) { return os.Open(i.name) }
	if i.name == "-" {
		return patient(ctx, func() (io.ReadCloser, error) { return io.NopCloser(in.Stdin), nil }), nil
	}
	if i.object != nil {
		return i.object.Open(ctx), nil
	}
	if i.inside {
		return open()
	}
	if info, err := os.Stat(i.name); err == nil && !info.Mode().IsRegular() {
		return patient(ctx, open), nil
	}
	return open()
}

// patient calls open and reads from the result in a separate goroutine, so that a reader does not
// block after ctx has ended. If opening or reading never returns, the goroutine lives until the
// process ends.
func patient(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		defer stop()
		from, err := open()
		if err == nil {
			_, err = io.Copy(in, from)
			from.Close()
		}
		in.CloseWithError(err)
	}()
	return out
}

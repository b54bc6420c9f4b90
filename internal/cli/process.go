package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Main runs skink with the arguments and the streams of the process, and ends the process.
func Main() {
	ctx, unheard := context.WithCancelCause(context.Background())
	go obey(ctx, endings(), unheard)
	fd := int(os.Stderr.Fd())
	os.Exit(Run(ctx, os.Args[1:], Console{
		In:         os.Stdin,
		Out:        listener{os.Stdout, unheard},
		Err:        listener{os.Stderr, unheard},
		Terminal:   term.IsTerminal(fd) && os.Getenv("TERM") != "dumb", // which knows no escape sequences
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		Columns: func() int {
			if width, _, err := term.GetSize(fd); err == nil {
				return width
			}
			return 80
		},
	}))
}

// endings receives the signals that end a command in order. A terminal that closes may send SIGHUP
// more than once. A process that was started with nohup gets none. SIGPIPE is caught too: by default
// it would end the process at the first write that nobody reads.
func endings() <-chan os.Signal {
	ignored := make(chan os.Signal, 1) // never read
	signal.Notify(ignored, syscall.SIGPIPE)
	heard := make(chan os.Signal, 8)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(heard, syscall.SIGHUP)
	}
	return heard
}

// obey ends the context at the first signal, and the process at the next one. A process that a
// shell started in the background ignores SIGINT by default, so the default is not relied on.
func obey(ctx context.Context, signals <-chan os.Signal, end context.CancelCauseFunc) {
	for got := range signals {
		if ctx.Err() == nil {
			end(nil)
			continue
		}
		if got == syscall.SIGHUP {
			continue
		}
		signal.Reset(got)
		if self, err := os.FindProcess(os.Getpid()); err == nil && !signal.Ignored(got) {
			_ = self.Signal(got)
			time.Sleep(time.Second) // the signal ends the process
		}
		os.Exit(exitKilled)
	}
}

// exitKilled is the exit code of a process that a second signal could not end by its default.
const exitKilled = 130

// A listener is a stream that tells when nobody is at its other end any more.
type listener struct {
	to   *os.File
	gone context.CancelCauseFunc
}

func (l listener) Write(p []byte) (int, error) {
	n, err := l.to.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		l.gone(syscall.EPIPE)
	}
	return n, err
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"skink/internal/harmless"
	"skink/internal/session"
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

// output returns where a run of a crawl writes.
func (con Console) output(json, quiet bool) session.Output {
	out := session.Output{Out: con.Out, Err: con.Err, Quiet: quiet, Columns: con.Columns}
	if con.Terminal {
		out.Screen = con.screen
	}
	if json {
		out.Log = slog.New(slog.NewJSONHandler(harmless.JSON(con.Err), nil))
	}
	return out
}

// logged logs an error for programs, and returns only its exit code. Without a log it returns the
// error, which the caller prints.
func logged(log *slog.Logger, err error) error {
	if log == nil || err == nil {
		return err
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return code
	}
	log.Error(strings.TrimPrefix(harmless.Error(err), "skink: "))
	if _, ok := errors.AsType[usageError](err); ok {
		return exitError(exitUsage)
	}
	return exitError(exitFailed)
}

// asked returns a channel that receives a value each time the user asks for the hosts, by a signal
// or by Enter at a terminal.
func (con Console) asked(stdinIsSeeds bool) (asked <-chan struct{}, release func()) {
	ask := make(chan struct{}, 1)
	tell := func() {
		select {
		case ask <- struct{}{}:
		default: // a request is already waiting
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, askSignals...)
	go func() {
		for range signals {
			tell()
		}
	}()
	if con.InTerminal && !stdinIsSeeds {
		ignoreBackground()
		go func() { // ends with the process: a read from a terminal cannot be cancelled
			for lines := bufio.NewScanner(con.In); lines.Scan(); {
				tell()
			}
		}()
	}
	return ask, func() { signal.Stop(signals); close(signals) }
}

package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"skink/base/harmless"
	"skink/internal/session"
)

// Main runs skink with the process's arguments and streams, and exits with the command's exit code.
func Main() {
	runtime.MemProfileRate = 0 // only the heap profile of package monitor needs samples, which take 4% of a crawl's processor time
	ctx, unheard := context.WithCancelCause(context.Background())
	go obey(ctx, endings(), unheard)
	fd := int(os.Stderr.Fd())
	os.Exit(Run(ctx, os.Args[1:], Console{
		In:       os.Stdin,
		Out:      painted(os.Stdout, listener{os.Stdout, unheard}),
		Err:      painted(os.Stderr, listener{os.Stderr, unheard}),
		Terminal: term.IsTerminal(fd) && os.Getenv("TERM") != "dumb", // a dumb terminal does not understand escape sequences
		Columns: func() int {
			if width, _, err := term.GetSize(fd); err == nil {
				return width
			}
			return 80
		},
	}))
}

// endings returns a channel of the signals that end a command: SIGINT, SIGTERM and SIGHUP. It
// leaves out SIGHUP if the process ignores it, as for a process started with nohup. It also catches
// SIGPIPE, which by default kills a process that writes to a closed pipe.
func endings() <-chan os.Signal {
	ignored := make(chan os.Signal, 1) // nothing reads this channel; catching SIGPIPE is enough to make the write return EPIPE
	signal.Notify(ignored, syscall.SIGPIPE)
	heard := make(chan os.Signal, 8)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(heard, syscall.SIGHUP)
	}
	return heard
}

// reloads is true while a crawl reads its configuration again at SIGHUP, instead of ending.
var reloads atomic.Bool

// obey cancels the context at the first signal, so that the command can shut down properly. A
// second signal ends the process at once, with that signal's default action. A second SIGHUP is
// ignored, because a terminal that closes may send several. If the process ignores the second
// signal, as background processes of some shells ignore SIGINT, obey calls os.Exit.
func obey(ctx context.Context, signals <-chan os.Signal, end context.CancelCauseFunc) {
	for got := range signals {
		if got == syscall.SIGHUP && reloads.Load() {
			continue
		}
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
			time.Sleep(time.Second) // time for the signal to end the process
		}
		os.Exit(exitKilled)
	}
}

// exitKilled is the exit code if the default action of a second signal did not end the process. It
// is the code that a shell reports for SIGINT.
const exitKilled = 130

// A listener writes to a file, and calls gone when a write fails with EPIPE, because then nobody is
// reading the output.
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

// logged writes err to a log of JSON lines, and returns an error that only sets the exit code, so
// that err is not printed again as text. If log is nil, it returns err.
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

// heard returns a channel that receives the given signals. release stops watching for them.
func heard(all ...os.Signal) (signals <-chan os.Signal, release func()) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, all...)
	return heard, func() { signal.Stop(heard) }
}

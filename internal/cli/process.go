package cli

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"skink/internal/harmless"
	"skink/internal/session"
)

// Main runs skink with the arguments and streams of the process, and exits with the command's exit
// code.
func Main() {
	runtime.MemProfileRate = 0 // only the heap profile of package monitor needs samples, and they take 4 % of a crawl's processor time
	ctx, unheard := context.WithCancelCause(context.Background())
	go obey(ctx, endings(), unheard)
	fd := int(os.Stderr.Fd())
	os.Exit(Run(ctx, os.Args[1:], Console{
		In:         os.Stdin,
		Out:        listener{os.Stdout, unheard},
		Err:        listener{os.Stderr, unheard},
		Terminal:   term.IsTerminal(fd) && os.Getenv("TERM") != "dumb", // a dumb terminal does not understand escape sequences
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())),
		Columns: func() int {
			if width, _, err := term.GetSize(fd); err == nil {
				return width
			}
			return 80
		},
	}))
}

// endings returns a channel of the signals that end a command: SIGINT, SIGTERM and SIGHUP. SIGHUP
// is left out if it is ignored, as it is for a process started with nohup. endings also catches
// SIGPIPE, because by default that signal kills the process when it writes to a closed pipe.
func endings() <-chan os.Signal {
	ignored := make(chan os.Signal, 1) // nothing reads this channel: catching SIGPIPE is enough, because the write then returns EPIPE
	signal.Notify(ignored, syscall.SIGPIPE)
	heard := make(chan os.Signal, 8)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(heard, syscall.SIGHUP)
	}
	return heard
}

// obey cancels the context at the first signal, so that the command can shut down properly. At the
// next signal it ends the process at once, with the default action of that signal. A second SIGHUP
// is ignored, because a terminal that closes may send several. If the signal would be ignored, as
// SIGINT is in a background process of some shells, obey exits by itself.
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
			time.Sleep(time.Second) // enough time for the signal to end the process
		}
		os.Exit(exitKilled)
	}
}

// exitKilled is the exit code after a second signal whose default action did not end the process.
// It is the code that a shell reports for SIGINT.
const exitKilled = 130

// A listener writes to a file, and calls gone when a write fails with EPIPE, because then nobody
// reads the output any more.
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

// output returns the streams to which a crawl writes its messages, and their format. If json is
// true, messages are written as lines of JSON.
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

// asked returns a channel that receives a value each time the user asks to see what the crawl is
// doing on each host: by sending a signal in askSignals, or by pressing Enter in a terminal. The
// result release stops watching for the signal.
func (con Console) asked(stdinIsSeeds bool) (asked <-chan struct{}, release func()) {
	ask := make(chan struct{}, 1)
	tell := func() {
		select {
		case ask <- struct{}{}:
		default: // a request is already waiting in the channel
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
		go func() { // this goroutine ends only with the process, because a read from a terminal cannot be cancelled
			for lines := bufio.NewScanner(con.In); lines.Scan(); {
				tell()
			}
		}()
	}
	return ask, func() { signal.Stop(signals); close(signals) }
}

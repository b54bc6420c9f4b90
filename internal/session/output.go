package session

import (
	"fmt"
	"io"
	"log/slog"
)

// An Output is where a run writes: its messages, its progress, and a feed that is printed.
type Output struct {
	Out     io.Writer       // for Options.Feed "-"
	Err     io.Writer       // for messages and progress
	Log     *slog.Logger    // for the same, as records for programs; nil: Err gets text for people
	Quiet   bool            // print errors only
	Screen  io.Writer       // Err if it is a terminal, to which escape sequences may be written; nil: it is none
	Columns func() int      // width of the terminal; used if there is a Screen
	Asked   <-chan struct{} // receives a value each time the user asks how the hosts are; may be nil
}

// Say prints a sentence.
func (o Output) Say(format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case o.Quiet:
	case o.Log != nil:
		o.Log.Info(text)
	default:
		fmt.Fprintln(o.Err, text)
	}
}

// finish prints how a run ended.
func (o Output) finish(sum Summary) {
	switch {
	case o.Quiet:
	case o.Log != nil:
		o.Log.Info("finished", sum.attrs()...)
	default:
		fmt.Fprintln(o.Err, sum)
	}
}

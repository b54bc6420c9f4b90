package session

import (
	"fmt"
	"io"
	"log/slog"
)

// An Output receives the messages of a run, its progress, and the feed of pages if it is printed.
type Output struct {
	Out     io.Writer       // receives the feed if Options.Feed is "-"
	Err     io.Writer       // receives messages and progress as text
	Log     *slog.Logger    // receives messages and progress as log records instead of Err; nil means that Err is used
	Quiet   bool            // print errors only
	Screen  io.Writer       // the terminal for a status line, which may contain escape sequences; nil means that Err is not a terminal
	Columns func() int      // width of the terminal Screen, in characters
	Asked   <-chan struct{} // receives a value each time the user asks for the state of the hosts; may be nil
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

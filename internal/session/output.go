package session

import (
	"fmt"
	"io"
	"log/slog"
	"os"
)

// An Output receives the messages of a run, its progress, and the feed of pages if it is printed.
type Output struct {
	Out     io.Writer        // for the feed, if Options.Feed is "-"
	Err     io.Writer        // for messages and progress as text
	Log     *slog.Logger     // for messages and progress as log records; if nil, Err is used
	Quiet   bool             // print errors only
	Screen  io.Writer        // terminal for the status line, which may contain escape sequences; nil if Err is not a terminal
	Columns func() int       // width of Screen in characters
	Asked   <-chan os.Signal // receives a signal each time the user asks for the state of the hosts; may be nil
	Reload  <-chan os.Signal // receives a signal to read the configuration again; may be nil
}

// Say prints a sentence.
func (o Output) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.event(text, nil, text)
}

// event writes a log record, or else a text.
func (o Output) event(name string, attrs []any, text string) {
	switch {
	case o.Quiet:
	case o.Log != nil:
		o.Log.Info(name, attrs...)
	default:
		fmt.Fprintln(o.Err, text)
	}
}

func (o Output) finish(sum Summary) { o.event("finished", sum.attrs(), sum.String()) }

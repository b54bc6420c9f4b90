package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// A watched is an output that closes seen when it has received the text want.
type watched struct {
	mu   sync.Mutex
	text string // guarded by mu
	want string
	seen chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.text, w.want)
	w.text += string(p)
	if !before && strings.Contains(w.text, w.want) {
		close(w.seen)
	}
	return len(p), nil
}

// A waiting is an input that is at its end after the channel done was closed.
type waiting struct{ done <-chan struct{} }

func (w waiting) Read([]byte) (int, error) {
	<-w.done
	return 0, io.EOF
}

// TestTuneProgress checks that skink tune shows its progress if standard error is a terminal and
// --quiet is not set, and erases it at the end. The input stays open until the line was shown. If
// no line is expected, it stays open for the time of a few updates.
func TestTuneProgress(t *testing.T) {
	pairs := strings.Repeat(`{"a_text":"one","b_text":"one","duplicate":true}`+"\n"+`{"a_text":"one","b_text":"two","duplicate":false}`+"\n", 6)
	for _, c := range []struct {
		quiet, terminal, shown bool
	}{{false, true, true}, {true, true, false}, {false, false, false}} {
		problems := &watched{want: "of 12 pairs compared", seen: make(chan struct{})}
		ended := problems.seen
		if !c.shown {
			ended = make(chan struct{})
			time.AfterFunc(3*statusEvery, func() { close(ended) })
		}
		con := Console{In: io.MultiReader(strings.NewReader(pairs), waiting{ended}), Out: io.Discard, Err: problems, Terminal: c.terminal, Columns: func() int { return 80 }}
		args := []string{"tune", "--form", "plain", "--unit", "word", fmt.Sprintf("--quiet=%t", c.quiet), "-"}
		if code := Run(context.Background(), args, con); code != exitDone {
			t.Fatalf("%+v: exit code %d: %s", c, code, problems.text)
		}
		if c.shown != strings.HasSuffix(problems.text, clearLine) || !c.shown && problems.text != "" {
			t.Errorf("%+v: on standard error: %q", c, problems.text)
		}
	}
}

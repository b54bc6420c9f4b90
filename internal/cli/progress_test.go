package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skink/store"
)

// The status line shows the part of the input that was read, the speed, the results so far, and the
// remaining time if it is known.
func TestJudgingLine(t *testing.T) {
	found := store.Tally{Unique: 70, Exact: 20, Near: 9, Thin: 1}
	for _, c := range []struct {
		j    judging
		want string
	}{
		{judging{25 << 20, 100 << 20, found, 10 * time.Second}, "25.0 MB of 100.0 MB  2.5 MB/s  unique 70  exact 20  near 9  thin 1  30s left"},
		{judging{25 << 20, -1, found, 10 * time.Second}, "25.0 MB  2.5 MB/s  unique 70  exact 20  near 9  thin 1"},
		{judging{0, 100 << 20, store.Tally{}, 100 * time.Millisecond}, "0 bytes of 100.0 MB  0 bytes/s  unique 0  exact 0  near 0  thin 0"},
		{judging{100 << 20, 100 << 20, found, 10 * time.Second}, "100.0 MB of 100.0 MB  10.0 MB/s  unique 70  exact 20  near 9  thin 1"},
	} {
		if got := c.j.line(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// Without a terminal, a line appears each minute, and none with --quiet.
func TestLinesWithoutATerminal(t *testing.T) {
	for quiet, want := range map[bool]string{false: "skink: one line\nskink: one line\n", true: ""} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			err := showWhile(Console{Err: &said}, quiet, func() string { return "one line" }, func() error {
				time.Sleep(2*lineEvery + time.Second)
				return nil
			})
			if err != nil || said.String() != want {
				t.Errorf("quiet %t: %q, %v; want %q", quiet, said.String(), err, want)
			}
		})
	}
}

package report

import (
	"testing"
	"time"
)

func TestAboutVisits(t *testing.T) {
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		last time.Time
		want string
	}{
		{first.Add(time.Millisecond), "visited at 2026-03-01 12:00:00 UTC"},
		{first.Add(time.Second), "visited from 2026-03-01 12:00:00 to 2026-03-01 12:00:01 UTC"},
	} {
		a := About{First: first, Last: c.last}
		if got := a.Lines()[0]; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

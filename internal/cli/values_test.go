package cli

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"500ms": 500 * time.Millisecond, "36h": 36 * time.Hour, "7d": 168 * time.Hour, "2w": 336 * time.Hour, "1h30m": 90 * time.Minute, "-1d": -24 * time.Hour} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "d", "1.5d", "3 days", "99999999999d", "soon"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

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

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "500": 500, " 7b ": 7, "2k": 2 << 10, "3 KB": 3 << 10, "4M": 4 << 20, "5gb": 5 << 30, "4294967296G": 1 << 62} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "1.5GB", "1TB", "5 bytes", "0x10", "4294967297G", "99999999999999999999"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

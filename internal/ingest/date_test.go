package ingest

import "testing"

// dateOf converts dates in all formats to RFC 3339, and returns "" for text that is not a date.
func TestDateOf(t *testing.T) {
	for written, want := range map[string]string{
		"2025-03-01":                    "2025-03-01",
		" 2025-03-01T09:30:00+02:00 ":   "2025-03-01T09:30:00+02:00",
		"2025-03-01T09:30:00.123Z":      "2025-03-01T09:30:00Z",
		"2025-03-01T09:30:00+0200":      "2025-03-01T09:30:00+02:00",
		"2025-03-01T09:30+02:00":        "2025-03-01T09:30:00+02:00",
		"2025-03-01 09:30:00":           "2025-03-01T09:30:00Z",
		"Sat, 01 Mar 2025 09:30:00 GMT": "2025-03-01T09:30:00Z",
		"1 March 2025":                  "",
		"2025-02-30":                    "",
		"":                              "",
	} {
		if got := dateOf(written); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}

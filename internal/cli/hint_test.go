package cli

import "testing"

func TestNearest(t *testing.T) {
	flags := []string{"store", "similarity", "max-pages", "max-host-pages", "max-depth", "user-agent", "delay", "max-delay", "feed"}
	for word, want := range map[string]string{
		"maxpages":   "max-pages",
		"max_pages":  "max-pages",
		"pages":      "max-pages", // the shorter of two names that end with this word
		"dept":       "max-depth",
		"dealy":      "delay",
		"similarty":  "similarity",
		"Similarity": "similarity",
		"agent":      "user-agent",
		"stor":       "store",
		"x":          "",
		"format":     "",
		"verbose":    "",
		"":           "",
	} {
		if got := nearest(word, flags); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

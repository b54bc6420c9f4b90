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

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"crawl", "crawl", 0}, {"crwal", "crawl", 1}, {"crawl", "craw", 1}, {"report", "export", 2}, {"kitten", "sitting", 3}} {
		if got, back := slips(c.a, c.b), slips(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("slips(%q, %q) = %d, and back %d; want %d", c.a, c.b, got, back, c.want)
		}
	}
}

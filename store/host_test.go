package store_test

import (
	"testing"

	"skink/store"
)

// The host of a URL is its authority. Other names have no host.
func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://example.com/":                "example.com",
		"https://example.com:8443/a?b#c":     "example.com:8443",
		"http://example.com":                 "example.com",
		"http://example.com?q=http://x.test": "example.com",
		"http://example.com (a.jsonl:3)":     "example.com", // skink dedup gives this name to a second text of one URL
		"http://[::1]:8080/":                 "[::1]:8080",
		"http://user:pass@example.com/@":     "example.com",
		"http://example.com/operator%.html":  "example.com", // valid on the web, but refused by net/url
		"docs/http://example.com/":           "",
		"ftp://example.com/":                 "",
		"notes.txt":                          "",
		"":                                   "",
	} {
		if got := store.HostOf(url); got != want {
			t.Errorf("HostOf(%q) = %q, want %q", url, got, want)
		}
	}
}

package segment_test

import (
	"regexp"
	"testing"

	"skink/base/segment"
)

// The first expression that matches the path decides. Hosts, queries and fragments do not count.
func TestOf(t *testing.T) {
	t.Parallel()
	list := segment.List{
		{Name: "start", Path: regexp.MustCompile(`^/$`)},
		{Name: "api", Path: regexp.MustCompile(`^/docs/api/`)},
		{Name: "docs", Path: regexp.MustCompile(`^/(docs|handb%C3%BCcher)/`)},
		{Name: "raw", Path: regexp.MustCompile(`^/a\|b`)},
		{Name: "old", Path: regexp.MustCompile(`\.html$`)},
	}
	for url, want := range map[string]string{
		"https://a.test/":                        "start",
		"https://a.test":                         "start",
		"https://a.test/docs/":                   "docs",
		"https://a.test/docs/api/x.html":         "api",
		"https://a.test/docs/x.html":             "docs",
		"https://a.test/handb%C3%BCcher/1":       "docs",
		"https://a.test/x.html?from=/docs/":      "old",
		"https://a.test/x?page=/docs/y.html":     "",
		"https://a.test/x#/docs/y.html":          "",
		"https://docs.test/shop/":                "",
		"file:///docs/index.html":                "docs",
		"https://a.test/shop/docs/":              "",
		"https://a.test/%zz/not-a-url/index.htm": "",
		"https://a.test/docs/100%":               "docs", // such a URL is valid in a browser, but not for net/url
		"https://a.test/docs%2Fapi/a|b":          "",     // net/url would encode | and decode %2F
		"https://a.test/a|b":                     "raw",
		"https://a.test?from=/docs/":             "start",
	} {
		if got := list.Of(url); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
	if got := segment.List(nil).Of("https://a.test/"); got != "" {
		t.Errorf("without segments: got %q", got)
	}
	for name, want := range map[string]bool{"": true, "docs": true, "api": false} {
		if got := (segment.Choice{List: list, Name: name}).Has("https://a.test/docs/"); got != want {
			t.Errorf("choice %q: got %v, want %v", name, got, want)
		}
	}
}

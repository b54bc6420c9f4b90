package learn

import (
	"fmt"
	"slices"
	"testing"
)

// The shape of a URL has placeholders for the variable parts, and keeps the parts that distinguish
// the programs of a site.
func TestShape(t *testing.T) {
	for path, want := range map[string]string{
		"/":                            "/",
		"/about":                       "/{word}",
		"/product/17":                  "/product/{n}",
		"/product/17/reviews/":         "/product/{n}/{word}/",
		"/2026/04/title/?replytocom=1": "/{n}/{n}/{word}/?replytocom",
		"/news/2026-11-22":             "/news/{n}",
		"/s/8f3a9c0011aa22bb/cart":     "/s/{hash}/{word}",
		"/v2/api/page12.html":          "/v{n}/api/{word}.html",
		"/list?size=4&color=red":       "/{word}?color&size",
		"/list?color=red&color=blue":   "/{word}?color",
		"/list?f[12]=1":                "/{word}?f[{n}]",
		"/page.html;sid=0A1B":          "/{word}.html;sid",
		"/a;sid=1/b?C=N;O=A":           "/a;sid/{word}?C&O",
	} {
		if got := Shape(site + path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A URL belongs to patterns from fine to coarse. The finest has the values of parameters and last
// segments, as long as these have few values.
func TestPatterns(t *testing.T) {
	h := new(Host)
	check := func(path string, want ...string) {
		t.Helper()
		if got := h.patterns(addressOf(site + path)); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", path, got, want)
		}
	}
	check("/", "/")
	check("/about", "/{word}")
	check("/v2/about", "/v{n}/about", "/v{n}/{word}", "/…/{word}")
	check("/a/b;sid=1/about", "/a/b;sid/about", "/a/b;sid/{word}", "/…/{word}")
	check("/a/b/c/17", "/a/b/c/{n}", "/a/b/…/{n}", "/…/{n}")
	check("/repo/log/src/a.c?h=main&ofs=50",
		"/repo/log/src/a.c?h=main&ofs", "/repo/log/src/a.c?h&ofs", "/repo/log/src/{word}.c?h&ofs", "/repo/log/src/{word}.c?…", "/repo/log/…/{word}.c?h&ofs", "/…/{word}.c?h&ofs")
	for i := range fewValues + 1 {
		h.meetValues(addressOf(fmt.Sprintf("%s/wiki/title%c?view=v%c", site, 'a'+i, 'a'+i)))
		h.meetValues(addressOf(fmt.Sprintf("%s/list/x?view=v%c", site, 'a'+i%fewValues)))
	}
	check("/wiki/other?view=w", "/wiki/{word}?view", "/wiki/{word}?…", "/…/{word}?view")
	check("/list/x?view=va", "/list/x?view=va", "/list/x?view", "/list/{word}?view", "/list/{word}?…", "/…/{word}?view")
	check("/list/x?view=w", "/list/x?view", "/list/{word}?view", "/list/{word}?…", "/…/{word}?view")
}

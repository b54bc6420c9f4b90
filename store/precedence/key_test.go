package precedence

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Keys must be in the order of Compare, for all pages that were seen at the same time.
func TestKey(t *testing.T) {
	standing := rapid.Custom(func(t *rapid.T) Standing {
		return Standing{
			URL:     rapid.SampledFrom([]string{"http://a.test/", "https://a.test/", "http://b.test/", "https://a.test/a/b", "http://b.test/a?b", "a file", ""}).Draw(t, "URL"),
			NoIndex: rapid.Bool().Draw(t, "noindex"), Private: rapid.Bool().Draw(t, "private"), Place: rapid.SampledFrom([]int{-300, -1, 0, 1, 255, 256, 70_000}).Draw(t, "place"),
			Listed: rapid.Bool().Draw(t, "listed"), OtherLang: rapid.Bool().Draw(t, "language"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := standing.Draw(t, "a"), standing.Draw(t, "b")
		want, _ := Compare(&a, &b)
		if got := cmp.Or(bytes.Compare(a.Key(nil), b.Key(nil)), strings.Compare(a.URL, b.URL)); got != want {
			t.Fatalf("%+v and %+v: %d, want %d", a, b, got, want)
		}
	})
}

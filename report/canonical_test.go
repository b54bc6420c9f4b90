package report

import "testing"

func TestCanonicalSentence(t *testing.T) {
	for _, c := range []struct {
		pages int64
		want  string
	}{
		{1, "has a canonical URL whose page has a different canonical URL: http://a.test/1 names http://a.test/2"},
		{2, "have a canonical URL whose page has a different canonical URL; for example, http://a.test/1 names http://a.test/2"},
	} {
		got := Canonical{Why: canonicalChain, Pages: c.pages, URL: "http://a.test/1", Target: "http://a.test/2"}.sentence()
		if got != c.want {
			t.Errorf("%d: got %q, want %q", c.pages, got, c.want)
		}
	}
}

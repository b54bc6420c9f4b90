package dedup

import "testing"

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		similarity float64
		minWords   int
		kind       VerdictKind
		want       string
	}{
		{0.8, 50, Unique, "less than 80% the same as any earlier page"},
		{0.8, 50, Exact, "the same words as another page"},
		{0.95, 50, Near, "at least 95% the same as another page"},
		{0.875, 50, Near, "at least 87.5% the same as another page"},
		{0.8, 50, Thin, "fewer than 50 words, too few to compare"},
		{0.8, 0, Thin, "no words to compare"},
		{0.8, 50, "", ""},
	} {
		if got := (Rule{Similarity: c.similarity, MinWords: c.minWords}).Explain(c.kind); got != c.want {
			t.Errorf("%s at %v, %d words: %q, want %q", c.kind, c.similarity, c.minWords, got, c.want)
		}
	}
}

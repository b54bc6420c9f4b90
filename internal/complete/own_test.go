package complete

import (
	"strings"
	"testing"

	"skink/dedup"
	"skink/store"
)

// What a host repeats is left out at both ends of a text, and nowhere else.
func TestOwn(t *testing.T) {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	w := &Whole{rule: rule, repeated: map[uint64]bool{}}
	var canon dedup.Text
	for _, block := range []string{"You are here", "Parameters", "Subscribe to our letter"} {
		number, _ := rule.Block(&canon, block, "en")
		w.repeated[number] = true
	}
	for text, want := range map[string]string{
		"Subscribe to our letter\nYou are here\nOwn words\nParameters\nMore of them\nSUBSCRIBE to our letter.": "Own words|Parameters|More of them",
		"Own words":                        "Own words",
		"Own words\nYou are here":          "Own words",
		"You are here\n\nOwn words\n* * *": "Own words",
		"You are here\nParameters":         "You are here|Parameters",
		"":                                 "",
	} {
		got, left := w.Own(&store.Content{Text: text, Record: store.Record{Lang: "en"}})
		if got = strings.ReplaceAll(got, "\n", "|"); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
		if lines := strings.Count(text, "\n") - strings.Count(want, "|"); left != lines {
			t.Errorf("of %q: %d lines are left out, want %d", text, left, lines)
		}
	}
}

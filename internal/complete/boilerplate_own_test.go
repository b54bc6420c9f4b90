package complete

import (
	"strings"
	"testing"
	"unicode"

	"skink/dedup"
	"skink/store"
)

// Own removes repeated blocks only at the beginning and the end of a text.
func TestOwn(t *testing.T) {
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", 2)
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
		"Alone\nYou are here":              "Alone|You are here", // with too few words left, nothing is removed
		"":                                 "",
	} {
		got, left, words := w.Own(&store.Content{Text: text, Record: store.Record{Lang: "en"}})
		if got = strings.ReplaceAll(got, "\n", "|"); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
		if lines := strings.Count(text, "\n") - strings.Count(want, "|"); left != lines {
			t.Errorf("of %q: %d lines are left out, want %d", text, left, lines)
		}
		if gone := len(letters(text)) - len(letters(want)); words != gone {
			t.Errorf("of %q: %d words are left out, want %d", text, words, gone)
		}
	}
}

// letters returns the words of a text, which it splits at everything that is not a letter.
func letters(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

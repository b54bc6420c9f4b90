package main

import (
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skink/dedup"
	"skink/extract"
)

// TestElementary checks the published examples.
func TestElementary(t *testing.T) {
	if r := elementary("Текст для сравнения номер один", "Текст для сравнения номер два"); r.score != 25 || r.common != 1 {
		t.Errorf("%+v, want 25: one of two shingles, of four words", r)
	}
	for text, want := range map[string]int32{
		"иметь стройную фигуру":        1184612177,
		"стройную фигуру вы":           -30086073,
		"фигуру вы должны":             -811305747,
		"вы должны заниматься":         -308857406,
		"заниматься спортом правильно": 964071158,
		"спортом правильно питаться":   2144093920,
		"Чтобы иметь стройную":         281830324,
	} {
		if got := int32(crc32.ChecksumIEEE([]byte(text))); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	// ASCII is in lower case, but the capital Ч is kept.
	words := elementaryTokens("Чтобы иметь стройную фигуру, ВЫ Should — и не только!")
	if got := strings.Join(words, " "); got != "Чтобы иметь стройную фигуру ВЫ should не только" {
		t.Errorf("words %q", got)
	}
	if got := crcShingles(words[:4], 3); len(got) != 2 || got[0] != 281830324 || got[1] != 1184612177 {
		t.Errorf("shingles %v", got)
	}
	if len(elementaryWords) != 26 {
		t.Errorf("%d words are dropped", len(elementaryWords))
	}
	if r := elementary("", ""); r.score != 0 {
		t.Errorf("two empty texts: %+v", r)
	}
}

// TestZelenkovSegalovich has an example that was worked out by hand. Eleven content words make two
// shingles, and function words and punctuation between them have no effect.
func TestZelenkovSegalovich(t *testing.T) {
	a := &extract.Document{Lang: "en", Text: "harbour lamp winter keeper stone letter boat window river ladder garden"}
	b := &extract.Document{Lang: "en", Text: "The harbour, and the lamp of winter: a keeper with his stone letter in this boat, the window by the river, a ladder, the garden."}
	if r := zelenkovSegalovich(a, b); r.score != 1 || r.a != 2 || r.b != 2 || r.super != 6 || r.mega != 15 {
		t.Errorf("the same content words: %+v", r)
	}
	b.Text = strings.Replace(b.Text, "river", "ocean", 1)
	if r := zelenkovSegalovich(a, b); r.score != 0 || r.common != 0 || r.super != 0 {
		t.Errorf("a word in every shingle changed: %+v", r)
	}
	if r := zelenkovSegalovich(&extract.Document{}, &extract.Document{}); r.score != 1 {
		t.Errorf("two empty texts: %+v", r)
	}
}

func TestKShingles(t *testing.T) {
	r := kShingles("abcdabd", "abcdabe", dedup.Shingling{Unit: dedup.Chars, K: 2})
	if r.score != 4./6 || r.a != 5 || r.b != 5 || r.common != 4 { // ab, bc, cd and da are in both texts, and bd and be in one text each
		t.Errorf("%+v, want 4 of 6", r)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.txt"), filepath.Join(dir, "two.txt")
	for name, text := range map[string]string{one: "Текст для сравнения номер один", two: "Текст для сравнения номер два"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[string][]string{
		"25.0000%\n2 shingles in A, 2 in B, 1 in both\n":                                                           {"elementary", one, two},
		"0.5000\n3 shingles in A, 3 in B, 2 in both\n":                                                             {"k-shingles", "-k", "3", one, two},
		"1.0000\n1 shingles in A, 1 in B, 1 in both\n6 of 6 super-shingles and 15 of 15 mega-shingles are equal\n": {"zelenkov-segalovich", one, one},
	} {
		var out strings.Builder
		if err := run(&out, args); err != nil || out.String() != want {
			t.Errorf("%v: %v, got %q, want %q", args, err, out.String(), want)
		}
	}
	if err := run(&strings.Builder{}, []string{"simhash", one, two}); err == nil || err.Error() != usage {
		t.Errorf("an unknown system: %v", err)
	}
}

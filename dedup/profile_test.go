package dedup

import (
	"hash/crc32"
	"strings"
	"testing"
)

// TestElementary checks the published examples.
func TestElementary(t *testing.T) {
	if r := Elementary.Score("Текст для сравнения номер один", "Текст для сравнения номер два", ProfileInput{}); r.Score != 25 || r.Common != 1 || r.Unit != "percent" {
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
	got := crcShingles(words[:4], 3)
	if len(got) != 2 || got[0] != 281830324 || got[1] != 1184612177 {
		t.Errorf("shingles %v", got)
	}
	if len(elementaryWords) != 26 {
		t.Errorf("%d words are dropped", len(elementaryWords))
	}
	if r := Elementary.Score("", "", ProfileInput{}); r.Score != 0 {
		t.Errorf("two empty texts: %+v", r)
	}
}

// TestZelenkovSegalovich has an example that was worked out by hand. Eleven content words make two
// shingles, and function words and punctuation between them have no effect.
func TestZelenkovSegalovich(t *testing.T) {
	const a = "harbour lamp winter keeper stone letter boat window river ladder garden"
	const b = "The harbour, and the lamp of winter: a keeper with his stone letter in this boat, the window by the river, a ladder, the garden."
	r := ZelenkovSegalovich.Score(a, b, ProfileInput{LangA: "en", LangB: "en"})
	if r.Score != 1 || r.A != 2 || r.B != 2 || *r.Super != 6 || *r.Mega != 15 {
		t.Errorf("the same content words: %+v", r)
	}
	r = ZelenkovSegalovich.Score(a, strings.Replace(b, "river", "ocean", 1), ProfileInput{LangA: "en", LangB: "en"})
	if r.Score != 0 || r.Common != 0 || *r.Super != 0 {
		t.Errorf("a word in every shingle changed: %+v", r)
	}
}

func TestKShingles(t *testing.T) {
	r := KShingles.Score("abcdabd", "abcdabe", ProfileInput{Shingling: Shingling{Chars, 2}})
	if r.Score != 4./6 || r.A != 5 || r.B != 5 || r.Common != 4 { // ab, bc, cd and da are in both texts, and bd and be in one text each
		t.Errorf("%+v, want 4 of 6", r)
	}
}

// Two empty texts are equal, except for the elementary algorithm, which then has nothing to count.
func TestProfilesOfNothing(t *testing.T) {
	for p, want := range map[Profile]float64{ZelenkovSegalovich: 1, Elementary: 0, KShingles: 1} {
		if r := p.Score("", "", ProfileInput{Shingling: Shingling{Words, 3}}); r.Score != want || r.About == "" || r.Profile != p {
			t.Errorf("%s: %+v", p, r)
		}
	}
}

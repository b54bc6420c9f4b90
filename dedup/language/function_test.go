package language

import (
	"slices"
	"strings"
	"testing"
)

func TestFunctionWord(t *testing.T) {
	for _, test := range []struct{ lang, in, out string }{
		{
			"en", "the a of into and because not it whose everybody herself when one's",
			"be is don't it's very many two house say like oh",
		},
		{
			"ru", "и в во не что чтобы же бы который которыми своего её ее всех обо где ли",
			"быть был человек два очень много можно новый хорошо",
		},
		{
			"es", "el del y pero aunque nosotros vuestra para según cuyas no donde",
			"es está muy dos casa hacer bueno",
		},
		{
			"de", "der und zum nicht weil unser jemanden darüber trotz wohin sondern einander",
			"ist haben sehr zwei haus viel groß immer",
		},
		{
			"fr", "le aux et lorsque dans nous laquelle quelqu'un ne pas où ceux",
			"est avoir très deux maison beaucoup grand l'homme aujourd'hui",
		},
		{
			"it", "il dello e perché nostro chi qualcuno non sugli dove attraverso essi",
			"è avere molto due casa grande fare",
		},
		{
			"pt", "o pelas e embora nosso quem ninguém não daquele onde você à",
			"é ter muito dois casa grande fazer",
		},
		{
			"nl", "de het en omdat zijn iemand niet waarvan tijdens hoe jullie zo'n",
			"is hebben zeer twee huis groot doen",
		},
		{
			"pl", "i w nie że który swojego nikt przez ponieważ gdzie się wszystkimi",
			"jest być bardzo dwa dom duży robić",
		},
		{
			"uk", "і в не що який свого ніхто через оскільки де себе їхній",
			"є бути дуже два дім великий робити",
		},
		{
			"sv", "den och inte eftersom vilken ingen genom vår att när deras själv",
			"är var mycket två hus stor göra",
		},
		{"xx", "", "the и der le"},
		{"", "", "the и der le"},
		{"EN", "", "the"}, // codes are lower-case; see Primary
		{"eng", "", "the"},
		{"~\xff", "", "the"},
	} {
		for word := range strings.FieldsSeq(test.in) {
			if !FunctionWord(test.lang, word) {
				t.Errorf("FunctionWord(%q, %q) = false", test.lang, word)
			}
		}
		for word := range strings.FieldsSeq(test.out) {
			if FunctionWord(test.lang, word) {
				t.Errorf("FunctionWord(%q, %q) = true", test.lang, word)
			}
		}
	}
}

// Pages may write ё as е. Both spellings must be function words.
func TestRussianYo(t *testing.T) {
	for word := range functionWords()["ru"] {
		if e := strings.ReplaceAll(word, "ё", "е"); !FunctionWord("ru", e) {
			t.Errorf("%q is listed, %q is not", word, e)
		}
	}
}

func TestFunctionLanguages(t *testing.T) {
	if !slices.IsSorted(functionLanguages[:]) {
		t.Errorf("%q is not sorted", functionLanguages)
	}
	for _, lang := range functionLanguages {
		if n := len(functionWords()[lang]); n < 150 {
			t.Errorf("%s: only %d function words", lang, n)
		}
	}
}

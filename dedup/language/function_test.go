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
	for word := range functionWords()['r'-'a']['u'-'a'] {
		if e := strings.ReplaceAll(word, "ё", "е"); !FunctionWord("ru", e) {
			t.Errorf("%q is listed, %q is not", word, e)
		}
	}
}

func TestElide(t *testing.T) {
	for _, test := range []struct{ lang, word, want string }{
		{"fr", "l'homme", "homme"},
		{"fr", "d'une", "une"},
		{"fr", "qu'il", "il"},
		{"fr", "jusqu'à", "à"},
		{"fr", "n'y", "y"},
		{"fr", "homme", "homme"},
		{"fr", "aujourd'hui", "aujourd'hui"}, // a single word, although it has an apostrophe
		{"fr", "quelqu'un", "quelqu'un"},
		{"fr", "presqu'île", "presqu'île"},
		{"fr", "c's", "c's"},
		{"fr", "l'", "l'"},
		{"fr", "o'neill", "o'neill"},
		{"it", "dell'arte", "arte"},
		{"it", "un'altra", "altra"},
		{"it", "quest'anno", "anno"},
		{"it", "c'è", "è"},
		{"it", "po'", "po'"},
		{"ca", "l'home", "home"},
		{"en", "d'artagnan", "d'artagnan"},
		{"xx", "l'homme", "l'homme"},
	} {
		if got := Elide(test.lang, test.word); got != test.want {
			t.Errorf("Elide(%q, %q) = %q, want %q", test.lang, test.word, got, test.want)
		}
	}
}

func TestFunctionLanguages(t *testing.T) {
	if !slices.IsSorted(functionLanguages[:]) {
		t.Errorf("%q is not sorted", functionLanguages)
	}
	for _, lang := range functionLanguages {
		if n := len(functionWords()[lang[0]-'a'][lang[1]-'a']); n < 150 {
			t.Errorf("%s: only %d function words", lang, n)
		}
	}
}

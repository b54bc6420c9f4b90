package language

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestFormFiles checks the word files, because they are edited by hand. Each needs a head that
// names source and licence, and sections that are sorted. No word may occur twice, and each must be
// a token of canonical text.
func TestFormFiles(t *testing.T) {
	names, err := fs.Glob(files, "function/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if want := len(functionLanguages); len(names) != want {
		t.Errorf("%d files, want %d", len(names), want)
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n\n")
		for line := range strings.Lines(head) {
			if !strings.HasPrefix(line, "#") {
				t.Errorf("%s: %q in the head", name, line)
			}
		}
		if !strings.Contains(head, "Source: ") || !strings.Contains(head, "Licence: ") {
			t.Errorf("%s: the head names no source or no licence", name)
		}
		checkSections(t, name)
	}
}

type section struct {
	title string
	words []string
}

// readForms reads an embedded file. Words are separated by white space, and a blank line ends a
// section. A line that begins with # is the title of its section. The first section is about the
// file itself and is left out.
func readForms(name string) []section {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded files can always be read
	}
	var sections []section
	for part := range strings.SplitSeq(string(text), "\n\n") {
		var s section
		for line := range strings.Lines(part) {
			if title, ok := strings.CutPrefix(line, "#"); ok {
				s.title = strings.TrimSpace(title)
				continue
			}
			s.words = append(s.words, strings.Fields(line)...)
		}
		if len(s.words) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

func checkSections(t *testing.T, name string) {
	t.Helper()
	in := map[string]string{}
	for _, s := range readForms(name) {
		if s.title == "" {
			t.Errorf("%s: a section without a title", name)
		}
		if !slices.IsSorted(s.words) {
			t.Errorf("%s: %q is not sorted", name, s.title)
		}
		for _, word := range s.words {
			if in[word] != "" {
				t.Errorf("%s: %q in %q and in %q", name, word, in[word], s.title)
			}
			in[word] = s.title
			plain := strings.TrimPrefix(word, "-") // a word with a hyphen is an ending
			if word != strings.ToLower(word) || !norm.NFC.IsNormalString(word) || strings.ContainsAny(plain, "-’.,") {
				t.Errorf("%s: %q is no canonical token", name, word)
			}
		}
	}
}

var formSeeds = []struct{ lang, word string }{
	{"en", "childrens"}, {"en", "uses"}, {"en", "est"}, {"en", "sses"}, {"en", "ies"}, {"en", "'s"}, {"en", "\xffer"},
	{"ru", "новый"}, {"ru", "ся"}, {"ru", "ый"}, {"ru", "ёё"}, {"ru", "\xd0"}, {"fr", "l'"}, {"fr", "'"}, {"it", "dell'd'"},
	{"de", "größe"}, {"es", "imágenes"}, {"pt", "ões"}, {"pl", "ości"}, {"uk", "ості"}, {"sv", "orna"}, {"nl", "a's"}, {"it", "ndosi"}, {"tr", "ğı"}, {"ta", "தமிழ்"}, {"ar", "العربية"}, {"xx", ""},
}

// FuzzForms checks that no function panics or returns an empty word.
func FuzzForms(f *testing.F) {
	for _, seed := range formSeeds {
		f.Add(seed.lang, seed.word)
	}
	f.Fuzz(func(t *testing.T, lang, word string) {
		checkForms(t, lang, word)
	})
}

func checkForms(t *testing.T, lang, word string) {
	t.Helper()
	FunctionWord(lang, word)
}

// TestFormsOfLists makes the checks of FuzzForms with the listed words of every language.
func TestFormsOfLists(t *testing.T) {
	for _, lang := range functionLanguages {
		for word := range functionWords()[lang] {
			checkForms(t, lang, word)
			checkForms(t, lang, word+"s")
			checkForms(t, "en", word+"s")
		}
	}
}

// benchWords holds running text like that of web pages, in English and Russian.
var benchWords = map[string][]string{
	"en": strings.Fields(`the cities of the northern plains were smaller and quieter than those on the coast but their markets
		sold the finest leather goods and children played between the boxes while merchants argued about prices`),
	"ru": strings.Fields(`города северных равнин были меньше и тише чем те что стояли на побережье но на их рынках продавали
		лучшие кожаные изделия и дети играли между ящиками пока купцы спорили о ценах которые менялись`),
}

func benchmarkWords(b *testing.B, do func(lang, word string)) {
	for lang, words := range benchWords {
		b.Run(lang, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				do(lang, words[i])
				if i++; i == len(words) {
					i = 0
				}
			}
		})
	}
}

func BenchmarkFunctionWord(b *testing.B) {
	benchmarkWords(b, func(lang, word string) { FunctionWord(lang, word) })
}

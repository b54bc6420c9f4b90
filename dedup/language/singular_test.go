package language

import "testing"

func TestEnglishSingular(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"cats", "cat"}, {"houses", "house"}, {"sizes", "size"}, {"tables", "table"}, {"cafés", "café"},
		{"cities", "city"}, {"skies", "sky"}, {"movies", "movie"}, {"ties", "tie"},
		{"classes", "class"}, {"boxes", "box"}, {"churches", "church"}, {"wishes", "wish"}, {"caches", "cache"},
		{"heroes", "hero"}, {"shoes", "shoe"}, {"viruses", "virus"}, {"causes", "cause"}, {"quizzes", "quiz"},
		{"knives", "knife"}, {"drives", "drive"}, {"analyses", "analysis"}, {"indices", "index"}, {"criteria", "criterion"},
		{"children", "child"}, {"men", "man"}, {"women", "woman"}, {"feet", "foot"}, {"teeth", "tooth"}, {"mice", "mouse"},
		{"policemen", "policeman"}, {"specimens", "specimen"}, {"specimen", "specimen"},
		{"childrens", "child"}, {"runs", "run"},
		// These are not plurals, or cannot be recognised as such.
		{"glass", "glass"}, {"virus", "virus"}, {"analysis", "analysis"}, {"bus", "bus"}, {"was", "was"}, {"news", "news"},
		{"series", "series"}, {"always", "always"}, {"physics", "physics"}, {"lens", "lens"}, {"people", "people"},
		{"dog's", "dog's"}, {"dogs'", "dogs'"}, {"1990s", "1990s"}, {"s", "s"}, {"", ""},
	} {
		if got := EnglishSingular(test.word); got != test.want {
			t.Errorf("EnglishSingular(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}

func TestPlainSingular(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"cats", "cat"}, {"cities", "city"}, {"dog's", "dog's"}, {"glass", "glass"}, {"cat", "cat"},
		{"boxes", "boxe"}, {"bus", "bu"}, {"series", "sery"}, {"is", "i"}, // wrong, but as published
		{"1990s", "1990"}, {"ies", "y"}, {"s", "s"}, {"", ""},
	} {
		if got := PlainSingular(test.word); got != test.want {
			t.Errorf("PlainSingular(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}

// The table is written by hand, so check that each singular in it is its own singular.
func TestSingularTable(t *testing.T) {
	for plural, singular := range englishPlurals() {
		if got := EnglishSingular(singular); got != singular {
			t.Errorf("%q is %q, whose own singular is %q", plural, singular, got)
		}
	}
}

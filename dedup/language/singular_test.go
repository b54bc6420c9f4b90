package language

import (
	"strings"
	"testing"
)

func TestSingular(t *testing.T) {
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
		if got := Singular("en", test.word); got != test.want {
			t.Errorf("Singular(en, %q) = %q, want %q", test.word, got, test.want)
		}
	}
	for _, lang := range []string{"tr", "xx", ""} {
		if got := Singular(lang, "clases"); got != "clases" {
			t.Errorf("Singular(%q, clases) = %q", lang, got)
		}
	}
}

// TestSingularEndings checks the rules and lists of the other languages, with words that they must
// leave unchanged.
func TestSingularEndings(t *testing.T) {
	for lang, pairs := range map[string]string{
		"es": `casas=casa luces=luz ciudades=ciudad colores=color canciones=canción imágenes=imagen clases=clase noches=noche nombres=nombre jueces=juez
			reyes=rey jóvenes=joven papeles=papel razones=razón lunes=lunes crisis=crisis además=además hacemos=hacemos país=país`,
		"fr": `maisons=maison journaux=journal travaux=travail bateaux=bateau jeux=jeu genoux=genou infirmiers=infirmier yeux=œil temps=temps
			heureux=heureux français=français pays=pays corps=corps prix=prix`,
		"pt": `casas=casa nações=nação pães=pão animais=animal papéis=papel homens=homem flores=flor luzes=luz meses=mês lápis=lápis mais=mais`,
		"it": `nazioni=nazione attori=attore turisti=turista momenti=momento case=casa uomini=uomo fine=fine oggi=oggi città=città`,
		"de": `zeitungen=zeitung möglichkeiten=möglichkeit lehrerinnen=lehrerin häuser=haus wälder=wald autos=auto fragen=frage mädchen=mädchen
			beginnen=beginnen lehrer=lehrer gestern=gestern`,
		"nl": `woningen=woning mogelijkheden=mogelijkheid katten=kat foto's=foto huizen=huis steden=stad docenten=docent binnen=binnen tussen=tussen`,
		"sv": `flickor=flicka tidningar=tidning tidningarna=tidning möjligheter=möjlighet nationer=nation böcker=bok minister=minister stor=stor`,
		"pl": `możliwościami=możliwość organizacje=organizacja studentów=student ludzie=człowiek miasta=miasto zdanie=zdanie panie=panie`,
		"ru": `возможностями=возможность организации=организация решений=решение учителя=учителя писателями=писатель люди=человек города=город мести=мести`,
		"uk": `можливостями=можливість організації=організація працівників=працівник люди=людина міста=місто день=день`,
	} {
		for pair := range strings.FieldsSeq(pairs) {
			plural, want, _ := strings.Cut(pair, "=")
			if got := Singular(lang, plural); got != want {
				t.Errorf("Singular(%q, %q) = %q, want %q", lang, plural, got, want)
			}
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
		if got := Singular("en", singular); got != singular {
			t.Errorf("%q is %q, whose own singular is %q", plural, singular, got)
		}
	}
}

package language

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// # Russian adjectives
//
// A Russian adjective is recognized by its ending, and then by the stem before the ending. An
// ending alone is weak evidence: "новой" is an adjective and "войной" a noun, "важная" an adjective
// and "зная" a verb, "синий" an adjective and "знаний" a noun. So there are two kinds of stems. The
// few hundred plain stems in adjectives/ru.txt take any ending. Any other stem must have a suffix
// that makes adjectives (-н- after a consonant, -ск-, -ющ-, ...), and each suffix has the endings
// that are safe after it. Stems of nouns that would pass are listed in the same file.
//
// Participles decline like adjectives and count as such, as do the comparative in -нее and surnames
// in -ский. Short forms (важен, важно) do not: they are predicates or adverbs. Ordinals and other
// numerals do not count either.
//
// The error rates given at [Adjective] were measured on words, not on running text.

// longest first
var russianEndings = [...]string{
	"ого", "его", "ому", "ему", "ыми", "ими",
	"ою", "ею", // old forms of the endings ой and ей
	"ый", "ий", "ой", "ей", "ая", "яя", "ое", "ее", "ые", "ие", "ую", "юю", "ым", "им", "ом", "ем", "ых", "их",
}

// After most suffixes, these endings prove that a word is an adjective: nouns and verbs do not have
// them there.
const (
	hardSafe  = " ый ое ые ого ому ым ых ыми ую "
	hardAll   = hardSafe + "ая ой ом "
	velarSafe = " ий ие ого ому им их ими ую "
	velarAll  = velarSafe + "ая ое ой ом "
	softAll   = " ий ая ее ие его ему им ем ей ую их ими "
)

// russianSuffixes lists the suffixes that make an adjective. Each is listed with the endings that,
// after this suffix, prove that the word is an adjective. If a stem ends in several of the
// suffixes, the first one listed decides.
var russianSuffixes = [...]struct{ suffix, endings string }{
	{"ращ", ""}, {"тащ", ""}, // the verb forms обращая and вытащим are not adjectives
	{"овн", " ый ая ое ые ого ому ым ом ую ых ыми ее "}, {"евн", " ый ая ое ые ого ому ым ом ую ых ыми ее "}, // not adjectives: patronymics like Петровной
	{"еньк", velarSafe + "ая ое "}, // беленькая; not an adjective: маменькой
	{"ческ", velarAll}, {"ейск", velarAll}, {"цк", velarAll},
	{"ющ", softAll}, {"ущ", softAll}, {"ящ", softAll}, {"ащ", softAll}, {"вш", softAll}, // suffixes of participles
	{"ейш", softAll}, {"айш", softAll}, // suffixes of superlatives
	{"ем", hardSafe}, {"им", hardSafe}, // passive participles; not adjectives: системой, принимая
	{"нут", hardSafe}, {"нят", hardSafe}, {"крыт", hardSafe},
	{"лив", hardSafe}, {"чив", hardSafe}, // not adjectives, for example: оливой, заканчивая
	{"ов", " ый ая ое ые ого ому ых ыми ую "}, // not adjectives: головой, словом, Ивановым
	{"ев", " ый ое ые ого ому ых ыми ую "},    // not an adjective, for example: одевая
	{"оват", hardSafe}, {"еват", hardSafe}, {"чат", hardSafe}, {"ист", hardSafe},
	{"ен", hardSafe}, {"ан", hardSafe}, {"ян", hardSafe}, // not adjectives, for example: стеной, планом
}

func isRussianAdjective(word string) bool {
	if strings.Contains(word, "ё") {
		word = strings.ReplaceAll(word, "ё", "е")
	}
	reflexive := false
	if cut, ok := strings.CutSuffix(word, "ся"); ok { // учащийся is an adjective, but учился is not
		word, reflexive = cut, true
	}
	stem, ending := cutRussianEnding(word)
	if utf8.RuneCountInString(stem) < 2 {
		return false
	}
	if reflexive {
		return takes(softAll, ending) && isActiveParticiple(stem)
	}
	known := russianStems()
	if known.never[stem] || known.nouns[stem] && (ending == "ой" || ending == "ом") {
		return false
	}
	if known.adjectives[stem] {
		return agrees(stem, ending)
	}
	return bySuffix(stem, ending)
}

func isActiveParticiple(stem string) bool {
	for _, suffix := range [...]string{"ющ", "ущ", "ящ", "ащ", "вш", "ш"} {
		if strings.HasSuffix(stem, suffix) {
			return true
		}
	}
	return false
}

func cutRussianEnding(word string) (stem, ending string) {
	for _, e := range russianEndings {
		if stem, ok := strings.CutSuffix(word, e); ok {
			switch e {
			case "ою":
				e = "ой"
			case "ею":
				e = "ей"
			}
			return stem, e
		}
	}
	return "", ""
}

// agrees reports whether a listed stem can have an ending. After к, г, х, ж, ч, ш and щ, the ending
// has и instead of ы. After other letters, и indicates a noun (занятие) or a verb (любим).
// Exceptions are син- and the soft stems, which all end in н after a consonant.
func agrees(stem, ending string) bool {
	last, size := utf8.DecodeLastRuneInString(stem)
	before, _ := utf8.DecodeLastRuneInString(stem[:len(stem)-size])
	switch {
	case strings.ContainsRune("кгх", last):
		return takes(velarAll, ending)
	case strings.ContainsRune("жчшщ", last):
		return takes(softAll, ending) || takes(" ой ом ого ому ое ", ending) // as in большой
	case last == 'н' && !isRussianVowel(before) || stem == "син":
		return true
	}
	return takes(hardAll, ending) || ending == "ее"
}

func bySuffix(stem, ending string) bool {
	for _, s := range russianSuffixes {
		if before, ok := strings.CutSuffix(stem, s.suffix); ok {
			return utf8.RuneCountInString(before) >= 2 && takes(s.endings, ending)
		}
	}
	last, size := utf8.DecodeLastRuneInString(stem)
	before, _ := utf8.DecodeLastRuneInString(stem[:len(stem)-size])
	if isRussianVowel(before) || utf8.RuneCountInString(stem) < 3 {
		return false
	}
	switch last {
	case 'н': // важная, крупнее, and with soft endings летний; not adjectives: кухней, объясняя, объясним
		return takes(hardAll, ending) || takes(" ее ий ие его ему их юю ", ending)
	case 'ш': // возникший, ушедшая; not adjectives: фарш, марш
		return strings.ContainsRune("бгдзкпстх", before) && takes(softAll, ending)
	case 'к': // русский, городской, краткий; not adjectives: поездкой, игроком
		return takes(velarSafe, ending) || before == 'с' && takes(velarAll, ending) && !vowelBeforeSk(stem)
	}
	return false
}

// vowelBeforeSk reports whether a stem in -ск has a vowel before it, as in the nouns маской and
// диском and the verb form опуская. The adjectives городской and русском have a consonant there.
func vowelBeforeSk(stem string) bool {
	stem, _ = strings.CutSuffix(stem, "ск")
	last, _ := utf8.DecodeLastRuneInString(stem)
	return isRussianVowel(last)
}

func isRussianVowel(r rune) bool { return strings.ContainsRune("аеиоуыэюя", r) }

func takes(list, ending string) bool {
	if ending == "" {
		return false
	}
	for i := 0; ; {
		j := strings.Index(list[i:], ending)
		if j < 0 {
			return false
		}
		i += j + len(ending)
		if list[i] == ' ' && list[i-len(ending)-1] == ' ' {
			return true
		}
	}
}

type russianLists struct{ adjectives, nouns, never map[string]bool }

var russianStems = sync.OnceValue(func() russianLists {
	sections := readForms("adjectives/ru.txt")
	return russianLists{adjectives: setOf(sections[0].words), nouns: setOf(sections[1].words), never: setOf(sections[2].words)}
})

// Package language says which language a text is in. It is pure, and holds what the project knows
// of single languages.
//
// [Detect] looks at the script first: Greek letters are Greek, kana are Japanese. Latin and
// Cyrillic letters are written in by dozens of languages; there the function words decide, which
// every running text is full of. It refuses to guess from a few words: a heading is in no language.
package language

import "strings"

// Primary normalises a language tag (BCP 47) to its primary subtag: "en-US" and "EN_us" are "en".
// What is no tag is "".
func Primary(tag string) string {
	tag = strings.TrimSpace(tag)
	if i := strings.IndexAny(tag, "-_,; \t"); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) < 2 || len(tag) > 3 {
		return ""
	}
	tag = strings.ToLower(tag)
	for i := range len(tag) {
		if tag[i] < 'a' || tag[i] > 'z' {
			return ""
		}
	}
	switch tag {
	case "und", "mul", "zxx", "mis": // undetermined, several, none, uncoded: ISO 639-2
		return ""
	}
	if short, ok := twoLetters[tag]; ok {
		return short
	}
	return tag
}

// twoLetters holds the three-letter codes of ISO 639-2 that pages are declared with although a
// two-letter code exists.
var twoLetters = map[string]string{
	"eng": "en", "rus": "ru", "spa": "es", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "ita": "it", "por": "pt",
	"nld": "nl", "dut": "nl", "pol": "pl", "ukr": "uk", "swe": "sv", "jpn": "ja", "zho": "zh", "chi": "zh", "kor": "ko",
	"ara": "ar", "heb": "he", "ell": "el", "gre": "el", "tur": "tr",
}

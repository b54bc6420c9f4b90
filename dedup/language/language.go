// Package language detects the language of a text. It does no I/O. Everything that the project knows
// about individual languages is here.
//
// [Detect] looks at the script first: Greek letters mean Greek, and kana mean Japanese. Dozens of
// languages use Latin and Cyrillic letters. For languages that share a script, the function words
// decide, because all running text is full of them. Detect does not guess from a few words: for a
// heading in a shared script, it returns no language.
package language

import "strings"

// Primary normalizes a language tag (BCP 47) to its primary subtag: "en-US" and "EN_us" become
// "en". It returns "" for a string that is not a tag.
func Primary(tag string) string {
	tag = strings.TrimSpace(tag)
	if i := strings.IndexAny(tag, "-_,; \t"); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) < 2 || len(tag) > 3 {
		return ""
	}
	tag = strings.ToLower(tag)
	if strings.ContainsFunc(tag, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return ""
	}
	switch tag {
	case "und", "mul", "zxx", "mis": // ISO 639-2 codes for undetermined, multiple, no and uncoded languages
		return ""
	}
	if short, ok := twoLetters[tag]; ok {
		return short
	}
	return tag
}

// twoLetters maps three-letter codes of ISO 639-2 to two-letter codes. Some pages use the longer
// code although a shorter one exists.
var twoLetters = map[string]string{
	"eng": "en", "rus": "ru", "spa": "es", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "ita": "it", "por": "pt",
	"nld": "nl", "dut": "nl", "pol": "pl", "ukr": "uk", "swe": "sv", "jpn": "ja", "zho": "zh", "chi": "zh", "kor": "ko",
	"ara": "ar", "heb": "he", "ell": "el", "gre": "el", "tur": "tr",
}

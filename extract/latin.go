package extract

import "strings"

// The letters beyond ASCII that each language is written with, as its alphabet has them (é, í and
// the like where its spelling marks stress). Western ones are in windows-1252, Eastern ones in ISO
// 8859-2 and windows-1250.
var (
	western = []string{
		"àâæçéèêëîïôœùûüÿ", // French
		"äöüß",             // German
		"áéíñóúü",          // Spanish
		"áâãàçéêíóôõúü",    // Portuguese
		"àçèéíïòóúü",       // Catalan
		"àèéìíîòóùú",       // Italian
		"åäöé",             // Swedish, Finnish
		"æøåéóò",           // Danish, Norwegian
		"áæéíðóöúþý",       // Icelandic
		"éëïöüáóíè",        // Dutch
	}
	eastern = []string{
		"ąćęłńóśźż",         // Polish
		"áčďéěíňóřšťúůýž",   // Czech
		"áäčďéíĺľňóôŕšťúýž", // Slovak
		"áéíóöőúüű",         // Hungarian
		"ăâîşţ",             // Romanian
		"čćđšž",             // Croatian, Slovene
	}
)

// latin chooses between the Western and the Eastern single-byte encodings of Latin letters, by the
// alphabet that spells most of the text's letters beyond ASCII. The guesser cannot: it names both
// alike, and between languages that tie it takes whichever it finished first. Where nothing tells
// them apart, as in "café", the answer is windows-1252, the standard's.
func latin(sample []byte) string {
	east := "iso-8859-2"
	if hasC1(sample) {
		east = "windows-1250"
	}
	if spelled(decodeAs(sample, east), eastern) > spelled(decodeAs(sample, "windows-1252"), western) {
		return east
	}
	return "windows-1252"
}

// spelled counts the letters beyond ASCII that the best fitting of the alphabets has.
func spelled(text []byte, alphabets []string) int {
	counts := make(map[rune]int)
	for _, r := range strings.ToLower(string(text)) {
		if r >= 0x80 {
			counts[r]++
		}
	}
	best := 0
	for _, alphabet := range alphabets {
		n := 0
		for _, r := range alphabet {
			n += counts[r]
		}
		best = max(best, n)
	}
	return best
}

package extract

import "strings"

// These are the non-ASCII letters of each language's alphabet. Accented vowels are included if the
// language uses them to mark stress. Western languages are written in windows-1252, Eastern ones in
// ISO 8859-2 or windows-1250.
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

// latin chooses between windows-1252 (Western) and ISO 8859-2 or windows-1250 (Eastern). It decodes
// the sample both ways, and chooses the encoding for which some alphabet contains more of the
// non-ASCII letters. The result replaces that of chardet, which cannot tell these encodings apart.
// In a tie, as for "café", the result is windows-1252, the standard's default.
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

// spelled returns the number of non-ASCII letters in text that belong to the best-fitting alphabet.
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

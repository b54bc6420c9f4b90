package language

import "unicode"

// StandsAlone reports whether a letter belongs to a script that is written without spaces between
// words: Han, kana, Thai, Lao or Khmer. Each such letter counts as a word, as in the canonical text
// of package dedup.
func StandsAlone(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r < 0xf00, 0x1780 <= r && r < 0x1800, 0x3040 <= r && r < 0x3100, 0x3400 <= r && r < 0xa000, 0xf900 <= r && r < 0xfb00, 0x20000 <= r && r < 0x40000:
		return unicode.IsLetter(r) || unicode.IsMark(r)
	}
	return false
}

package language

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// # Language detection
//
// Letters are counted by script. A script used by only one language on the web identifies that
// language: Hangul, kana, Thai, Hebrew, Greek and so on. Han is Japanese if mixed with enough kana,
// and Chinese otherwise. Letters of the Arabic script that Arabic itself does not use indicate
// Persian or Urdu. Many languages use Latin and Cyrillic letters, so for these scripts function
// words are counted. A language's score is the number of words in the text that are in its list. A
// word in several lists counts for each of them. The result is sure only if the best language has a
// fair share of the text and a clear lead over the second.
//
// Known weaknesses: a language without a list looks like its neighbor (Norwegian and Danish like
// Swedish, Bulgarian like Russian). Requiring a lead and a share usually catches this, but not
// always. So a declared language should override an unsure result.

const (
	sampled   = 10000 // number of bytes examined; more would not change the result
	minWords  = 20    // a Latin or Cyrillic text with fewer words gets no result
	fairShare = 0.20  // minimum share of function words for a sure result; running text has 0.35 to 0.5, a list of names under 0.1
	clearLead = 0.75  // for a sure result, the second language may have at most this share of the best language's count
	someShare = 0.08  // minimum share of function words for any result
)

// Detect returns the ISO 639-1 code of a text's language, or "" if it cannot tell. If sure is true,
// the result should override a declared language.
func Detect(text string) (lang string, sure bool) {
	if len(text) > sampled {
		text = strings.ToValidUTF8(text[:sampled], "")
	}
	c := count(text)
	if lang := c.names(); lang != "" {
		return lang, c.letters >= 10
	}
	switch {
	case c.latin*2 > c.letters:
		return c.byWords(latin)
	case c.cyrillic*2 > c.letters:
		return c.byWords(cyrillic)
	}
	return "", false
}

// Detects reports whether [Detect] can find the language with this ISO 639-1 code. Detect may take another language,
// such as Slovak, for a similar one.
func Detects(lang string) bool {
	return slices.Contains(languages[:], lang) || strings.Contains(byScript, " "+lang+" ")
}

const byScript = " ar fa ur ja zh ko el he th hi bn ta te kn ml gu pa si ka hy am km lo my bo "

type counts struct {
	scripts
	words    int
	function [len(languages)]int // number of the text's words that are in the list of each language
}

// count counts the letters and words of a text. A word consists of letters, marks and apostrophes.
// Words of ASCII letters, which make up most text, take a fast path without a call for each letter.
func count(text string) (c counts) {
	index := index()
	start, key := 0, uint64(0)
	wide := 0  // number of non-ASCII bytes in the current word
	ascii := 0 // number of ASCII bytes in all words
	for i := 0; ; {
		if i < len(text) {
			if l := asciiLower[text[i]]; l != 0 {
				key = key<<8 | uint64(l)
				i++
				continue
			}
		}
		size := 1
		if i < len(text) && text[i] >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(text[i:]); 'А' <= r && r <= 'я' || unicode.IsLetter(r) || unicode.IsMark(r) { // test the usual Cyrillic letters first, because the tables of package unicode are slow
				c.add(r)
				wide += size
				i += size
				continue
			}
		}
		if i > start {
			c.words++
			ascii += i - start - wide
			var in langSet
			if word := text[start:i]; wide == 0 {
				in = index.find(key, word)
			} else if len(word) <= longest {
				var lower [longest]byte
				low := appendLower(lower[:0], word)
				in = index.find(keyOf(low), string(low))
			}
			for ; in != 0; in &= in - 1 {
				c.function[bits.TrailingZeros64(uint64(in))]++
			}
		}
		if i == len(text) {
			ascii -= strings.Count(text, "'") // apostrophes were counted as letters
			c.latin += ascii
			c.letters += ascii
			return c
		}
		i += size
		start, key, wide = i, 0, 0
	}
}

// asciiLower maps ASCII letters to lower case, and the apostrophe to itself. It maps other bytes,
// which end a word, to 0.
var asciiLower = func() (lower [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		lower[c], lower[c-'a'+'A'] = c, c
	}
	lower['\''] = '\''
	return lower
}()

type scripts struct {
	letters                          int
	latin, cyrillic                  int
	han, kana, hangul, arabic, farsi int
	urdu                             int
	others                           [len(ownScript)]int
}

// ownScript maps each script to the only language that uses it on the web, or to the language that
// uses it far more often than any other.
var ownScript = [...]struct {
	lang  string
	table *unicode.RangeTable
}{
	{"el", unicode.Greek}, {"he", unicode.Hebrew}, {"th", unicode.Thai}, {"hi", unicode.Devanagari},
	{"bn", unicode.Bengali}, {"ta", unicode.Tamil}, {"te", unicode.Telugu}, {"kn", unicode.Kannada}, {"ml", unicode.Malayalam},
	{"gu", unicode.Gujarati}, {"pa", unicode.Gurmukhi}, {"si", unicode.Sinhala}, {"ka", unicode.Georgian}, {"hy", unicode.Armenian},
	{"am", unicode.Ethiopic}, {"km", unicode.Khmer}, {"lo", unicode.Lao}, {"my", unicode.Myanmar}, {"bo", unicode.Tibetan},
}

func (s *scripts) add(r rune) {
	s.letters++
	switch {
	case r < 0x250:
		s.latin++
	case 0x400 <= r && r < 0x530:
		s.cyrillic++
	case 0x600 <= r && r < 0x780:
		s.arabic++
		switch r {
		case 'پ', 'چ', 'ژ', 'گ', 'ک', 'ی':
			s.farsi++
		case 'ٹ', 'ڈ', 'ڑ', 'ے', 'ں', 'ہ':
			s.urdu++
		}
	case 0x3040 <= r && r < 0x3100:
		s.kana++
	case 0xac00 <= r && r < 0xd7b0 || 0x1100 <= r && r < 0x1200:
		s.hangul++
	case unicode.Is(unicode.Han, r):
		s.han++
	default:
		for i := range ownScript {
			if unicode.Is(ownScript[i].table, r) {
				s.others[i]++
				break
			}
		}
	}
}

// names returns the language that the scripts alone identify, or "". A third of the letters is
// enough, for two reasons. Product names and code are Latin in every language, and one Han
// character carries as much meaning as three Latin letters.
func (s *scripts) names() string {
	third := s.letters / 3
	switch {
	case s.letters == 0:
		return ""
	case s.han+s.kana > third && s.kana*20 > s.han:
		return "ja"
	case s.han > third:
		return "zh"
	case s.hangul > third:
		return "ko"
	case s.arabic > third && s.urdu*20 > s.arabic:
		return "ur"
	case s.arabic > third && s.farsi*20 > s.arabic:
		return "fa"
	case s.arabic > third:
		return "ar"
	}
	for i, n := range s.others {
		if n > third {
			return ownScript[i].lang
		}
	}
	return ""
}

// byWords returns the language in among with the most function words in the text.
func (c *counts) byWords(among langSet) (lang string, sure bool) {
	if c.words < minWords {
		return "", false
	}
	best, second, of := 0, 0, -1
	for i, n := range c.function {
		switch {
		case among&(1<<i) == 0 || n == 0:
		case n > best:
			best, second, of = n, best, i
		case n > second:
			second = n
		}
	}
	if of < 0 || float64(best) < someShare*float64(c.words) || best == second {
		return "", false
	}
	return languages[of], float64(best) >= fairShare*float64(c.words) && float64(second) < clearLead*float64(best)
}

// appendLower appends word in lower case to dst. Unlike strings.ToLower, it allocates no string. No
// letter in the lists takes more bytes in UTF-8 when it is lower-cased.
func appendLower(dst []byte, word string) []byte {
	for _, r := range word {
		if r < utf8.RuneSelf {
			if 'A' <= r && r <= 'Z' {
				r |= 0x20
			}
			dst = append(dst, byte(r))
			continue
		}
		if 'а' <= r && r <= 'я' { // already lower case
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

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

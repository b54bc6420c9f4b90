package dedup

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// These are the classes of a byte at the beginning of a word or character.
const (
	other = iota // anything that needs the full rules
	gap          // an ASCII byte that is not part of a word
	letter
	digit
	lead  // the first byte of a two-byte character
	quote // the ASCII apostrophe, which joins two letters or two digits into one word
)

var class = func() (c [256]byte) {
	for b := range 128 {
		c[b] = gap
	}
	for b := byte('a'); b <= 'z'; b++ {
		c[b], c[b-'a'+'A'] = letter, letter
	}
	for b := byte('0'); b <= '9'; b++ {
		c[b] = digit
	}
	for b := 0xC2; b <= 0xDF; b++ {
		c[b] = lead
	}
	c['\''] = quote
	return c
}()

// lower maps a two-byte character (U+0080 to U+07FF) that is a plain letter to the two bytes of its
// lower-case form, the first in the low half. It maps all other characters to 0. A plain letter is
// an alphabetic letter of the Latin, Greek or Cyrillic script. NFKC must leave both the letter and
// its lower case unchanged.
var lower = func() (l [0x800]uint16) {
	for r := rune(0xC0); r < 0x530; r++ {
		low := unicode.ToLower(r)
		if unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && unicode.IsLetter(r) && 0x80 <= low && low < 0x800 &&
			norm.NFKC.IsNormalString(string(r)) && norm.NFKC.IsNormalString(string(low)) {
			l[r] = binary.LittleEndian.Uint16([]byte(string(low)))
		}
	}
	return l
}()

// fold maps ASCII letters and digits to lower case, and all other bytes to 0.
var fold = func() (f [256]byte) {
	for b := range 128 {
		switch class[b] {
		case letter:
			f[b] = byte(b) | 0x20
		case digit:
			f[b] = byte(b)
		}
	}
	return f
}()

// plainWord reads the word at the beginning of text, and returns its length in bytes. It returns 0
// if text does not begin with a word, or if the tables of this file cannot decide where the word
// ends.
func (t *Text) plainWord(text []byte) int {
	canon := t.separated()
	last := gap
	i := 0
	for i < len(text) {
		b := text[i]
		if low := fold[b]; low != 0 {
			canon = append(canon, low)
			last = int(class[b])
			i++
			continue
		}
		if low := lowerOf(text[i:]); low != 0 {
			canon = append(canon, byte(low), byte(low>>8))
			last = letter
			i += 2
			continue
		}
		if class[b] == gap {
			break
		}
		n, plain := joint(text[i:], last)
		if !plain {
			return 0
		}
		if n == 0 {
			break
		}
		canon = append(canon, '\'')
		i += n
	}
	if last == gap {
		return 0
	}
	start := len(t.canon)
	t.canon = canon
	t.end(start)
	return i
}

// lowerOf returns the entry in lower for the character at the beginning of text, or 0 if that is
// not a valid two-byte character.
func lowerOf(text []byte) uint16 {
	if len(text) < 2 || class[text[0]] != lead || text[1]&0xC0 != 0x80 {
		return 0
	}
	return lower[int(text[0]&0x1F)<<6|int(text[1]&0x3F)]
}

// joint decides whether a word continues. text is the text after the characters read so far, and
// last is the class of the last character read. n is the length in bytes of an apostrophe that
// joins the word to the next character, or 0 if the word has ended. plain is false if the tables in
// this file cannot decide, so the full rules must read the word.
func joint(text []byte, last int) (n int, plain bool) {
	switch {
	case text[0] == '\'':
		n = 1
	case bytes.HasPrefix(text, []byte("’")) && last == letter:
		n = len("’")
	default:
		return 0, class[text[0]] == gap || plainGap(text) > 0
	}
	if len(text) == n {
		return 0, true
	}
	switch next, plain := nextClass(text[n:]); {
	case !plain:
		return 0, false
	case next == last && last != gap:
		return n, true
	}
	return 0, true
}

// nextClass returns the class of the character at the beginning of text: letter, digit or gap.
// plain is false if the tables of this file do not cover the character.
func nextClass(text []byte) (c int, plain bool) {
	switch k := class[text[0]]; k {
	case letter, digit:
		return int(k), true
	case lead:
		if lowerOf(text) != 0 {
			return letter, true
		}
		return gap, plainGap(text) > 0
	case other:
		return gap, plainGap(text) > 0
	}
	return gap, true
}

// plainGap returns the length of the character at the beginning of text if it is a common non-ASCII
// character that always ends a word: the no-break space, quotation marks, dashes, the ellipsis.
// Otherwise it returns 0.
func plainGap(text []byte) int {
	r, n := utf8.DecodeRune(text)
	switch r {
	case 0xA0, '«', '»', '©', '®', '°', '±', '§', '–', '—', '“', '”', '„', '…', '•', '→', '、', '。':
		return n
	}
	return 0
}

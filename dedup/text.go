package dedup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"

	"skink/base/splitmix"
)

// # Canonical text
//
// Texts are compared by their tokens. A token is a word by Unicode's rules (UAX #29), in
// compatibility form (NFKC), lower-cased, without invisible characters. The standard invites
// tailoring, and we tailor its rules in three ways:
//
//   - Only an apostrophe joins letters or digits into one word. By UAX #29, a full stop, a colon, a
//     comma or an underscore joins them too ("example.com", "3.14", "end.Next"). Copies of a page
//     differ in such spots: a space is lost after a full stop, a number gets a different separator.
//     For the 1,490 pairs of licences with resemblance .5 or more, we compared the resemblance with
//     the one computed from plain runs of letters and digits. The average difference is .013 with
//     the published rules, and .003 with ours.
//   - Every apostrophe is written ', since typewriters and typesetters spell one
//     word differently.
//   - Scripts without spaces between words (Han, Kana, Thai, Lao, Khmer) produce a token for each
//     character, with the marks that belong to it. So does Hangul, whose words carry endings that
//     change.
//
// Nearly all words on the web are plain runs of Latin, Greek or Cyrillic letters, which plainWord reads
// with tables. If it cannot read a word, the full rules read it again from its first byte. The tests
// compare the two with each other.
//
// Known weaknesses: "U.S." is two tokens, "C++" and "C#" are both "c", and a word hyphenated at the
// end of a line is two.

// A Text is the canonical form of a text. Its zero value is empty and ready to use. Calling Read
// again reuses the memory.
type Text struct {
	canon  []byte // the tokens, joined by one space
	ends   []int
	tokens []uint64
	runes  []uint64 // reused by chars

	shingles []uint64 // reused by Set
	text     []byte   // reused by ReadString

	places []Span // position of each token in the text, if locate is set
	locate bool   // Read records positions; see Locate

	iter *words.Iterator[[]byte]
	norm []byte
	low  []byte
}

// A Span is a range of bytes in a text.
type Span struct{ Start, End int }

// Locate makes later calls to Read record the position of each token, for [Text.Span].
func (t *Text) Locate() { t.locate = true }

// Span returns the position of the i-th token, from 0, in the text that was read. [Text.Locate]
// must have been called before Read. If several tokens come from one word, each has the span of the
// whole word.
func (t *Text) Span(i int) Span { return t.places[i] }

// Read splits text into tokens, which replace the content of t.
func (t *Text) Read(text []byte) {
	t.canon, t.ends, t.tokens, t.places = t.canon[:0], t.ends[:0], t.tokens[:0], t.places[:0]
	for i := 0; i < len(text); {
		if class[text[i]] == gap {
			i++
			continue
		}
		n := t.plainWord(text[i:])
		if n == 0 {
			n = plainGap(text[i:])
		}
		if n == 0 {
			n = t.segment(text[i:])
		}
		t.place(i, i+n)
		i += n
	}
}

// ReadString is Read of a string.
func (t *Text) ReadString(text string) {
	t.text = append(t.text[:0], text...)
	t.Read(t.text)
}

// place records the bytes from start to end as the position of all tokens that have no position
// yet.
func (t *Text) place(start, end int) {
	if t.locate {
		t.placeAll(start, end)
	}
}

func (t *Text) placeAll(start, end int) {
	for len(t.places) < len(t.tokens) {
		t.places = append(t.places, Span{start, end})
	}
}

// Len returns the number of tokens.
func (t *Text) Len() int { return len(t.tokens) }

// Numbers returns a 64-bit hash for each token. Equal tokens have equal numbers. The slice is valid
// until the next Read.
func (t *Text) Numbers() []uint64 { return t.tokens }

// Bytes returns the canonical text: the tokens joined by one space. It is valid until the next
// Read.
func (t *Text) Bytes() []byte { return t.canon }

// Token returns the i-th token.
func (t *Text) Token(i int) string { return string(t.Run(i, 1)) }

// Run returns the n tokens from the i-th on, joined by one space. It is a part of [Text.Bytes].
func (t *Text) Run(i, n int) []byte {
	start := 0
	if i > 0 {
		start = t.ends[i-1] + 1
	}
	return t.canon[start:t.ends[i+n-1]]
}

// chars returns a hash for each character of the canonical text. The result is valid until the next
// call.
func (t *Text) chars() []uint64 {
	t.runes = t.runes[:0]
	for _, r := range string(t.canon) {
		t.runes = append(t.runes, splitmix.Mix(uint64(r)))
	}
	return t.runes
}

// Hash returns the hash of the canonical text. Texts that differ only in case, punctuation, layout
// or markup have the same hash.
func (t *Text) Hash() Hash { return HashOf(t.canon) }

// end records canon[start:] as a new token. Unless it is the first one, the byte at start is the
// space before the token and not part of it.
func (t *Text) end(start int) {
	if len(t.tokens) > 0 {
		start++
	}
	t.ends = append(t.ends, len(t.canon))
	t.tokens = append(t.tokens, hashToken(t.canon, start))
}

func (t *Text) separated() []byte {
	if len(t.tokens) > 0 {
		return append(t.canon, ' ')
	}
	return t.canon
}

// hashToken hashes canon[start:]. A token of up to eight bytes fits in 64 bits, and splitmix.Mix is
// a permutation, so two different tokens of this kind never have the same hash. Longer tokens are
// hashed by xxh3.
func hashToken(canon []byte, start int) uint64 {
	n := len(canon) - start
	switch {
	case n > 8:
		return xxh3.Hash(canon[start:])
	case len(canon) >= 8: // load the last eight bytes of canon, and shift out those before the token
		return splitmix.Mix(binary.LittleEndian.Uint64(canon[len(canon)-8:]) >> ((64 - 8*n) & 63))
	}
	var word [8]byte
	copy(word[:], canon[start:])
	return splitmix.Mix(binary.LittleEndian.Uint64(word[:]))
}

// segment reads the first segment of text by the word rules of UAX #29, and returns its length in
// bytes. If the segment is a word, its tokens are appended.
func (t *Text) segment(text []byte) int {
	if t.iter == nil {
		t.iter = words.FromBytes(nil)
	}
	t.iter.SetText(text)
	if !t.iter.Next() {
		return len(text)
	}
	word := t.iter.Value()
	n := len(word)
	if isWord(word) {
		t.word(word)
	}
	return n
}

func isWord(segment []byte) bool {
	for i := 0; i < len(segment); {
		r, n := utf8.DecodeRune(segment[i:])
		if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
			return true
		}
		i += n
	}
	return false
}

func (t *Text) word(word []byte) {
	if !norm.NFKC.IsNormal(word) {
		t.norm = norm.NFKC.Append(t.norm[:0], word...)
		word = t.norm
	}
	t.low = t.low[:0]
	alone := false // whether t.low contains a character that is a token by itself
	for i := 0; i < len(word); {
		r, n := utf8.DecodeRune(word[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1, unicode.Is(unicode.Cf, r):
			continue // r is an invalid byte or an invisible character
		case unicode.Is(unicode.M, r):
			if len(t.low) == 0 {
				continue // skip a combining mark without a character before it
			}
		case perCharacter(r):
			t.flush()
			alone = true
		case unicode.IsLetter(r), unicode.IsNumber(r):
			if alone {
				t.flush()
			}
			alone = false
		case r == '\'', r == '’', r == '‘', r == 'ʼ':
			r = '\''
		default:
			t.flush()
			continue
		}
		t.low = utf8.AppendRune(t.low, unicode.ToLower(r))
	}
	t.flush()
}

// flush appends t.low as a token, without apostrophes at its ends, and empties t.low. It appends
// nothing if t.low has no letter or number.
func (t *Text) flush() {
	if low := bytes.Trim(t.low, "'"); isWord(low) {
		start := len(t.canon)
		t.canon = append(t.separated(), low...)
		t.end(start)
	}
	t.low = t.low[:0]
}

func perCharacter(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer) ||
		r == 'ー' // the long vowel mark is used with both kinds of kana, so it is in neither of their tables
}

// A Hash identifies a text or a URL. It is the first 128 bits of the SHA-256 digest, written as
// lower-case hex. Anyone can recompute a SHA-256, and forging one is infeasible. With 128 bits, a
// chance collision needs some 10^19 pages.
type Hash [16]byte

// HashOf returns the hash of b.
func HashOf(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(sum[:16])
}

// IsZero reports whether h is the zero value, which means that it was not set.
func (h Hash) IsZero() bool { return h == Hash{} }

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns h as 32 lower-case hex digits, so that people can compare hashes in JSON.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText sets h from 32 hex digits, as [Hash.MarshalText] returns them.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 2*len(h) {
		return hex.ErrLength
	}
	_, err := hex.Decode(h[:], b)
	return err
}

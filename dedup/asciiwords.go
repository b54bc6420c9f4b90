package dedup

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"skink/base/splitmix"
)

// # ASCII words
//
// Most bytes of most pages are ASCII. In a loop that tests byte by byte, the processor mispredicts
// a branch at the end of every word, which costs more than everything else. So the code classifies
// 64 bytes at once, eight in each machine word. It makes two masks with a bit for each byte: one
// for letters and digits, the other for bytes that need the full rules. Words are then runs of
// ones, which are found by counting zeros. A word of up to eight bytes is loaded, lower-cased,
// stored and hashed in one register, without a loop or a branch on its length.

// block is the number of bytes that asciiBlock classifies at once. slack is the number of readable
// bytes that must follow a block, because eight bytes may be loaded from any position in it.
const (
	block = 64
	slack = 7
)

// Each constant repeats one byte eight times, for arithmetic on eight bytes in one 64-bit word.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each
	lows  = 0x7F * each
	cases = 0x20 * each // the bit that turns an upper-case ASCII letter into lower case; it is set in every ASCII digit
)

// asciiWords appends to t the ASCII words of text, starting at byte i. It stops at the first word
// or character that needs the full Unicode rules, such as an apostrophe or a non-ASCII byte. It
// returns the byte offset at which it stopped, or len(text).
func (t *Text) asciiWords(text []byte, i int) int {
	var pad [block + slack]byte
	for i < len(text) {
		b := text[i:]
		if len(b) < len(pad) { // pad with spaces, because the end of the text also ends a word
			n := copy(pad[:], b)
			for j := n; j < len(pad); j++ {
				pad[j] = ' '
			}
			b = pad[:]
		}
		n, more := t.asciiBlock((*[block + slack]byte)(b), i)
		i += n
		if !more {
			return min(i, len(text))
		}
	}
	return min(i, len(text))
}

// asciiBlock appends to t the words that end in a block. place is the block's byte offset in the
// text. read is the number of bytes processed. more is true if asciiBlock can continue after them,
// and false if the full rules must read the next bytes.
func (t *Text) asciiBlock(b *[block + slack]byte, place int) (read int, more bool) {
	var words, others uint64
	for i := 0; i < block; i += 8 {
		word, other := classify(binary.LittleEndian.Uint64(b[i:]))
		words |= pack(word) << i
		if other != 0 {
			others |= pack(other) << i
		}
	}
	ends := ^words & (words << 1)
	starts := words &^ (words << 1)
	stop := bits.TrailingZeros64(others)
	ends &= 1<<stop - 1

	// The canonical words of a block are at most as long as the block, plus one space before the first
	// word. Memory for all of them is allocated before the loop, so that the loop only writes. Eight
	// more bytes are allocated because the loop always writes eight bytes at once.
	at := len(t.canon)
	t.canon = slices.Grow(t.canon, block+1+8)
	canon := t.canon[:at+block+1+8]
	gap := min(len(t.tokens), 1)
	for ; ends != 0; ends, starts = ends&(ends-1), starts&(starts-1) {
		start, end := bits.TrailingZeros64(starts), bits.TrailingZeros64(ends)
		canon[at] = ' ' // for the first token of a text, gap is 0, so the token overwrites this space
		at += gap
		gap = 1
		n := end - start
		var hash uint64
		if n <= 8 {
			behind := (64 - 8*n) & 63 // number of the 64 loaded bits that do not belong to the word and are cleared
			word := (binary.LittleEndian.Uint64(b[start&(block-1):]) | cases) << behind >> behind
			binary.LittleEndian.PutUint64(canon[at:], word)
			hash = splitmix.Mix(word)
		} else {
			for j := 0; j < n; j += 8 { // may write up to seven bytes too many, which the next word overwrites
				binary.LittleEndian.PutUint64(canon[at+j:], binary.LittleEndian.Uint64(b[start+j:])|cases)
			}
			hash = hashToken(canon[:at+n], at)
		}
		at += n
		t.ends = append(t.ends, at)
		t.tokens = append(t.tokens, hash)
		t.place(place+start, place+end)
	}
	t.canon = t.canon[:at]
	if starts != 0 { // the last word continues after the block or after stop, so it is read later
		start := bits.TrailingZeros64(starts)
		return min(start, stop), start > 0 && stop == block
	}
	return stop, stop == block
}

// classify marks some of the eight bytes of a 64-bit word, by setting the highest bit of the
// corresponding byte in one of its results. In words it marks ASCII letters and digits. In others
// it marks apostrophes and bytes above 0x7F.
func classify(eight uint64) (words, others uint64) {
	ascii := eight & lows
	small := ascii | cases
	// For a byte x below 0x80, the highest bit of x + (0x80-c) is set if and only if x >= c. Here that
	// holds for eight bytes at once, because no sum overflows its byte.
	letter := (small + (0x80-'a')*each) &^ (small + (0x80-'z'-1)*each)
	digit := (ascii + (0x80-'0')*each) &^ (ascii + (0x80-'9'-1)*each)
	quote := ^((ascii ^ '\''*each) + lows) // an apostrophe becomes 0, the only byte to which 0x7F can be added without setting the highest bit
	return (letter | digit) &^ eight & highs, (quote | eight) & highs
}

// pack returns the highest bits of the eight bytes of a 64-bit word as the low eight bits of its
// result. All other bits of eight must be 0. The multiplication shifts each bit to its own position
// in the highest byte.
func pack(eight uint64) uint64 { return (eight >> 7) * 0x0102040810204080 >> 56 }

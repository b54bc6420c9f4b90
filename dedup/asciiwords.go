package dedup

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// # Words of ASCII
//
// Most bytes of most pages are ASCII. In a loop that tests byte by byte the processor mispredicts a
// branch at the end of every word, which costs more than all the rest. So the code classifies 64
// bytes at once, eight to a machine word. It makes two masks with a bit for each byte: one marks
// letters and digits, the other marks bytes that need the full rules. Words are then runs of ones,
// found by counting zeros. A word of up to eight bytes is loaded, lower-cased, stored and hashed in
// one register, without a loop or a branch on its length.

// block is the number of bytes classified at once. slack is the number of bytes needed behind them
// so that eight can be loaded from any place of a block.
const (
	block = 64
	slack = 7
)

// These are eight equal bytes each, for arithmetic on eight bytes at once.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each // the highest bit of each
	lows  = 0x7F * each
	cases = 0x20 * each // what makes a capital small; digits have it anyhow
)

// asciiWords reads words of ASCII letters and digits between ASCII gaps until something else comes.
// It returns where it stopped: at the end, or at the beginning of a word or character that needs
// the full rules.
func (t *Text) asciiWords(text []byte, i int) int {
	var pad [block + slack]byte
	for i < len(text) {
		b := text[i:]
		if len(b) < len(pad) { // the end of a text is a gap
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

// asciiBlock reads the words that end in a block, which stands at the given place of the text. It
// returns how much of the block it has read, and whether the next block may begin there.
func (t *Text) asciiBlock(b *[block + slack]byte, place int) (read int, more bool) {
	var words, others uint64
	for i := 0; i < block; i += 8 {
		word, other := classify(binary.LittleEndian.Uint64(b[i:]))
		words |= pack(word) << i
		if other != 0 {
			others |= pack(other) << i
		}
	}
	ends := ^words & (words << 1) // the first byte behind each word
	starts := words &^ (words << 1)
	stop := bits.TrailingZeros64(others) // 64 if there is none
	ends &= 1<<stop - 1

	// A word is at most as long as the bytes it is read from. Memory for it is allocated before the
	// loop, so that the loop only writes.
	at := len(t.canon)
	t.canon = slices.Grow(t.canon, block+1+8)
	canon := t.canon[:at+block+1+8]
	gap := min(len(t.tokens), 1)
	for ; ends != 0; ends, starts = ends&(ends-1), starts&(starts-1) {
		start, end := bits.TrailingZeros64(starts), bits.TrailingZeros64(ends)
		canon[at] = ' ' // overwritten by the first token of a text
		at += gap
		gap = 1
		n := end - start
		var hash uint64
		if n <= 8 {
			behind := (64 - 8*n) & 63 // bits of what is loaded behind the word
			word := (binary.LittleEndian.Uint64(b[start&(block-1):]) | cases) << behind >> behind
			binary.LittleEndian.PutUint64(canon[at:], word)
			hash = mix(word)
		} else {
			for j := 0; j < n; j += 8 { // may write beyond the word, where the next will be
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
	if starts != 0 { // a word that goes on behind the block or behind stop
		start := bits.TrailingZeros64(starts)
		return min(start, stop), start > 0 && stop == block
	}
	return stop, stop == block
}

// classify sets the highest bit of each of eight bytes in two results. words marks ASCII letters
// and digits. others marks bytes that are neither these nor a gap: an apostrophe, or a byte of a
// character beyond ASCII.
func classify(eight uint64) (words, others uint64) {
	ascii := eight & lows
	small := ascii | cases
	// In each byte, the highest bit of x + (0x80-c) says that x is c or more.
	letter := (small + (0x80-'a')*each) &^ (small + (0x80-'z'-1)*each)
	digit := (ascii + (0x80-'0')*each) &^ (ascii + (0x80-'9'-1)*each)
	quote := ^((ascii ^ '\''*each) + lows) // to 0 alone, adding 0x7F does not set the highest bit
	return (letter | digit) &^ eight & highs, (quote | eight) & highs
}

// pack gathers the highest bits of eight bytes in one byte. The multiplication adds each bit to its
// place in the highest byte, and no two bits collide on the way.
func pack(eight uint64) uint64 { return (eight >> 7) * 0x0102040810204080 >> 56 }

package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"skink/base/field"
)

// Each text is stored as one zstd frame, at the fastest compression level. On main texts of a few
// kilobytes, the higher levels save little and would delay every page. The encoder and the decoder
// are created only once, because each needs megabytes of tables.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(128<<10))
		if err != nil {
			panic(err) // NewWriter fails only if an option is invalid
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxText))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// maxText is the maximum size of an unpacked text, in bytes. A larger one is refused, because it
// must come from a damaged store, and could exhaust memory.
const maxText = 1 << 30

// Pack compresses a text for [Entry]. The caller of [Index.Commit] does this, not Commit itself, so
// several workers can compress texts in parallel.
func Pack(text []byte) []byte { return encoder().EncodeAll(text, make([]byte, 0, len(text)/2+64)) }

// PackFast is like [PackMarked], but takes a third of the time and its result is a third larger. It
// is for stores that are deleted when the command ends.
//
// Instead of a zstd frame, the result contains a zero byte, which never begins a zstd frame, and
// one S2 block.
func PackFast(text string, markdown []byte, headings []Heading) []byte {
	b := buffers.Get().(*buffer)
	var head []byte
	b.all, head = appendMarked(b.all[:0], text, markdown, headings)
	b.block = s2.Encode(b.block[:cap(b.block)], b.all)
	packed := append(append(append(make([]byte, 0, len(head)+1+len(b.block)), head...), fastFrame), b.block...)
	if cap(b.all) <= largestBuffer {
		buffers.Put(b)
	}
	return packed
}

const fastFrame = 0 // first byte before an S2 block

type buffer struct{ all, block []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// largestBuffer is the size in bytes of the largest text whose buffer is reused.
const largestBuffer = 1 << 20

// A Heading describes a heading in a page's main text.
type Heading struct {
	Line  int    `json:"line"`         // index of the line in the text, from 0
	Level int    `json:"level"`        // from 1 to 6
	ID    string `json:"id,omitempty"` // URL fragment that leads to the heading, unescaped; "" means none
}

// # Marked texts
//
// A text is stored with its Markdown and headings in a single zstd frame. The Markdown and the ids
// of headings repeat words of the text, so they take little space there. This frame follows a
// skippable zstd frame (RFC 8878, section 3.1.2). The skippable frame has four 4-byte little-endian
// numbers: the magic number, the length of its content (8), the length of the text, and the length
// of the Markdown.
//
// Each heading is stored as the number of lines after the previous heading, its level, the length
// of its id, and the id. Numbers are unsigned varints as in encoding/binary.
const (
	splitMagic = 0x184D2A53
	splitSize  = 16
)

// PackMarked compresses a text with its Markdown and headings, which may both be empty.
func PackMarked(text, markdown []byte, headings []Heading) []byte {
	if len(markdown) == 0 && len(headings) == 0 {
		return Pack(text)
	}
	all, head := appendMarked(make([]byte, 0, len(text)+len(markdown)+16*len(headings)), text, markdown, headings)
	return encoder().EncodeAll(all, append(make([]byte, 0, splitSize+len(all)/3+64), head...))
}

// appendMarked appends a text, its Markdown and its headings to dst. The result head is the
// skippable frame that must precede them; head is empty if there is only a text.
func appendMarked[T string | []byte](dst []byte, text T, markdown []byte, headings []Heading) (all, head []byte) {
	all = append(append(dst, text...), markdown...)
	if len(markdown) == 0 && len(headings) == 0 {
		return all, nil
	}
	line := 0
	for _, h := range headings {
		all = binary.AppendUvarint(all, uint64(h.Line-line))
		all = append(all, byte(h.Level))
		all = binary.AppendUvarint(all, uint64(len(h.ID)))
		all = append(all, h.ID...)
		line = h.Line
	}
	head = binary.LittleEndian.AppendUint32(head, splitMagic)
	head = binary.LittleEndian.AppendUint32(head, splitSize-8)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(text)))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(markdown)))
	return all, head
}

// Unpack is the inverse of Pack. For the result of PackMarked, it returns only the text. It returns
// [ErrCorrupt] for a damaged text.
func Unpack(packed []byte) ([]byte, error) {
	text, _, _, err := unpackParts(packed)
	return text, err
}

// UnpackMarked is the inverse of PackMarked. It also accepts the result of Pack, which has no
// Markdown or headings.
func UnpackMarked(packed []byte) (text, markdown []byte, headings []Heading, err error) {
	text, markdown, rest, err := unpackParts(packed)
	if err != nil {
		return nil, nil, nil, err
	}
	d := field.Reader{Rest: rest}
	line := 0
	for len(d.Rest) > 0 {
		further := d.Varint()
		h := Heading{Level: int(d.Byte()), ID: string(d.Bytes(d.Varint()))}
		if d.Bad || further > maxText {
			return nil, nil, nil, fmt.Errorf("%w: the headings cannot be decoded", ErrCorrupt)
		}
		line += int(further)
		h.Line = line
		headings = append(headings, h)
	}
	return text, markdown, headings, nil
}

func unpackParts(packed []byte) (text, markdown, headings []byte, err error) {
	split := len(packed) >= splitSize && binary.LittleEndian.Uint32(packed) == splitMagic
	var first, second int
	if split {
		first, second = int(binary.LittleEndian.Uint32(packed[8:])), int(binary.LittleEndian.Uint32(packed[12:]))
		packed = packed[splitSize:]
	}
	all, err := unpackFrame(packed)
	switch {
	case err != nil:
		return nil, nil, nil, fmt.Errorf("unpack text: %w: %v", ErrCorrupt, err)
	case !split:
		return all, nil, nil, nil
	case first+second > len(all):
		return nil, nil, nil, fmt.Errorf("unpack text: %w: it is shorter than its stored length", ErrCorrupt)
	}
	return all[:first:first], all[first : first+second : first+second], all[first+second:], nil
}

// unpackFrame returns the content of a zstd frame, or of a block from PackFast.
func unpackFrame(packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] != fastFrame {
		return decoder().DecodeAll(packed, nil)
	}
	block := packed[1:]
	if n, err := s2.DecodedLen(block); err != nil || n > maxText {
		return nil, fmt.Errorf("decompress a block of %d bytes to %d bytes: %w", len(block), n, cmp.Or(err, s2.ErrTooLarge))
	}
	return s2.Decode(nil, block)
}

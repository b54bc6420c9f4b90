package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
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

// compress returns b as a zstd frame.
func compress(b []byte) []byte { return encoder().EncodeAll(b, make([]byte, 0, len(b)/3+64)) }

// compressFast returns b as a zero byte, which never begins a zstd frame, and one S2 block.
func compressFast(b []byte) []byte {
	block := buffers.Get().(*[]byte)
	defer reuse(block)
	*block = s2.Encode((*block)[:cap(*block)], b)
	return append(make([]byte, 1, 1+len(*block)), *block...)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func reuse(b *[]byte) {
	if cap(*b) <= largestBuffer {
		buffers.Put(b)
	}
}

// largestBuffer is the size in bytes of the largest buffer that is reused.
const largestBuffer = 1 << 20

// decompress is the inverse of compress and compressFast. The argument fast is the largest size in bytes of what
// compressFast has compressed.
func decompress(packed []byte, fast int) (b []byte, err error) {
	if len(packed) == 0 || packed[0] != 0 {
		b, err = decoder().DecodeAll(packed, nil)
	} else if n, lenErr := s2.DecodedLen(packed[1:]); lenErr != nil || n > fast {
		err = fmt.Errorf("a block of %d bytes has %d bytes: %w", len(packed), n, cmp.Or(lenErr, s2.ErrTooLarge))
	} else {
		b, err = s2.Decode(nil, packed[1:])
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return b, nil
}

// Pack compresses a text for [Entry]. The caller of [Index.Commit] does this, not Commit itself, so
// several workers can compress texts in parallel.
func Pack(text []byte) []byte { return PackMarked(text, nil, nil) }

// A Heading describes a heading in a page's main text, or a line of it to which a URL can lead.
type Heading struct {
	Line  int    `json:"line"`         // index of the line in the text, from 0
	Level int    `json:"level"`        // from 1 to 6; 0 means that the line is not a heading
	ID    string `json:"id,omitempty"` // URL fragment that leads to the line or to a place above it and below the line before, unescaped; "" means none
}

// # Marked texts
//
// A text is compressed together with its Markdown and headings. The Markdown and the ids of headings
// repeat words of the text, so they take little space there. The parts are, in order: the length of
// the text, the length of the Markdown, the text, the Markdown, and the headings.
//
// Each heading is stored as the number of lines after the previous heading, its level, the length
// of its id, and the id. Numbers are unsigned varints as in encoding/binary.

// PackMarked compresses a text with its Markdown and headings, which may both be empty.
func PackMarked(text, markdown []byte, headings []Heading) []byte {
	return compress(appendMarked(nil, text, markdown, headings))
}

// PackFast is like [PackMarked], but takes a third of the time and its result is a third larger. It
// is for stores that are deleted when the command ends.
func PackFast(text string, markdown []byte, headings []Heading) []byte {
	b := buffers.Get().(*[]byte)
	defer reuse(b)
	*b = appendMarked((*b)[:0], text, markdown, headings)
	return compressFast(*b)
}

func appendMarked[T string | []byte](b []byte, text T, markdown []byte, headings []Heading) []byte {
	b = slices.Grow(b, len(text)+len(markdown)+32*len(headings)+2*binary.MaxVarintLen64)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(len(text))), uint64(len(markdown)))
	b = append(append(b, text...), markdown...)
	line := 0
	for _, h := range headings {
		b = append(binary.AppendUvarint(b, uint64(h.Line-line)), byte(h.Level))
		b = appendText(b, h.ID)
		line = h.Line
	}
	return b
}

// Unpack is the inverse of Pack. For the result of PackMarked, it returns only the text. It returns
// [ErrCorrupt] for a damaged text.
func Unpack(packed []byte) ([]byte, error) {
	text, _, _, err := unpackParts(packed)
	return text, err
}

// UnpackMarked is the inverse of PackMarked.
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
	all, err := decompress(packed, maxText)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("unpack text: %w", err)
	}
	d := field.Reader{Rest: all}
	first, second := d.Varint(), d.Varint()
	text, markdown = d.Bytes(first), d.Bytes(second)
	if d.Bad {
		return nil, nil, nil, fmt.Errorf("unpack text: %w: it is shorter than its stored length", ErrCorrupt)
	}
	return text, markdown, d.Rest, nil
}

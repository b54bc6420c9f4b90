package store

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Each text is stored as one zstd frame. The compression level is the fastest. On main texts of a
// few kilobytes the better levels save little, and each page would wait for them. Encoder and
// decoder are made once, because each has megabytes of tables.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(128<<10))
		if err != nil {
			panic(err) // only a wrong option is an error here
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

// maxText is the greatest size of an unpacked text, in bytes. A larger one is refused, because it can
// only come from a damaged store and could take all memory.
const maxText = 1 << 30

// Pack compresses a text for [Entry]. The caller of [Index.Commit] does this, and not Commit itself,
// so that several workers can compress texts in parallel.
func Pack(text []byte) []byte { return encoder().EncodeAll(text, make([]byte, 0, len(text)/2+64)) }

// A text and its Markdown are stored in one frame, the Markdown right after the text. The Markdown
// repeats the words of the text, and so takes little room there. A skippable frame of zstd (RFC
// 8878, section 3.1.2) comes before it and holds the length of the text. It consists of the magic
// number, the number 4, and that length, four bytes each, little-endian.
const (
	splitMagic = 0x184D2A53
	splitSize  = 12
)

// PackMarked compresses a text together with its Markdown.
func PackMarked(text, markdown []byte) []byte {
	if len(markdown) == 0 {
		return Pack(text)
	}
	both := append(append(make([]byte, 0, len(text)+len(markdown)), text...), markdown...)
	packed := make([]byte, 0, splitSize+len(both)/3+64)
	packed = binary.LittleEndian.AppendUint32(packed, splitMagic)
	packed = binary.LittleEndian.AppendUint32(packed, splitSize-8)
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(text)))
	return encoder().EncodeAll(both, packed)
}

// Unpack is the inverse of Pack. For a text with its Markdown it returns the text alone. It returns
// [ErrCorrupt] for a damaged text.
func Unpack(packed []byte) ([]byte, error) {
	text, _, err := UnpackMarked(packed)
	return text, err
}

// UnpackMarked is the inverse of PackMarked. A text that was packed alone has no Markdown.
func UnpackMarked(packed []byte) (text, markdown []byte, err error) {
	split := -1
	if len(packed) >= splitSize && binary.LittleEndian.Uint32(packed) == splitMagic {
		split, packed = int(binary.LittleEndian.Uint32(packed[8:])), packed[splitSize:]
	}
	both, err := decoder().DecodeAll(packed, nil)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("unpack text: %w: %v", ErrCorrupt, err)
	case split < 0:
		return both, nil, nil
	case split > len(both):
		return nil, nil, fmt.Errorf("unpack text: %w: shorter than its stored length", ErrCorrupt)
	}
	return both[:split:split], both[split:], nil
}

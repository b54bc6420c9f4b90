package store

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Each text is stored as one zstd frame. The level is the fastest: on main texts of a few kilobytes
// the better levels save little, and each page would wait for them. Encoder and decoder are made
// once, because each holds megabytes of tables.
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

// maxText is the most bytes that one stored text may unpack to. It keeps a damaged store from
// taking all memory.
const maxText = 1 << 30

// Pack compresses a text for [Entry]. Commit leaves this to its callers, so that workers pack in
// parallel.
func Pack(text []byte) []byte { return encoder().EncodeAll(text, make([]byte, 0, len(text)/2+64)) }

// Unpack is the inverse of Pack. A damaged text is [ErrCorrupt].
func Unpack(packed []byte) ([]byte, error) {
	text, err := decoder().DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack text: %w: %v", ErrCorrupt, err)
	}
	return text, nil
}

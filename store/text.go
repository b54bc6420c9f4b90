package store

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Texts are stored as one zstd frame each. The level is the fastest: on main
// texts of a few kilobytes the better levels save little, and each commit would wait for them.
// Encoder and decoder are made once: each holds megabytes of tables.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(128<<10))
		if err != nil {
			panic(err) // only options can be wrong
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

// maxText bounds what one stored text may unpack to, so that a damaged store
// cannot ask for all memory.
const maxText = 1 << 30

// Pack compresses a text for [Entry]. It is apart from Commit so that workers
// can do it in parallel.
func Pack(text []byte) []byte { return encoder().EncodeAll(text, make([]byte, 0, len(text)/2+64)) }

// Unpack is the inverse of Pack. A back end calls it to answer Text.
func Unpack(packed []byte) ([]byte, error) {
	text, err := decoder().DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack text: %w: %v", ErrCorrupt, err)
	}
	return text, nil
}

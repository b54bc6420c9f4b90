package postings

import (
	"math/bits"

	"skink/base/splitmix"
)

// A bloom proves that a key is not in a segment.
//
// Nearly all of a crawl's lookups miss: a unique page looks up its text hash and some fourteen
// postings and finds none of them. The filter detects a miss by reading one cache line. It is a
// blocked Bloom filter (Putze, Sanders, Singler, 2007): a key sets seven bits inside one block of
// 512. With ten bits per key, about one absent key in seventy is reported as present, which costs a
// lookup. The keys must be evenly distributed, like those from mix. The high bits of a key select its
// block, so ascending keys have ascending blocks.
type bloom struct{ bytes []byte }

const probes = 7 // bits set for each key: near the optimum of 10·ln 2, and seven bit positions of nine bits each fit into one hash

// bloomBlock is the size of a block in bytes: one cache line.
const bloomBlock = 64

func bloomBlocks(keys, bitsPerKey int) int { return max(1, keys*bitsPerKey/(8*bloomBlock)) }

// blockOf returns the index of the block for a key. h is splitmix.Mix(key), and blocks is the number of
// blocks in the filter.
func blockOf(h uint64, blocks int) int {
	n, _ := bits.Mul64(h, uint64(blocks))
	return int(n)
}

func (b *bloom) block(h uint64) *[bloomBlock]byte {
	return (*[bloomBlock]byte)(b.bytes[blockOf(h, len(b.bytes)/bloomBlock)*bloomBlock:])
}

// setBits sets the bits of a key in its block. h is splitmix.Mix(key).
func setBits(block *[bloomBlock]byte, h uint64) {
	for g, i := splitmix.Mix(h), 0; i < probes; g, i = g>>9, i+1 {
		block[g>>3&63] |= 1 << (g & 7)
	}
}

// firstBit returns the first bit checked by the method has, as 0 or 1. If it is 0, the key is not
// in the filter.
func (b *bloom) firstBit(h, g uint64) uint64 {
	return uint64(b.block(h)[g>>3&63] >> (g & 7) & 1)
}

// has reports whether a key may have been added. h is splitmix.Mix(key), and g is splitmix.Mix(h).
func (b *bloom) has(h, g uint64) bool {
	block := b.block(h)
	for range probes {
		if block[g>>3&63]&(1<<(g&7)) == 0 {
			return false
		}
		g >>= 9
	}
	return true
}

// A bloomWriter writes a bloom whose keys are added in ascending order. It keeps one block in
// memory.
type bloomWriter struct {
	out    *section
	blocks int
	n      int // number of the block in memory
	block  [bloomBlock]byte
}

func (w *bloomWriter) add(h uint64) {
	w.writeUpTo(blockOf(h, w.blocks))
	setBits(&w.block, h)
}

func (w *bloomWriter) writeUpTo(n int) {
	for ; w.n < n; w.n++ {
		w.out.Write(w.block[:])
		w.block = [bloomBlock]byte{}
	}
}

func (w *bloomWriter) finish() { w.writeUpTo(w.blocks) }

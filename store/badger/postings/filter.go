package postings

import (
	"math/bits"
	"sync"

	"skink/base/splitmix"
)

// A Filter proves in memory that a key is not in the store.
//
// Nearly all of a crawl's lookups miss: a unique page looks up its text hash and some fourteen
// postings and finds none of them. Each miss costs badger a search in every level. The filter
// detects a miss by reading one cache line. It is a blocked Bloom filter (Putze, Sanders, Singler,
// 2007): a key sets seven bits inside one block of 512, with ten bits per key. About one absent key
// in seventy is reported as present, which costs a lookup.
//
// When a filter is full, it adds a part, a Bloom filter twice as large as the last. A key is looked
// up in all parts. Ten million keys take four parts, 19 MB in all.
type Filter struct {
	mu    sync.RWMutex // guards parts
	parts []bloom
}

const (
	firstPart  = 1 << 20 // number of keys that fit into the first part, which takes 1.3 MB
	bitsPerKey = 10
	probes     = 7 // bits set for each key: near the optimum of 10·ln 2, and seven bit positions of nine bits each fit into one hash
)

// Has reports whether key may have been added. If it returns false, the key was certainly not
// added.
func (f *Filter) Has(key uint64) bool {
	h := splitmix.Mix(key)
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.find(h)
}

// Add adds key.
func (f *Filter) Add(key uint64) {
	h := splitmix.Mix(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.find(h) { // a key that is already there must not take up space
		return
	}
	b := f.room()
	b.free--
	b.add(h)
}

// room returns the part for the next key: the last part, or a new one if the last is full.
func (f *Filter) room() *bloom {
	n := len(f.parts)
	switch {
	case n == 0:
		f.parts = append(f.parts, newBloom(firstPart, bitsPerKey))
	case f.parts[n-1].free == 0:
		f.parts = append(f.parts, newBloom(2*f.parts[n-1].keys, bitsPerKey))
	}
	return &f.parts[len(f.parts)-1]
}

func (f *Filter) find(h uint64) bool {
	g := splitmix.Mix(h)
	for i := range f.parts {
		if f.parts[i].has(h, g) {
			return true
		}
	}
	return false
}

// A bloom is a blocked Bloom filter of a fixed size. Its keys must be evenly distributed, like
// those from mix. The high bits of a key select its block, so ascending keys have ascending blocks.
type bloom struct {
	bytes []byte
	keys  int // number of keys that the filter was made for
	free  int // number of keys that can be added until the filter is full
}

// bloomBlock is the size of a block in bytes: one cache line.
const bloomBlock = 64

func bloomBlocks(keys, bitsPerKey int) int { return max(1, keys*bitsPerKey/(8*bloomBlock)) }

func newBloom(keys, bitsPerKey int) bloom {
	return bloom{bytes: make([]byte, bloomBlocks(keys, bitsPerKey)*bloomBlock), keys: keys, free: keys}
}

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

func (b *bloom) add(h uint64) { setBits(b.block(h), h) }

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

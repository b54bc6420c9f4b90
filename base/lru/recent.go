package lru

import (
	"encoding/binary"
	"sync"
)

// A Recent caches hashes, such as those of known URLs, so that a store need not look them up. Most links on a
// page were also on the previous page. Each hash has one slot, in which a new hash replaces the old one. Whole hashes
// are compared, so no hash is mistaken for another. The zero value is empty. A Recent is safe for concurrent
// use.
type Recent struct {
	mu    sync.Mutex
	slots [][16]byte // guarded by mu
}

// recentSlots is the number of slots, far more than a site's menu has links. They take 4 MiB.
const recentSlots = 1 << 18

// Has reports whether the hash is in its slot.
func (r *Recent) Has(h [16]byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slots != nil && *r.slot(h) == h
}

// Add adds a hash.
func (r *Recent) Add(h [16]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		r.slots = make([][16]byte, recentSlots)
	}
	*r.slot(h) = h
}

func (r *Recent) slot(h [16]byte) *[16]byte {
	return &r.slots[binary.BigEndian.Uint64(h[8:])%recentSlots]
}

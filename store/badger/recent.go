package badger

import (
	"encoding/binary"

	"skink/dedup"
)

// recent caches the ids of known URLs. Most links on a page were also on the previous page. Each id
// has one slot, in which a new id replaces the old one. Whole ids are compared, so no URL is mistaken
// for another. The store's lock guards the cache.
type recent []dedup.Hash

// recentSlots is the number of ids in the cache, far more than a site's menu has links. The cache
// takes 4 MiB.
const recentSlots = 1 << 18

func newRecent() recent { return make(recent, recentSlots) }

func (r recent) slot(id dedup.Hash) *dedup.Hash {
	return &r[binary.BigEndian.Uint64(id[:8])%recentSlots]
}

func (r recent) has(id dedup.Hash) bool { return *r.slot(id) == id }

func (r recent) add(id dedup.Hash) { *r.slot(id) = id }

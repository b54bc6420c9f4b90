package badger

import (
	"encoding/binary"

	"skink/dedup"
)

// recent holds URLs that are known. Most links of a page were on the page before, and the filter
// does not save their look-up, because it only proves that a URL is unknown. Each id has one slot,
// in which a new id replaces the old one. Ids are compared whole, so has never returns true for a
// URL that was not added. The store's lock guards it.
type recent []dedup.Hash

// recentSlots ids take 4 MiB. That is many times the links of a site's menu.
const recentSlots = 1 << 18

func newRecent() recent { return make(recent, recentSlots) }

func (r recent) slot(id dedup.Hash) *dedup.Hash {
	return &r[binary.BigEndian.Uint64(id[:8])%recentSlots]
}

func (r recent) has(id dedup.Hash) bool { return *r.slot(id) == id }

func (r recent) add(id dedup.Hash) { *r.slot(id) = id }

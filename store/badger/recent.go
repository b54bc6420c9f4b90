package badger

import (
	"encoding/binary"

	"skink/dedup"
)

// recent remembers URLs that were found to be known. Of thirty links on a page
// most were on the page before, and the filter cannot spare them the look-up:
// it only knows what is absent. One slot an id, the newcomer wins; an id is
// found or it is not, there is no maybe. The owner's lock guards it.
type recent []dedup.Hash

// recentSlots takes 4 MiB: a site's menu many times over.
const recentSlots = 1 << 18

func newRecent() recent { return make(recent, recentSlots) }

func (r recent) slot(id dedup.Hash) *dedup.Hash {
	return &r[binary.BigEndian.Uint64(id[:8])%recentSlots]
}

func (r recent) has(id dedup.Hash) bool { return *r.slot(id) == id }

func (r recent) add(id dedup.Hash) { *r.slot(id) = id }

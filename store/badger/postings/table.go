package postings

import (
	"cmp"
	"math/bits"
)

// A posting records that the visit with the number num has a key, which is hashed by [Mixed].
type posting struct{ key, num uint64 }

func comparePostings(a, b posting) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Compare(a.num, b.num)
}

// A postingTable holds the postings that are in no segment yet. It is a hash table with open
// addressing. For each key, it contains a list of numbers in order of arrival. It grows by
// doubling, and is emptied for reuse.
//
// Keys are already hashed by [Mixed], so the high bits of a key can select its slot. The index's
// lock guards the table to which postings are added.
type postingTable struct {
	slots []slot
	shift int // the slot of a key is slots[key>>shift], or the next free one after it
	keys  int
	nums  []uint64 // number of each posting; nums[0] is unused, so that index 0 can mean none
	next  []uint32 // next[i] is the index of the next posting with the same key as posting i; 0 means none
}

type slot struct {
	key         uint64
	first, last uint32 // indexes in nums of the first and last posting under the key; 0 means that the slot is free
}

const firstSlots = 1 << 10

func newPostingTable() *postingTable {
	t := &postingTable{nums: make([]uint64, 1), next: make([]uint32, 1)}
	t.resize(firstSlots)
	return t
}

func (t *postingTable) resize(slots int) {
	old := t.slots
	t.slots = make([]slot, slots)
	t.shift = 64 - bits.TrailingZeros(uint(slots))
	for _, s := range old {
		if s.first != 0 {
			*t.slot(s.key) = s
		}
	}
}

func (t *postingTable) reset() {
	clear(t.slots)
	t.keys, t.nums, t.next = 0, t.nums[:1], t.next[:1]
}

// slot returns the slot of key, or the free slot for it.
func (t *postingTable) slot(key uint64) *slot {
	for i := key >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		if s := &t.slots[i]; s.first == 0 || s.key == key {
			return s
		}
	}
}

func (t *postingTable) len() int { return len(t.nums) - 1 }

// add does nothing if p was the last posting to be added under its key.
func (t *postingTable) add(p posting) {
	s := t.slot(p.key)
	if s.first != 0 && t.nums[s.last] == p.num {
		return
	}
	n := uint32(len(t.nums))
	t.nums, t.next = append(t.nums, p.num), append(t.next, 0)
	if s.first != 0 {
		t.next[s.last], s.last = n, n
		return
	}
	*s = slot{p.key, n, n}
	if t.keys++; 4*t.keys > 3*len(t.slots) {
		t.resize(2 * len(t.slots))
	}
}

// last returns the highest visit number under key, a hash from [Mixed], or 0 if there is none. This
// is the number added last, because visit numbers ascend.
func (t *postingTable) last(key uint64) uint64 { return t.nums[t.slot(key).last] }

// find appends to dst the numbers of the first want visits that were added under key, a hash from
// [Mixed].
func (t *postingTable) find(key uint64, want int, dst []uint64) []uint64 {
	for n := t.slot(key).first; n != 0 && want > 0; n = t.next[n] {
		dst = append(dst, t.nums[n])
		want--
	}
	return dst
}

func (t *postingTable) postings() []posting {
	list := make([]posting, 0, t.len())
	for _, s := range t.slots {
		for n := s.first; n != 0; n = t.next[n] {
			list = append(list, posting{s.key, t.nums[n]})
		}
	}
	return list
}

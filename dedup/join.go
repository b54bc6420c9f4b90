package dedup

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// # All pairs
//
// A [Join] finds, among n sets, all pairs of resemblance t or above without comparing all pairs. It
// is an exact set-similarity join: it misses no pair, but may also return pairs that are less
// similar. Candidates must pass two tests. Both follow from the number of shingles that a similar
// pair must share.
//
// The first test is prefix filtering (Chaudhuri, Ganti and Kaushik, ICDE 2006; AllPairs by Bayardo,
// Ma and Srikant, WWW 2007). It uses the positions and lengths of PPJoin (Xiao, Wang, Lin and Yu,
// WWW 2008). Two sets of resemblance t share at least
//
//	o = t/(1+t) · (|A|+|B|)
//
// shingles. Let the shingles of all sets be in one order, rarest first. Let the first shingle that
// A and B share be at position i of A and at position j of B, counted from 0. All shared shingles
// are at or after these positions, so i ≤ |A|-o and j ≤ |B|-o. This can be rewritten so that each
// side depends on one set only:
//
//	reach(B, j) = |B| - (1+t)·j ≥ t·|A|   and   reach(A, i) ≥ t·|B|.
//
// The shortest partner that a set can have is t times as long as the set. So a set is indexed only
// by its first shingles: those whose reach is at least t² times the length of the set. The index
// has a list of postings for each shingle, and each posting stores its reach. A list is sorted by
// descending reach, so a search ends where the first inequality fails. Any order of the shingles
// gives the same pairs. Rarest first gives the fewest candidates, because a template's shingles
// come last. For example, take ten thousand pages of one template. In each page, 18% of the text
// occurs nowhere else, so their resemblance is .7. At .8 their prefixes end before the template
// begins, or the reach of its first shingles is too short. No pair of them is compared, and the
// only work is reading the pages.
//
// The second test compares bitmaps (Sandes, Teodoro and Melo, "Bitmap filter", Information Systems
// 88, 2020). Each shingle flips one bit of its set's bitmap. Each bit in which two bitmaps differ
// proves that at least one shingle is in only one of the sets. A pair of resemblance t has at most
// (1-t)/(1+t) · (|A|+|B|) such shingles. The bitmaps here are long enough that a pair passes by
// mistake only if its resemblance is at most a few hundredths below t. The test needs only a few
// machine words. For the same purpose, PPJoin counts the shared shingles of prefixes and has a
// suffix test. These need the sets themselves, which here may be on disk.
//
// One join works for all similarities from t up, because a higher similarity only makes the bounds
// on the same positions and bitmaps stricter. A search has a minimum similarity for each set.
// Suppose that the pages of one template have a resemblance of .42. At .3, the search for the first
// page finds all the others, which become members of its cluster. After that they are searched for
// only above .42, and no pair of them is compared.
//
// A table of bounded size, indexed by hash, counts how often each shingle occurs. Shingles that
// share a counter seem less rare than they are. That adds candidates, but never loses a pair. A
// shingle that is in only one set is neither counted nor indexed. On most sites, most shingles are
// in only one set, and at a low similarity most of a set would be indexed. Two bits of a larger
// table record whether a shingle occurs again.
//
// Known weaknesses: the join misses nothing, but it is not always fast. Many pages may share even
// their rarest shingles, for example if each consists of ten paragraphs from a pool of a hundred.
// Then each list contains a constant share of all pages, and reading the lists takes quadratic
// time, a nanosecond or two for each posting. If such pages resemble each other by just less than
// t, the bitmaps pass them too, and each pair is compared. In the worst case no exact method is
// known to be better. A method that finds the pairs of n sets that share enough in time n^(2-ε)
// would refute the strong exponential time hypothesis. Ahle, Pagh, Razenshteyn and Silvestri (PODS
// 2016) prove this for inner products. And n similar sets make n(n-1)/2 pairs, of which [Clusters]
// needs only some.

// Occurrences counts for each shingle the sets in which it occurs. Only shingles that occur in
// several sets have a counter, and some of them share one. Shingles that share a counter are
// counted together. So the count of a shingle that occurs in several sets may be too high, but is
// hardly ever too low. Counting stops at 65,535.
type Occurrences struct {
	counts []uint16 // the counter of shingle x is counts[x>>shift]; it stops at 65,535
	shift  int
	met    []uint64 // two bits for each shingle, 32 shingles in each word: whether it occurred in no set (0), in one (1) or in several (2)
	mask   uint64   // selects the bits of a shingle that determine its position in met
}

// The table of counters has one counter for two to four shingles, because on most sites most
// shingles occur in only one set. It takes at most 128 MiB. The table that records whether a
// shingle occurs again takes one or two bytes for each shingle, and at most 512 MiB. With half a
// billion different shingles, it wrongly reports one in five as occurring again.
const (
	minCounterBits = 10 // at least 2^10 counters
	maxCounterBits = 26 // at most 2^26 counters of two bytes
	maxMetBits     = 31 // at most 2^31 entries of two bits in met
)

// NewOccurrences returns an empty table. shingles is the expected sum of the sizes of all sets. It
// determines the size of the table.
func NewOccurrences(shingles int) *Occurrences {
	size := max(bits.Len(uint(shingles)), minCounterBits)
	met := min(size+2, maxMetBits)
	size = min(max(size-2, minCounterBits), maxCounterBits)
	return &Occurrences{make([]uint16, 1<<size), 64 - size, make([]uint64, 1<<(met-5)), 1<<met - 1}
}

func (o *Occurrences) Count(s Set) {
	for _, x := range s {
		word, at := o.place(x)
		met := *word >> at & 3
		if met < several {
			*word += 1 << at
		}
		if n := &o.counts[x>>o.shift]; met > 0 && *n < math.MaxUint16 {
			*n++
		}
	}
}

func (o *Occurrences) place(x uint64) (word *uint64, at int) {
	x &= o.mask
	return &o.met[x>>5], int(x&31) * 2
}

// several is the value of met for a shingle that occurs in more than one set.
const several = 2

// times returns 0 if a shingle occurs in none of the counted sets, 1 if it occurs in one, and several
// if it occurs in more. The result may be too high, because other shingles can share the bits of x,
// but it is never too low.
func (o *Occurrences) times(x uint64) uint64 {
	word, at := o.place(x)
	return *word >> at & 3
}

// A Join finds the sets of a list that may resemble each other. For each set it uses some sixty
// bytes, plus an eighth of a byte to two bytes for each shingle. It also uses 14 to 16 bytes for
// each of the set's rarest shingles that another set has. At t = .8 these are at most a fifth of
// all shingles, at .3 at most seven tenths. Only one goroutine may use a Join.
type Join struct {
	t     float64
	order *Occurrences
	times uint64 // minimum Occurrences.times of the shingles that are indexed
	sets  []joined

	posted int
	keys   room[uint32]
	bits   room[uint64]

	lists  []posting // all lists of postings, one after the other; nil before the first search
	starts []uint32  // list i is lists[starts[i]:starts[i+1]]
	met    []int32   // for each set, the number of the last search that considered it
	round  int32
	read   int
}

type joined struct {
	size, alone int32    // number of all shingles, and of those that no other set has; the latter come first in the order and are not indexed
	keys        []uint32 // upper halves of the indexed shingles, rarest first; the method index replaces them with list numbers
	bitmap      []uint64 // for the second test; see the essay above
}

// A room allocates small slices from large blocks, which is cheaper than many small allocations. An
// allocated slice never moves.
type room[T any] struct{ left []T }

// roomSize is the number of elements in each block that a room allocates. A longer slice gets a
// block of its own length.
const roomSize = 1 << 16

func (r *room[T]) take(n int) []T {
	if n > len(r.left) {
		r.left = make([]T, max(n, roomSize))
	}
	s := r.left[:n:n]
	r.left = r.left[n:]
	return s
}

// All postings of one shingle are in one list.
type posting struct {
	set   int32
	reach float32 // Join.reach, rounded up to a float32 so that no pair is missed
}

// leeway loosens every bound of the join, so that a rounding error never excludes a pair. It is a
// number of shingles, far larger than any rounding error. A pair that misses a bound by less than
// leeway becomes a candidate.
const leeway = 1e-3

// NewJoin returns a join of n sets at resemblance t, above 0 and at most 1. o must already have
// counted all n sets. Each set is empty until [Join.Add] stores it.
func NewJoin(t float64, n int, o *Occurrences) *Join {
	return &Join{t: t, order: o, times: several, sets: make([]joined, n)}
}

// NewJoinWith is like [NewJoin], but the join finds only pairs in which at least one set was
// counted by o. If these sets are few, the join takes little memory: the shingles of the other sets
// matter only if one of the counted sets has them too.
func NewJoinWith(t float64, n int, o *Occurrences) *Join {
	return &Join{t: t, order: o, times: 1, sets: make([]joined, n)}
}

// Add stores s as the set with the given index, counted from 0. It may be called once for each
// index, in any order. An empty set resembles no other.
func (x *Join) Add(at int, s Set) {
	n := &x.sets[at]
	n.size = int32(len(s))
	if x.post(n, s); len(n.keys) > 0 { // otherwise the set resembles no other, and its bitmap is never read
		x.draw(n, s)
	}
}

// post fills n.keys and n.alone from s. The keys come from the rarest shingles of s, as many as a
// search may need. Shingles with equal counts stay in ascending order.
func (x *Join) post(n *joined, s Set) {
	prefix := min(len(s), int((1-x.t)*float64(len(s))+leeway)+1)
	order := make([]uint64, 0, len(s))
	for i, v := range s {
		if x.order.times(v) >= x.times {
			order = append(order, uint64(x.order.counts[v>>x.order.shift])<<32|uint64(i))
		}
	}
	alone := len(s) - len(order)
	if n.alone = int32(alone); alone >= prefix {
		return
	}
	slices.Sort(order)
	n.keys = x.keys.take(prefix - alone)
	x.posted += len(n.keys)
	for i := range n.keys {
		n.keys[i] = uint32(s[uint32(order[i])] >> 32)
	}
}

// draw fills n.bitmap. Each shingle flips one bit, which its low bits select.
func (x *Join) draw(n *joined, s Set) {
	words := 1 << bits.Len(uint(bitsPerShingle*(1-x.t)/(1+x.t)*float64(len(s)))/64)
	n.bitmap = x.bits.take(words)
	for _, v := range s {
		n.bitmap[v>>6&uint64(words-1)] ^= 1 << (v & 63)
	}
}

// bitsPerShingle times (1-t)/(1+t) is the minimum number of bits in a bitmap for each shingle. With
// this many bits, the bitmaps can exclude a pair with 1.15 times as many differing shingles as a
// pair of resemblance t has. At t = .8 this excludes pairs with a resemblance of .77 and below, and
// at .3 those of .23 and below.
const bitsPerShingle = 16

// apart reports whether the bitmaps of two sets prove that their resemblance is less than
// similarity. The longer bitmap is folded to the length of the other.
func (x *Join) apart(a, b int, similarity float64) bool {
	m, n := &x.sets[a], &x.sets[b]
	p, q := m.bitmap, n.bitmap
	if len(p) > len(q) {
		p, q = q, p
	}
	differ := 0
	for i, word := range p {
		for k := i; k < len(q); k += len(p) {
			word ^= q[k]
		}
		differ += bits.OnesCount64(word)
	}
	return float64(differ) > (1-similarity)/(1+similarity)*float64(m.size+n.size)+leeway
}

// reach returns |B| - (1+t)·place, plus leeway. B is the set with the given index, and place is the
// position, from 0, of one of its shingles, which are in order of rarity. Suppose this shingle is
// the rarest that B shares with a set A. Then the two sets can have resemblance t only if t·|A| is
// at most the reach.
func (x *Join) reach(set, place int) float64 {
	return float64(x.sets[set].size) - (1+x.t)*float64(place) + leeway
}

// index builds the lists of postings from the keys of all sets, and replaces each key with the
// number of its list. There are at least half as many lists as postings, so few lists contain
// postings of several shingles.
func (x *Join) index() {
	x.order = nil // free the memory: no more sets will be added
	shift := 32 - min(max(bits.Len(uint(x.posted))-1, 1), 31)
	x.starts = make([]uint32, 1<<(32-shift)+1)
	for set := range x.sets {
		keys := x.sets[set].keys
		for i, k := range keys {
			keys[i] = k * keyFactor >> shift
			x.starts[keys[i]]++
		}
	}
	end := uint32(0)
	for i, n := range x.starts { // set starts[i] to the end of list i; filling the list then moves it to the beginning
		end += n
		x.starts[i] = end
	}
	x.lists = make([]posting, x.posted)
	for set := range x.sets {
		for i, k := range x.sets[set].keys {
			x.starts[k]--
			x.lists[x.starts[k]] = posting{int32(set), math.Nextafter32(float32(x.reach(set, int(x.sets[set].alone)+i)), math.MaxFloat32)}
		}
	}
	for k := range len(x.starts) - 1 {
		slices.SortFunc(x.list(uint32(k)), func(p, q posting) int {
			return cmp.Or(cmp.Compare(q.reach, p.reach), cmp.Compare(p.set, q.set))
		})
	}
	x.met = make([]int32, len(x.sets))
}

// keyFactor spreads keys over the lists by multiplication. It is 2^32 divided by the golden ratio,
// made odd (Knuth's multiplicative hashing).
const keyFactor = 0x9E3779B1

func (x *Join) list(number uint32) []posting { return x.lists[x.starts[number]:x.starts[number+1]] }

// After yields the indexes of the later sets that may resemble the set with index at. These are all
// sets that resemble it, and some that do not. Each is yielded once, in no particular order.
// from[i] is the lowest resemblance that matters for set i. It is at least the threshold of the
// join, or above 1 to exclude the set. The resemblance of a pair must reach the values of both
// sets. yield may change from[other]. [Join.Add] must not be called after After.
func (x *Join) After(at int, from []float64, yield func(other int) bool) {
	if x.lists == nil {
		x.index()
	}
	x.round++
	size := float64(x.sets[at].size)
	least := from[at]*size - leeway
	for i, key := range x.sets[at].keys {
		place := float64(int(x.sets[at].alone) + i)
		if size-(1+from[at])*place+leeway < from[at]*least {
			return
		}
		for _, p := range x.list(key) {
			if float64(p.reach) < least {
				break
			}
			x.read++
			other := int(p.set)
			if other <= at || x.met[other] == x.round {
				continue
			}
			t := max(from[at], from[other])
			if t > 1 || !x.reaches(t, size, place, p) {
				continue
			}
			x.met[other] = x.round
			if !x.apart(at, other, t) && !yield(other) {
				return
			}
		}
	}
}

// reaches reports whether two sets may have resemblance t. size is the number of shingles of the
// first set, and place is the position, from 0, of its first shingle that the other set shares. p
// is the posting of that shingle in the other set. A posting does not store the shingle's position,
// but its reach was computed from the position and x.t.
func (x *Join) reaches(t, size, place float64, p posting) bool {
	other := float64(x.sets[p.set].size)
	return t*other <= size-(1+t)*place+leeway && t*size <= other-(1+t)/(1+x.t)*(other-float64(p.reach))+leeway
}

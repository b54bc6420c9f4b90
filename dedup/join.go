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
// is an exact set-similarity join: it misses no pair, and may also name pairs that are less
// similar. Candidates pass two tests, and both follow from what a pair must share.
//
// The first test is prefix filtering (Chaudhuri, Ganti and Kaushik, ICDE 2006; AllPairs by Bayardo,
// Ma and Srikant, WWW 2007). It uses the positions and lengths of PPJoin (Xiao, Wang, Lin and Yu,
// WWW 2008). Two sets of resemblance t share at least
//
//	o = t/(1+t) · (|A|+|B|)
//
// shingles. Let all shingles have one order, the rarest first. Let the first shingle that A and B
// share be at place i of A and at place j of B, counted from 0. All shared shingles are at or
// behind these places, so i ≤ |A|-o and j ≤ |B|-o. Rewritten so that each side has one set's own
// numbers, that is
//
//	reach(B, j) = |B| - (1+t)·j ≥ t·|A|   and   reach(A, i) ≥ t·|B|.
//
// The shortest partner that a set can have is t times as long as the set. So a set is posted only
// under its first shingles, while their reach is at least t² of its length. Each posting stores its
// reach. A list of postings is sorted by reach, the farthest first, so a search ends where the
// first inequality fails. Any order of the shingles gives the same pairs. The rarest first gives
// the fewest candidates, because a template's shingles come last. For example, take ten thousand
// pages of one template with 18 % of their own text each, which resemble each other by .7. At .8
// their prefixes end before the template begins, or the reach of its first shingles is too short.
// No pair of them is compared, and the work is that of reading them.
//
// The second test compares bitmaps (Sandes, Teodoro and Melo, "Bitmap filter", Information Systems
// 88, 2020). Each shingle flips one bit of its set's bitmap. Each bit in which two bitmaps differ
// means at least one shingle that only one of the sets has. A pair of resemblance t has at most
// (1-t)/(1+t) · (|A|+|B|) such shingles. The bitmaps here are long enough that a pair passes by
// mistake only if its resemblance is at most a few hundredths below t. The test costs a few machine
// words. PPJoin counts what prefixes share and has a suffix test for the same purpose, but these
// need the sets themselves, which here may be on disk.
//
// One join serves all similarities from t on, because a higher similarity only makes the bounds on
// the same places and bitmaps stricter. A search gives each set the similarity from which it is
// looked for. Suppose pages of one template resemble each other by .42. At .3 the first of them
// meets all the others and takes them. After that they are looked for above .42 only, and no pair
// of them is compared.
//
// A table of bounded size counts how often each shingle occurs, by its hash. Shingles that share a
// counter seem less rare than they are. That makes more candidates, and never loses a pair. A
// shingle that is in one set only is not posted at all. Most shingles of most sites are in one set
// only, and at a low similarity most of a set would be posted. So two bits of a larger table
// record, apart from the count, whether a shingle occurs again.
//
// Known weaknesses: the join misses nothing, but it is not always fast. Many pages may share even
// their rarest shingles, for example if each is made of ten paragraphs out of a stock of a hundred.
// Then each list holds a constant share of all pages, and reading the lists is quadratic, at a
// nanosecond or two a posting. If such pages resemble each other by just less than t, the bitmaps
// pass them too, and each pair is compared. In the worst case no exact method is known to be
// better: finding the pairs that share enough of n sets in time n^(2-ε) would refute the strong
// exponential time hypothesis (Ahle, Pagh, Razenshteyn and Silvestri, PODS 2016, for inner
// products). And n similar sets make n(n-1)/2 pairs, of which [Clusters] needs only some.

// Occurrences counts for each shingle the sets that have it. The count of a shingle that shares its
// counter with others is too high.
type Occurrences struct {
	counts []uint16 // saturating
	shift  int
	met    []uint64 // 32 shingles each: 0, 1, or 2 for more sets
	mask   uint64   // of a shingle's place in met
}

// The counter table has a counter for each shingle, and takes at most 128 MiB. The table that tells
// whether a shingle occurs again takes one or two bytes for each shingle, and at most 512 MiB. With
// half a billion different shingles, it reports one in five as occurring again.
const (
	countersLeast = 10 // as a power of two
	countersMost  = 26
	metMost       = 31
)

// NewOccurrences returns a table for sets that have so many shingles altogether.
func NewOccurrences(shingles int) *Occurrences {
	size := max(bits.Len(uint(shingles)), countersLeast)
	met := min(size+2, metMost)
	size = min(size, countersMost)
	return &Occurrences{make([]uint16, 1<<size), 64 - size, make([]uint64, 1<<(met-5)), 1<<met - 1}
}

// Count adds a set.
func (o *Occurrences) Count(s Set) {
	for _, x := range s {
		if n := &o.counts[x>>o.shift]; *n < math.MaxUint16 {
			*n++
		}
		if word, at := o.place(x); *word>>at&3 < 2 {
			*word += 1 << at
		}
	}
}

func (o *Occurrences) place(x uint64) (word *uint64, at int) {
	x &= o.mask
	return &o.met[x>>5], int(x&31) * 2
}

// returns reports whether a shingle is in several sets. It may say so of a shingle that is in one
// only, but not the other way round.
func (o *Occurrences) returns(x uint64) bool {
	word, at := o.place(x)
	return *word>>at&3 == 2
}

// A Join finds the sets of a list that may resemble each other. For each set it holds some sixty
// bytes, plus an eighth of a byte to two bytes a shingle. It also holds 14 to 16 bytes for each of
// the set's rarest shingles that another set has: at t = .8 at most a fifth of all shingles, at .3
// seven tenths. It must be used by one goroutine.
type Join struct {
	t     float64
	order *Occurrences
	sets  []joined

	posted int // keys of all sets
	keys   room[uint32]
	bits   room[uint64]

	lists  []posting
	starts []uint32 // of each list in lists
	met    []int32  // by set, the last round in which it was met
	round  int32
	read   int // postings read so far
}

// A joined holds what the join keeps of one set.
type joined struct {
	size, alone int32    // shingles of it, and those that no other set has, which come first
	keys        []uint32 // of the shingles posted, rarest first; of lists, once there are any
	bitmap      []uint64
}

// A room allocates small slices in large blocks. It grows without moving them.
type room[T any] struct{ left []T }

// roomSize is the least number of elements that a room grows by.
const roomSize = 1 << 16

// take returns a slice of n zeros.
func (r *room[T]) take(n int) []T {
	if n > len(r.left) {
		r.left = make([]T, max(n, roomSize))
	}
	s := r.left[:n:n]
	r.left = r.left[n:]
	return s
}

// A posting is the entry of a set under one of its shingles.
type posting struct {
	set   int32
	reach float32 // rounded up, if at all
}

// leeway is added to bounds to allow for rounding, in shingles. It is far more than any rounding
// error: a candidate that misses its bound by less than leeway passes.
const leeway = 1e-3

// NewJoin returns a join at resemblance t, above 0 and at most 1, of n sets that were all counted
// in o. A set is empty until Add gives it.
func NewJoin(t float64, n int, o *Occurrences) *Join {
	return &Join{t: t, order: o, sets: make([]joined, n)}
}

// Add sets the set at a place of the list. It may be called once for each place, in any order. An
// empty set resembles no other.
func (x *Join) Add(at int, s Set) {
	n := &x.sets[at]
	n.size = int32(len(s))
	x.post(n, s)
	x.draw(n, s)
}

// post lists the keys of a set's prefix. Shingles are ordered by their counts. Shingles of equal
// count are ordered by their numbers, which is their order in the set.
func (x *Join) post(n *joined, s Set) {
	prefix := min(len(s), int((1-x.t)*float64(len(s))+leeway)+1)
	order := make([]uint64, 0, len(s))
	for i, v := range s {
		if x.order.returns(v) {
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

// draw makes the bitmap of a set.
func (x *Join) draw(n *joined, s Set) {
	words := 1 << bits.Len(uint(bitsPerShingle*(1-x.t)/(1+x.t)*float64(len(s)))/64)
	n.bitmap = x.bits.take(words)
	for _, v := range s {
		n.bitmap[v>>6&uint64(words-1)] ^= 1 << (v & 63)
	}
}

// bitsPerShingle times (1-t)/(1+t) is the least number of bits of a bitmap for each shingle. With
// it, two sets are told apart if the shingles that only one of them has are 1.15 times as many as
// in a pair of resemblance t. At t = .8 that is a resemblance of .77 and below, at .3 of .23 and
// below.
const bitsPerShingle = 16

// apart reports whether the bitmaps of two sets show that they resemble each other less than
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

// reach returns the reach of the shingle at a place of a set.
func (x *Join) reach(set, place int) float64 {
	return float64(x.sets[set].size) - (1+x.t)*float64(place) + leeway
}

// index makes the lists of postings, and replaces keys by numbers of lists. There are at least half
// as many lists as postings, so that few lists hold several shingles.
func (x *Join) index() {
	x.order = nil // nothing is added any more
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
	for i, n := range x.starts { // each ends where the next begins, and is filled from its end
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

// keyFactor is 2^32 divided by the golden ratio, made odd.
const keyFactor = 0x9E3779B1

func (x *Join) list(number uint32) []posting { return x.lists[x.starts[number]:x.starts[number+1]] }

// After yields the sets behind place at of the list that may resemble the set there: all that do,
// and some that do not. Each is yielded once, in any order. from[i] is the similarity from which
// set i is looked for. It must be at least the similarity of the join, and a value above 1 excludes
// the set. For two sets the greater value counts. The caller may change from for a set that was
// yielded. No set may be added after a search.
func (x *Join) After(at int, from []float64, yield func(other int) bool) {
	if x.lists == nil {
		x.index()
	}
	x.round++
	size := float64(x.sets[at].size)
	least := from[at]*size - leeway // shingles of a partner
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

// reaches reports whether two sets may have resemblance t. The first set has the given size, and
// its first shared shingle is at place. The posting p gives the same of the other set: its place
// follows from the reach, which was computed with the least similarity.
func (x *Join) reaches(t, size, place float64, p posting) bool {
	other := float64(x.sets[p.set].size)
	return t*other <= size-(1+t)*place+leeway && t*size <= other-(1+t)/(1+x.t)*(other-float64(p.reach))+leeway
}

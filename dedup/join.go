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
// is an exact set-similarity join: it may name pairs that are less alike, and misses none. Its
// candidates pass two tests, both of which follow from what a pair would have to share.
//
// The first is that of the prefix, of Chaudhuri, Ganti and Kaushik (ICDE 2006) and
// AllPairs (Bayardo, Ma and Srikant, WWW 2007), with the positions and lengths of
// PPJoin (Xiao, Wang, Lin and Yu, WWW 2008). Two sets of resemblance t share at least
//
//	o = t/(1+t) · (|A|+|B|)
//
// shingles. Let all shingles have one order, the rarest first, and let the first that A and B share
// stand at place i of A and at place j of B, counted from 0. What they share stands from there on,
// so i ≤ |A|-o and j ≤ |B|-o. Written apart by what is known of each set alone, that is
//
//	reach(B, j) = |B| - (1+t)·j ≥ t·|A|   and   reach(A, i) ≥ t·|B|.
//
// The shortest partner that a set can have is t times as long as the set. So a set is posted under
// its first shingles alone, as long as their reach is t² of its length. Each posting says how far
// it reaches. A list of postings has the farthest first, so that a search ends where the first
// inequality fails. Any order of the shingles gives the same pairs. The rarest first gives the
// fewest candidates: a template's shingles stand last. Ten thousand pages that are one template and
// 18 % of their own each resemble each other by .7; at .8 their prefixes end before the template
// begins, or the reach of its first shingles is spent. No pair of them is looked at, and the work
// is that of reading them.
//
// The second test is that of bitmaps (Sandes, Teodoro and Melo, "Bitmap filter", Information
// Systems 88, 2020). Each shingle flips one bit of its set's bitmap. Each bit in which two bitmaps
// differ is at least one shingle that only one of the sets has, and of those a pair of resemblance
// t has (1-t)/(1+t) · (|A|+|B|) at most. With as many bits as are used here, only pairs that are at
// most a few hundredths less alike than t pass it by mistake, and it costs a few machine words.
// PPJoin's count of what prefixes share and its suffix test do the same with the sets themselves,
// which here may be on disk.
//
// One join serves all similarities from t on, for a higher one asks more of the same places and
// bitmaps. A search says of each set from where on it is looked for. So pages of one template that
// resemble each other by .42 are met at .3 by the first of them alone, if that took them there:
// above .42 they are looked for like the flood above.
//
// How rare a shingle is, is counted in a table of bounded size by its hash. Shingles that share a
// counter seem less rare than they are. That makes more candidates, and never loses a pair. A
// shingle that is in one set only is not posted at all. Most shingles of most sites are, and at a
// low similarity most of a set would be posted. So whether a shingle returns is kept apart from how
// often, in two bits of a larger table.
//
// What it gets wrong: nothing, but it is not always fast. Where many pages share even their rarest
// shingles, for example if each is made of ten paragraphs out of a stock of a hundred, each list
// holds a constant share of all pages. Reading the lists is then quadratic, at a nanosecond or two
// a posting. If such pages resemble each other by just less than t, the bitmaps pass them too, and
// each pair is compared. At its worst no exact method known is better: to find the pairs that share
// enough of n sets in time n^(2-ε) would refute the strong exponential time hypothesis (Ahle, Pagh,
// Razenshteyn and Silvestri, PODS 2016, for inner products). And n like sets are n(n-1)/2 pairs,
// of which [Clusters] asks for those that matter.

// Occurrences counts in how many sets each shingle is. The count of a shingle that shares its
// counter with others is too high.
type Occurrences struct {
	counts []uint16 // they stop at the greatest number
	shift  int
	met    []uint64 // 32 shingles each: 0, 1, or 2 for more sets
	mask   uint64   // of a shingle's place in met
}

// A table has a counter for each shingle, and 128 MiB of them at most. Beside it there are one or
// two bytes for each, and 512 MiB at most, of those that tell whether a shingle returns: at half a
// billion shingles, all different, one in five seems to.
const (
	countersLeast = 10 // as a power of two
	countersMost  = 26
	metMost       = 31
)

// NewOccurrences makes a table for sets of so many shingles altogether.
func NewOccurrences(shingles int) *Occurrences {
	size := max(bits.Len(uint(shingles)), countersLeast)
	met := min(size+2, metMost)
	size = min(size, countersMost)
	return &Occurrences{make([]uint16, 1<<size), 64 - size, make([]uint64, 1<<(met-5)), 1<<met - 1}
}

// Count takes in a set.
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

// returns says whether a shingle is in several sets. If it is, the answer is yes.
func (o *Occurrences) returns(x uint64) bool {
	word, at := o.place(x)
	return *word>>at&3 == 2
}

// A Join finds the sets of a list that may resemble each other. Of each set it holds some sixty
// bytes, an eighth of a byte or two a shingle, and 14 to 16 bytes for each of its rarest shingles
// that another set has: at t = .8 a fifth of all at most, at .3 seven tenths. It is for one
// goroutine.
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

// A joined set is what is held of one.
type joined struct {
	size, alone int32    // shingles of it, and those that no other set has, which come first
	keys        []uint32 // of the shingles posted, rarest first; of lists, once there are any
	bitmap      []uint64
}

// A room has place for small slices. It grows without moving what is there.
type room[T any] struct{ left []T }

// roomSize is how much a room grows by, at least.
const roomSize = 1 << 16

// take takes a slice of n zeros.
func (r *room[T]) take(n int) []T {
	if n > len(r.left) {
		r.left = make([]T, max(n, roomSize))
	}
	s := r.left[:n:n]
	r.left = r.left[n:]
	return s
}

// A posting is a set under one of its shingles.
type posting struct {
	set   int32
	reach float32 // rounded up, if at all
}

// leeway is added to bounds for the sake of rounding, in shingles. It is far more than rounding can
// cost: a candidate that misses its bound by less than leeway passes.
const leeway = 1e-3

// NewJoin makes a join at resemblance t, above 0 and at most 1, of n sets that were all counted in
// o. Until they are added they are empty.
func NewJoin(t float64, n int, o *Occurrences) *Join {
	return &Join{t: t, order: o, sets: make([]joined, n)}
}

// Add gives the set at a place of the list, once. The order in which sets are given does not
// matter. An empty set is like no other.
func (x *Join) Add(at int, s Set) {
	n := &x.sets[at]
	n.size = int32(len(s))
	x.post(n, s)
	x.draw(n, s)
}

// post lists the keys of a set's prefix. Shingles are ordered by their counts, and those of one
// count by their numbers, which is their order in the set.
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

// bitsPerShingle times (1-t)/(1+t) is how many bits a bitmap has for a shingle, at least. Then two
// sets are told apart if the shingles that only one of them has are 1.15 times as many as a pair of
// resemblance t may have: from a resemblance of .77 down at t = .8, from .23 down at .3.
const bitsPerShingle = 16

// apart says that two sets resemble each other less than a similarity, by their bitmaps. The
// longer one is folded to the length of the other.
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

// reach is how far a shingle at a place of a set reaches.
func (x *Join) reach(set, place int) float64 {
	return float64(x.sets[set].size) - (1+x.t)*float64(place) + leeway
}

// index makes the lists of postings. There are half as many as postings or more, so that few hold
// many shingles; keys become numbers of lists.
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

// After yields the sets behind the one at place at of the list that may resemble it: all that do,
// and some that do not. Each comes once, in any order. from says of each set from which similarity
// on it is looked for. That is the least of the join or above it, and of two sets the greater of
// theirs counts. Above 1 a set is like no other. from may change for what was yielded. No set may
// be added after a search.
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

// reaches says whether two sets may be alike by t if what they share begins at a place of the one,
// which has a size, and where a posting says of the other. What a posting says was reckoned with
// the least similarity, and the place follows from it.
func (x *Join) reaches(t, size, place float64, p posting) bool {
	other := float64(x.sets[p.set].size)
	return t*other <= size-(1+t)*place+leeway && t*size <= other-(1+t)/(1+x.t)*(other-float64(p.reach))+leeway
}

package join

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"

	"skink/dedup"
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
// 2016) prove this for inner products. And n similar sets make n(n-1)/2 pairs, of which [Taken]
// needs only some.

// Occurrences counts for each shingle the sets in which it occurs. Only shingles that occur in
// several sets have a counter, and some of them share one. Shingles that share a counter are
// counted together. So the count of a shingle that occurs in several sets may be too high, but is
// hardly ever too low. Counting stops at 65,535.
type Occurrences struct {
	repeats
	counts []uint16 // the counter of shingle x is counts[x>>shift]; it stops at 65,535
	shift  int
}

// A repeats records for each number whether it occurred in no set (0), in one (1) or in several (2). The
// record of a number takes two bits. Some numbers share one, so the result may be too high.
type repeats struct {
	met  []uint64 // 32 records in each word
	mask uint64   // selects the bits of a number that determine the position of its record
}

func newRepeats(width int) repeats { return repeats{make([]uint64, 1<<(width-5)), 1<<width - 1} }

// The table of counters has one counter for two to four shingles, because on most sites most
// shingles occur in only one set. It takes at most 128 MiB. The table that records whether a
// shingle occurs again takes one or two bytes for each shingle, and at most 512 MiB. With half a
// billion different shingles, it wrongly reports one in five as occurring again.
const (
	minCounterBits = 10 // at least 2^10 counters
	maxCounterBits = 26 // at most 2^26 counters of two bytes
	maxMetBits     = 31 // at most 2^31 entries of two bits in met
)

// NewOccurrences returns an empty table of at most memory bytes. shingles is the expected sum of the
// sizes of all sets. It determines the size of the table.
func NewOccurrences(shingles, memory int) *Occurrences {
	size := max(bits.Len(uint(shingles)), minCounterBits)
	met := min(size+2, maxMetBits)
	size = min(max(size-2, minCounterBits), maxCounterBits)
	for 1<<met/4+2<<size > memory && size > minCounterBits {
		met, size = met-1, min(size, met-4)
	}
	return &Occurrences{newRepeats(met), make([]uint16, 1<<size), 64 - size}
}

func (o *Occurrences) Count(s dedup.Set) {
	for _, x := range s {
		if n := &o.counts[x>>o.shift]; o.meet(x) > 0 && *n < math.MaxUint16 {
			*n++
		}
	}
}

func (r *repeats) place(x uint64) (word *uint64, at int) {
	x &= r.mask
	return &r.met[x>>5], int(x&31) * 2
}

// several is the record of a number that occurs in more than one set.
const several = 2

// meet counts a number, and returns what times returned before.
func (r *repeats) meet(x uint64) (before uint64) {
	word, at := r.place(x)
	if before = *word >> at & 3; before < several {
		*word += 1 << at
	}
	return before
}

// times returns 0 if a number occurs in none of the counted sets, 1 if it occurs in one, and several
// if it occurs in more. The result may be too high, but it is never too low.
func (r *repeats) times(x uint64) uint64 {
	word, at := r.place(x)
	return *word >> at & 3
}

// An Entry is what a [Join] needs to know of a set. It takes 6 bytes for each of the set's rarest
// shingles that another set has, and an eighth of a byte to two bytes for each shingle. At t = .8 the
// former are at most a fifth of all shingles, at .3 at most seven tenths.
type Entry struct {
	Text int32 // index of the set

	size   int32    // number of all shingles
	from   float64  // result of Join.From for an entry in memory
	keys   []uint32 // upper halves of the indexed shingles, rarest first
	places []uint16 // position of each among all shingles of the set, which begin with those that no other set has; at most 65,535
	bitmap []uint64 // for the second test; see the essay above
}

// Entry returns the entry of a set for a join at resemblance t, above 0 and at most 1. o must have
// counted all sets of the join. The result ok is false if the set resembles no other.
func (o *Occurrences) Entry(t float64, text int32, s dedup.Set) (e Entry, ok bool) {
	e = Entry{Text: text, size: int32(len(s))}
	if !e.post(o, t, s) {
		return e, false
	}
	e.draw(t, s)
	return e, true
}

// post fills e.keys and e.places from s. The keys come from the rarest shingles of s, as many as a
// search may need. Shingles with equal counts stay in ascending order. post returns false if there
// are none.
func (e *Entry) post(o *Occurrences, t float64, s dedup.Set) bool {
	prefix := min(len(s), int((1-t)*float64(len(s))+leeway)+1)
	order := make([]uint64, 0, len(s))
	for i, v := range s {
		if o.times(v) >= several {
			order = append(order, uint64(o.counts[v>>o.shift])<<32|uint64(i))
		}
	}
	alone := len(s) - len(order)
	if alone >= prefix {
		return false
	}
	slices.Sort(order)
	e.keys, e.places = make([]uint32, prefix-alone), make([]uint16, prefix-alone)
	for i := range e.keys {
		e.keys[i] = uint32(s[uint32(order[i])] >> 32)
		e.places[i] = uint16(min(alone+i, math.MaxUint16)) // a lower position excludes less
	}
	return true
}

// draw fills e.bitmap. Each shingle flips one bit, which its low bits select.
func (e *Entry) draw(t float64, s dedup.Set) {
	words := 1 << bits.Len(uint(bitsPerShingle*(1-t)/(1+t)*float64(len(s)))/64)
	e.bitmap = make([]uint64, words)
	for _, v := range s {
		e.bitmap[v>>6&uint64(words-1)] ^= 1 << (v & 63)
	}
}

// bitsPerShingle times (1-t)/(1+t) is the minimum number of bits in a bitmap for each shingle. With
// this many bits, the bitmaps can exclude a pair with 1.15 times as many differing shingles as a
// pair of resemblance t has. At t = .8 this excludes pairs with a resemblance of .77 and below, and
// at .3 those of .23 and below.
const bitsPerShingle = 16

// AppendRow appends the entry to a row of bytes. Rows sort by text.
func (e *Entry) AppendRow(row []byte) []byte {
	row = binary.BigEndian.AppendUint32(row, uint32(e.Text))
	row, _ = binary.Append(row, binary.BigEndian, []int32{e.size, int32(len(e.keys))})
	row, _ = binary.Append(row, binary.BigEndian, e.keys)
	row, _ = binary.Append(row, binary.BigEndian, e.places)
	row, _ = binary.Append(row, binary.BigEndian, e.bitmap)
	return row
}

// TextOf returns the text of a row of [Entry.AppendRow] or [Occurrences.Excerpt].
func TextOf(row []byte) int32 { return int32(binary.BigEndian.Uint32(row)) }

// read sets the entry to that of a row.
func (e *Entry) read(row []byte) {
	e.Text, e.size = TextOf(row), int32(binary.BigEndian.Uint32(row[4:]))
	n := int(binary.BigEndian.Uint32(row[8:]))
	row = row[12:]
	e.keys, e.places = slices.Grow(e.keys[:0], n)[:n], slices.Grow(e.places[:0], n)[:n]
	e.bitmap = slices.Grow(e.bitmap[:0], (len(row)-6*n)/8)[:(len(row)-6*n)/8]
	_, _ = binary.Decode(row, binary.BigEndian, e.keys)
	_, _ = binary.Decode(row[4*n:], binary.BigEndian, e.places)
	_, _ = binary.Decode(row[6*n:], binary.BigEndian, e.bitmap)
}

// Sift calls add with the rows of [Entry.AppendRow] without the keys that only one of them has, by
// which a Join finds nothing. It leaves out rows that have no other keys. Each key takes memory, and is
// looked up in each round of a Join. The table of [Occurrences] excludes most of these keys, unless it
// is too small for all shingles of all sets. There are fewer keys than shingles.
//
// Sift reads rows twice. keys is about their number of keys, and memory the size of its table in bytes.
func Sift(keys, memory int, rows iter.Seq2[[]byte, error], add func(row []byte) error) error {
	met := newRepeats(max(min(bits.Len(uint(keys))+2, bits.Len(uint(memory))+1, maxMetBits), minCounterBits))
	var e Entry
	for row, err := range rows {
		if err != nil {
			return err
		}
		e.read(row)
		for _, key := range e.keys {
			met.meet(uint64(key))
		}
	}
	var sifted []byte
	for row, err := range rows {
		if err != nil {
			return err
		}
		if e.read(row); !e.sift(&met) {
			continue
		}
		sifted = e.AppendRow(sifted[:0])
		if err := add(sifted); err != nil {
			return err
		}
	}
	return nil
}

// sift drops the keys that only one entry has. It reports whether any key is left.
func (e *Entry) sift(met *repeats) bool {
	n := 0
	for i, key := range e.keys {
		if met.times(uint64(key)) >= several {
			e.keys[n], e.places[n] = key, e.places[i]
			n++
		}
	}
	e.keys, e.places = e.keys[:n], e.places[:n]
	return n > 0
}

// apart reports whether the bitmaps of two sets prove that their resemblance is less than
// similarity. The longer bitmap is folded to the length of the other.
func (e *Entry) apart(other *Entry, similarity float64) bool {
	p, q := e.bitmap, other.bitmap
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
	return float64(differ) > (1-similarity)/(1+similarity)*float64(e.size+other.size)+leeway
}

// A Join finds the sets of a list that may resemble each other, in rounds that each take a bounded
// amount of memory. Only one goroutine may use a Join.
type Join struct {
	T      float64 // resemblance of the entries
	Memory int     // about how many bytes of entries a round keeps in memory; it keeps at least one text
	// From returns the lowest resemblance that matters for a set. It is at least T, or above 1 to
	// exclude the set. The resemblance of a pair must reach the values of both sets.
	From func(text int32) float64
	// Try is called once for each pair that may have that resemblance: for all pairs that do, and for
	// some that do not. It may raise the results of From for the second set. The pairs of each set
	// come in ascending order of the first set, and after all pairs that precede the first set.
	Try func(first, second int32) error

	entries []Entry // those of this round, in ascending order of text
	bytes   int
	keys    room[uint32]
	places  room[uint16]
	bits    room[uint64]

	lists   []posting // all lists of postings, one after the other
	starts  []uint32  // list i is lists[starts[i]:starts[i+1]]
	shift   int       // selects the list of a key
	met     []int32   // for each entry, the number of the last search that considered it
	search  int32
	read    int
	pending []int32 // entries that may resemble the set in later
	later   Entry
}

// # Rounds
//
// A round takes as many sets as fit in memory, from those that are not excluded. It finds the pairs
// among them in the order of their first sets. Then it reads the entries of all later sets, and finds
// the pairs of each with the sets in memory, which at that time are final. So each set meets the
// earlier ones in ascending order, as if all were in memory. Sets that [Join.From] excludes take no
// part in later rounds.

// Round compares the first sets in rows with each other, and with all later sets. rows are those of
// [Entry.AppendRow] in ascending order. The result more reports whether there are sets that were not
// compared with each other. They are those from next on, which the next round must be given.
func (x *Join) Round(rows iter.Seq2[[]byte, error]) (next int32, more bool, err error) {
	x.entries, x.bytes, x.keys, x.places, x.bits = nil, 0, room[uint32]{}, room[uint16]{}, room[uint64]{}
	for row, err := range rows {
		if err != nil {
			return 0, false, err
		}
		text := TextOf(row)
		if x.From(text) > 1 {
			continue
		}
		if !more && x.bytes >= x.Memory {
			if err := x.within(); err != nil {
				return 0, false, err
			}
			x.index()
			next, more = text, true
		}
		if x.later.read(row); !more {
			x.add(&x.later)
			continue
		}
		if err := x.tryLater(); err != nil {
			return 0, false, err
		}
	}
	if !more {
		return 0, false, x.within()
	}
	return next, true, nil
}

// add adds a copy of an entry to those in memory.
func (x *Join) add(e *Entry) {
	one := *e
	one.keys, one.places, one.bitmap = x.keys.take(len(e.keys)), x.places.take(len(e.places)), x.bits.take(len(e.bitmap))
	copy(one.keys, e.keys)
	copy(one.places, e.places)
	copy(one.bitmap, e.bitmap)
	x.entries = append(x.entries, one)
	x.bytes += entryBytes + keyBytes*len(one.keys) + 8*len(one.bitmap)
}

const (
	entryBytes = 112 // of an Entry, without its keys and its bitmap, in a growing slice
	keyBytes   = 24  // of a key, its posting and its share of the lists
)

// within tries the pairs of the entries in memory.
func (x *Join) within() error {
	x.index()
	for i := range x.entries {
		e := &x.entries[i]
		err := x.probe(e, true, func(at int32) error {
			other := &x.entries[at]
			err := x.Try(e.Text, other.Text)
			other.from = x.From(other.Text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tryLater tries the pairs of the set in x.later with those in memory.
func (x *Join) tryLater() error {
	second := &x.later
	x.pending = x.pending[:0]
	err := x.probe(second, false, func(at int32) error { x.pending = append(x.pending, at); return nil })
	if err != nil {
		return err
	}
	slices.Sort(x.pending)
	for _, at := range x.pending {
		first := &x.entries[at]
		if t := max(x.From(first.Text), x.From(second.Text)); t > 1 || first.apart(second, t) {
			continue // an earlier pair has raised it
		}
		if err := x.Try(first.Text, second.Text); err != nil {
			return err
		}
	}
	return nil
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
	key   uint32
	entry int32
	reach float32 // Join.reach, rounded up to a float32 so that no pair is missed
}

// leeway loosens every bound of the join, so that a rounding error never excludes a pair. It is a
// number of shingles, far larger than any rounding error. A pair that misses a bound by less than
// leeway becomes a candidate.
const leeway = 1e-3

// reach returns |B| - (1+t)·place, plus leeway. B is the set of an entry, and place is the position,
// from 0, of one of its shingles, which are in order of rarity. Suppose this shingle is the rarest
// that B shares with a set A. Then the two sets can have resemblance t only if t·|A| is at most the
// reach.
func (e *Entry) reach(t float64, place int) float64 {
	return float64(e.size) - (1+t)*float64(place) + leeway
}

// asks yields the keys of an entry by which another set can have resemblance t, with their positions
// from 0 among all shingles.
func (e *Entry) asks(t float64) iter.Seq2[int, uint32] {
	return func(yield func(int, uint32) bool) {
		least := t * (t*float64(e.size) - leeway)
		for i, key := range e.keys {
			if place := int(e.places[i]); e.reach(t, place) < least || !yield(place, key) {
				return
			}
		}
	}
}

// index builds the lists of postings from the keys of all entries that are not excluded. There are at
// least half as many lists as postings, so few lists contain postings of several shingles.
func (x *Join) index() {
	for at := range x.entries {
		x.entries[at].from = x.From(x.entries[at].Text)
	}
	posted := 0
	postings := func(yield func(at, place int, key uint32)) {
		for at := range x.entries {
			if e := &x.entries[at]; e.from <= 1 {
				for place, key := range e.asks(e.from) {
					yield(at, place, key)
				}
			}
		}
	}
	postings(func(int, int, uint32) { posted++ })
	x.shift = 32 - min(max(bits.Len(uint(posted))-1, 1), 31)
	x.starts, x.lists = make([]uint32, 1<<(32-x.shift)+1), nil
	postings(func(_, _ int, key uint32) { x.starts[x.number(key)]++ })
	end := uint32(0)
	for i, n := range x.starts { // set starts[i] to the end of list i; filling the list then moves it to the beginning
		end += n
		x.starts[i] = end
	}
	x.lists = make([]posting, posted)
	postings(func(at, place int, key uint32) {
		k := x.number(key)
		x.starts[k]--
		x.lists[x.starts[k]] = posting{key, int32(at), math.Nextafter32(float32(x.entries[at].reach(x.T, place)), math.MaxFloat32)}
	})
	for k := range len(x.starts) - 1 {
		slices.SortFunc(x.lists[x.starts[k]:x.starts[k+1]], func(p, q posting) int {
			return cmp.Or(cmp.Compare(q.reach, p.reach), cmp.Compare(p.entry, q.entry))
		})
	}
	x.met, x.search = make([]int32, len(x.entries)), 0
}

// number returns the number of the list of a key.
func (x *Join) number(key uint32) uint32 { return key * keyFactor >> x.shift }

// keyFactor spreads keys over the lists by multiplication. It is 2^32 divided by the golden ratio,
// made odd (Knuth's multiplicative hashing).
const keyFactor = 0x9E3779B1

// probe yields the entries in memory that may resemble e: all that do, and some that do not. They are
// those of later texts if later is true, else those of earlier texts. Each is yielded once, in no
// particular order.
func (x *Join) probe(e *Entry, later bool, yield func(at int32) error) error {
	x.search++
	from, size := x.From(e.Text), float64(e.size)
	if from > 1 {
		return nil
	}
	least := from*size - leeway
	for place, key := range e.asks(from) {
		k := x.number(key)
		for _, p := range x.lists[x.starts[k]:x.starts[k+1]] {
			if float64(p.reach) < least {
				break
			}
			x.read++
			if p.key != key {
				continue
			}
			other := &x.entries[p.entry]
			if (other.Text > e.Text) != later || x.met[p.entry] == x.search {
				continue
			}
			t := max(from, other.from)
			if t > 1 || !x.reaches(t, size, float64(place), other, p) {
				continue
			}
			x.met[p.entry] = x.search
			if e.apart(other, t) {
				continue
			}
			if err := yield(p.entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// reaches reports whether two sets may have resemblance t. size is the number of shingles of the
// first set, and place is the position, from 0, of its first shingle that the second set shares. p
// is the posting of that shingle in the second set. A posting does not store the shingle's position,
// but its reach was computed from the position and x.T.
func (x *Join) reaches(t, size, place float64, second *Entry, p posting) bool {
	other := float64(second.size)
	return t*other <= size-(1+t)*place+leeway && t*size <= other-(1+t)/(1+x.T)*(other-float64(p.reach))+leeway
}

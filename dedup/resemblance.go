package dedup

func common(a, b Set) int {
	n, _ := commonFrom(a, b, 0)
	return n
}

// piece is the number of steps after which commonFrom checks whether |A∩B| can still reach least.
const piece = 128

// commonFrom returns |A∩B| and the number of steps it took. It stops when |A∩B| can no longer reach
// least, and then returns a number below least.
//
// A step reads one shingle of A, of B or of both. The steps have no branches, because the shingles
// of two texts alternate at random, which defeats branch prediction.
func commonFrom(a, b Set, least int) (n, steps int) {
	for {
		left := min(len(a), len(b))
		if left == 0 || n+left < least {
			return n, steps
		}
		left = min(left, piece)
		steps += left
		i, j := 0, 0
		for range left {
			x, y := a[i], b[j]
			var equal, inA, inB int
			if x == y {
				equal = 1
			}
			if x <= y {
				inA = 1
			}
			if y <= x {
				inB = 1
			}
			n += equal
			i += inA
			j += inB
		}
		a, b = a[i:], b[j:]
	}
}

// Resemblance returns |A∩B| / |A∪B|, from 0 to 1 (Broder 1997; Jaccard's coefficient). The
// resemblance of two empty sets is 1.
func Resemblance(a, b Set) float64 {
	resemblance, _ := Resembles(a, b, 0)
	return resemblance
}

// Resembles returns the resemblance of two sets if it is at least t, which must not be negative. It
// is faster than [Resemblance], because it stops once t is out of reach.
func Resembles(a, b Set, t float64) (resemblance float64, ok bool) {
	if len(a) == 0 && len(b) == 0 {
		return 1, t <= 1
	}
	all := len(a) + len(b)
	c, _ := commonFrom(a, b, int(t/(1+t)*float64(all)))
	resemblance = float64(c) / float64(all-c)
	return resemblance, resemblance >= t
}

// Containment returns |A∩B| / |A|, the share of a that is in b, from 0 to 1. It detects excerpts:
// one paragraph of a long page has a low resemblance to the page, but its containment is 1. The
// containment of an empty set is 1.
func Containment(a, b Set) float64 {
	if len(a) == 0 {
		return 1
	}
	return float64(common(a, b)) / float64(len(a))
}

// A Comparison holds all measures of two texts. The name of a measure with two directions shows
// which one it is: AInB is the share of A's shingles that B has too.
type Comparison struct {
	ShinglesA   int     `json:"-"` // number of distinct shingles in A
	ShinglesB   int     `json:"-"`
	Common      int     `json:"common"` // number of distinct shingles that both texts have
	Resemblance float64 `json:"resemblance"`
	Estimate    float64 `json:"estimate"`           // estimate of the resemblance from the 84 minima of the sketches, 0 to 1
	AInB        float64 `json:"containment_a_in_b"` // share, 0 to 1, of A's distinct shingles that are also in B
	BInA        float64 `json:"containment_b_in_a"`
	Super       int     `json:"super_shingles"` // number of equal super-shingles, 0 to 6
	Mega        int     `json:"mega_shingles"`  // number of equal mega-shingles, 0 to 15
}

// Compare compares two texts by their shingles. The resemblance of two texts without shingles is 1.
func Compare(a, b *Text, s Shingling) Comparison {
	listA, listB := s.Append(nil, a), s.Append(nil, b)
	x, y := NewSketch(listA), NewSketch(listB)
	setA, setB := NewSet(listA), NewSet(listB)
	superA, superB := Super(&x), Super(&y)
	megaA, megaB := Mega(&superA), Mega(&superB)
	return Comparison{
		ShinglesA:   len(setA),
		ShinglesB:   len(setB),
		Common:      common(setA, setB),
		Resemblance: Resemblance(setA, setB),
		Estimate:    Estimate(&x, &y),
		AInB:        Containment(setA, setB),
		BInA:        Containment(setB, setA),
		Super:       agree(superA[:], superB[:]),
		Mega:        agree(megaA[:], megaB[:]),
	}
}

func agree(a, b []uint64) (n int) {
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

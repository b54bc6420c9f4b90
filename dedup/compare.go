package dedup

import "slices"

// A Comparison holds all measures of two texts. The name of a measure with two directions shows
// which one it is: AInB is the share of A's shingles that B has too.
type Comparison struct {
	ShinglesA   int     `json:"-"` // number of distinct shingles in A
	ShinglesB   int     `json:"-"`
	Common      int     `json:"common"` // number of distinct shingles that both texts have
	Resemblance float64 `json:"resemblance"`
	Uniqueness  float64 `json:"uniqueness"`         // 1 minus the resemblance
	Estimate    float64 `json:"estimate"`           // estimate of the resemblance from the 84 minima of the sketches, 0 to 1
	AInB        float64 `json:"containment_a_in_b"` // share, 0 to 1, of A's distinct shingles that are also in B
	BInA        float64 `json:"containment_b_in_a"`
	ShareA      float64 `json:"share_of_a"` // share, 0 to 1, of A's shingles that are also in B, counting every repeat of a shingle
	ShareB      float64 `json:"share_of_b"`
	Dice        float64 `json:"dice"`
	Super       int     `json:"super_shingles"` // number of equal super-shingles, 0 to 6
	Mega        int     `json:"mega_shingles"`  // number of equal mega-shingles, 0 to 15
	Bands       int     `json:"bands"`          // number of equal bands of the scheme that was passed to Compare
}

// Compare compares two texts by their shingles. The resemblance of two texts without shingles is 1.
func Compare(a, b *Text, s Shingling, bands Scheme) Comparison {
	listA, listB := s.Append(nil, a), s.Append(nil, b)
	x, y := NewSketch(listA), NewSketch(listB)
	slices.Sort(listA)
	slices.Sort(listB)
	shareA, shareB := share(listA, listB), share(listB, listA)
	setA, setB := slices.Compact(listA), slices.Compact(listB)
	superA, superB := Super(&x), Super(&y)
	megaA, megaB := Mega(&superA), Mega(&superB)
	return Comparison{
		ShinglesA:   len(setA),
		ShinglesB:   len(setB),
		Common:      common(setA, setB),
		Resemblance: Resemblance(setA, setB),
		Uniqueness:  Uniqueness(setA, setB),
		Estimate:    Estimate(&x, &y),
		AInB:        Containment(setA, setB),
		BInA:        Containment(setB, setA),
		ShareA:      shareA,
		ShareB:      shareB,
		Dice:        Dice(setA, setB),
		Super:       agree(superA[:], superB[:]),
		Mega:        agree(megaA[:], megaB[:]),
		Bands:       agree(bands.Keys(nil, &x), bands.Keys(nil, &y)),
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

// share returns the share of a's elements that are also in b, 0 to 1. Every repeat in a counts.
// Both lists must be in ascending order. If a is empty, the share is 1.
func share(a, b []uint64) float64 {
	if len(a) == 0 {
		return 1
	}
	n := 0
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == x {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

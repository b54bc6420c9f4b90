package dedup

import "slices"

// A Comparison holds every measure of two texts. A measure with two directions has its direction in
// its name: AInB is the share of A's shingles that B has too.
type Comparison struct {
	ShinglesA, ShinglesB int // different shingles of each text
	Common               int // different shingles that both texts have
	Resemblance          float64
	Uniqueness           float64 // 1 - resemblance
	Estimate             float64 // of the resemblance, from the 84 minima
	AInB, BInA           float64 // containment: the share of one text's different shingles that the other has
	ShareA, ShareB       float64 // share of one text's shingles, counted with repeats, that the other has
	Dice                 float64
	Super                int // equal super-shingles, 0 to 6
	Mega                 int // equal mega-shingles, 0 to 15
	Bands                int // equal bands of the scheme that was given to Compare
}

// Compare measures two texts by their shingles. Two texts without shingles have resemblance 1.
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

// agree returns the number of indexes i at which a[i] equals b[i]. Both lists must be equally long.
func agree(a, b []uint64) (n int) {
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// share returns the share of a's elements that are also in b, 0 to 1, where each repeat in a counts
// again. Both lists must ascend. If a is empty, the share is 1.
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

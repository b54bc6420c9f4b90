package dedup

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

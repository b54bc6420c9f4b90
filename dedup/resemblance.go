package dedup

// common returns |A∩B|.
func common(a, b Set) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			n++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return n
}

// Resemblance is |A∩B| / |A∪B|, from 0 to 1 (Broder 1997; Jaccard's coefficient).
// Two empty sets are the same: 1.
func Resemblance(a, b Set) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	c := common(a, b)
	return float64(c) / float64(len(a)+len(b)-c)
}

// Containment is |A∩B| / |A|, the share of a that is in b, from 0 to 1. It finds excerpts: one
// paragraph of a long page has a low resemblance to the page, but its containment is 1. The
// containment of an empty set is 1.
func Containment(a, b Set) float64 {
	if len(a) == 0 {
		return 1
	}
	return float64(common(a, b)) / float64(len(a))
}

// Dice is 2·|A∩B| / (|A|+|B|), from 0 to 1. In terms of the resemblance J it is 2J/(1+J), so it
// orders pairs in the same way. The Dice coefficient of two empty sets is 1.
func Dice(a, b Set) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	return 2 * float64(common(a, b)) / float64(len(a)+len(b))
}

// Uniqueness is 1 - resemblance: how much two pages differ.
func Uniqueness(a, b Set) float64 { return 1 - Resemblance(a, b) }

// DiceOfLists is 2c/(n1+n2) over lists with repeats, where c is the sum, over the
// different shingles, of how often both have it. Two empty lists are the same: 1.
func DiceOfLists[S comparable](a, b []S) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	left := make(map[S]int, len(a))
	for _, s := range a {
		left[s]++
	}
	c := 0
	for _, s := range b {
		if left[s] > 0 {
			left[s]--
			c++
		}
	}
	return 2 * float64(c) / float64(len(a)+len(b))
}

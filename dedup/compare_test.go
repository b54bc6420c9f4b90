package dedup

import (
	"testing"
)

func TestCompare(t *testing.T) {
	var a, b Text
	a.Read([]byte("b c"))
	b.Read([]byte("a b c d"))
	got := Compare(&a, &b, Shingling{Words, 2})
	want := Comparison{ShinglesA: 1, ShinglesB: 3, Common: 1, Resemblance: 1. / 3, AInB: 1, BInA: 1. / 3}
	got.Estimate, got.Super, got.Mega = 0, 0, 0 // these numbers depend on chance
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	a.Read([]byte("a b a b a b c d")) // the shingles of two words are ab ba ab ba ab bc cd
	b.Read([]byte("a b a x"))         // the shingles of two words are ab ba ax
	if got := Compare(&a, &b, Shingling{Words, 2}); got.AInB != 2./4 || got.BInA != 2./3 {
		t.Errorf("with repeats: %+v; want 2 of 4 and 2 of 3 different ones", got)
	}
	same := Compare(&a, &a, DefaultShingling())
	if same.Resemblance != 1 || same.Estimate != 1 || same.Super != SuperShingles || same.Mega != MegaShingles {
		t.Errorf("with itself: %+v", same)
	}
}

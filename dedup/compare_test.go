package dedup

import (
	"testing"
)

func TestCompare(t *testing.T) {
	var a, b Text
	a.Read([]byte("b c"))
	b.Read([]byte("a b c d"))
	bands, _ := BandsFor(.8)
	got := Compare(&a, &b, Shingling{Words, 2}, bands)
	want := Comparison{ShinglesA: 1, ShinglesB: 3, Common: 1, Resemblance: 1. / 3, Uniqueness: 1 - got.Resemblance, AInB: 1, BInA: 1. / 3, ShareA: 1, ShareB: 1. / 3, Dice: .5}
	got.Estimate, got.Super, got.Mega, got.Bands = 0, 0, 0, 0 // these numbers depend on chance
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	a.Read([]byte("a b a b a b c d")) // the shingles of two words are ab ba ab ba ab bc cd
	b.Read([]byte("a b a x"))         // the shingles of two words are ab ba ax
	if got := Compare(&a, &b, Shingling{Words, 2}, bands); got.ShareA != 5./7 || got.ShareB != 2./3 || got.AInB != 2./4 {
		t.Errorf("with repeats: %+v; want 5 of 7, 2 of 3, and 2 of 4 different ones", got)
	}
	same := Compare(&a, &a, DefaultShingling(), bands)
	if same.Resemblance != 1 || same.Estimate != 1 || same.Super != SuperShingles || same.Mega != MegaShingles || same.Bands != bands.Bands() {
		t.Errorf("with itself: %+v", same)
	}
}

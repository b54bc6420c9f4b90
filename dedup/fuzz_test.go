package dedup

import (
	"testing"
)

// FuzzCompare compares arbitrary texts in arbitrary ways. No function may panic, every measure must
// be symmetric and from 0 to 1, and both texts must contain each common passage.
func FuzzCompare(f *testing.F) {
	f.Add([]byte("a rose is a rose is a rose"), []byte("A rose, is a rose"), uint8(4), false)
	f.Add([]byte("Текст для сравнения номер один"), []byte("Текст для сравнения номер два"), uint8(3), true)
	f.Add([]byte("我们去\xff"), []byte(""), uint8(200), true)
	f.Add([]byte("famosas canciones\x00 l'"), []byte("‘’' \u0301"), uint8(1), false)
	f.Fuzz(func(t *testing.T, left, right []byte, k uint8, chars bool) {
		s := Shingling{Words, max(int(k), 1)}
		if chars {
			s.Unit = Chars
		}
		var a, b Text
		a.Read(left)
		b.Read(right)
		x, y := Compare(&a, &b, s), Compare(&b, &a, s)
		x.ShinglesA, x.ShinglesB = x.ShinglesB, x.ShinglesA
		x.AInB, x.BInA = x.BInA, x.AInB
		if x != y {
			t.Fatalf("from the other side\n%+v\n%+v", x, y)
		}
		for _, v := range []float64{x.Resemblance, x.Estimate, x.AInB, x.BInA} {
			if !(0 <= v && v <= 1) {
				t.Fatalf("a measure of %v: %+v", v, x)
			}
		}
		if same := Compare(&a, &a, s); same.Resemblance != 1 || same.Estimate != 1 || same.Mega != MegaShingles {
			t.Fatalf("with itself: %+v", same)
		}
		for _, p := range Passages(&a, &b, s.K) {
			for i := range p.Tokens {
				if a.Token(p.A+i) != b.Token(p.B+i) {
					t.Fatalf("passage %+v: %q is not %q", p, a.Token(p.A+i), b.Token(p.B+i))
				}
			}
		}
	})
}

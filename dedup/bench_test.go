package dedup

import (
	_ "embed"
	"testing"
)

// These are the texts of the benchmarks, of 1,000 words each, from articles in testdata/site.
var (
	//go:embed testdata/english.txt
	english []byte
	//go:embed testdata/russian.txt
	russian []byte
)

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		text []byte
	}{{"english", english}, {"russian", russian}} {
		b.Run(c.name, func(b *testing.B) {
			var t Text
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				t.Read(c.text)
			}
		})
	}
}

func BenchmarkShingles(b *testing.B) {
	var t Text
	t.Read(english)
	var s []uint64
	b.ReportAllocs()
	for b.Loop() {
		s = t.Shingles(s[:0], DefaultShingle)
	}
}

func BenchmarkNewSketch(b *testing.B) {
	var t Text
	t.Read(english)
	s := t.Shingles(nil, DefaultShingle)
	for _, c := range []struct {
		name   string
		vector bool
	}{{"vector", true}, {"portable", false}} {
		b.Run(c.name, func(b *testing.B) {
			if c.vector && !vectors {
				b.Skip("this processor has no AVX2")
			}
			b.ReportAllocs()
			for b.Loop() {
				newSketch(s, c.vector)
			}
		})
	}
}

// BenchmarkTextToSketch measures all steps from a text to its sketch.
func BenchmarkTextToSketch(b *testing.B) {
	var t Text
	var s []uint64
	b.SetBytes(int64(len(english)))
	b.ReportAllocs()
	for b.Loop() {
		t.Read(english)
		s = t.Shingles(s[:0], DefaultShingle)
		NewSketch(s)
	}
}

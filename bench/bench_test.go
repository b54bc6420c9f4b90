// Package bench compares package dedup with other libraries, in one run on one machine. It is a
// separate module, so that these libraries do not become dependencies of skink:
//
//	cd bench && go test -bench . -cpu 1 -count 10 | tee peers.txt && benchstat peers.txt
package bench

import (
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/words"
	minhash "github.com/dgryski/go-minhash"
	minhashlsh "github.com/ekzhu/minhash-lsh"
	"github.com/zeebo/xxh3"

	"skink/dedup"
)

// text returns a test text of package dedup. These texts have 1,000 words each.
func text(b *testing.B, name string) []byte {
	b.Helper()
	body, err := os.ReadFile("../dedup/testdata/" + name + ".txt")
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// BenchmarkSketch makes a sketch of 84 values over shingles of ten words from a text. The time
// includes splitting the text into words.
func BenchmarkSketch(b *testing.B) {
	english := text(b, "english")
	run := func(name string, sketch func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(english)))
			b.ReportAllocs()
			for b.Loop() {
				sketch()
			}
		})
	}
	var t dedup.Text
	var shingles []uint64
	run("skink", func() {
		t.Read(english)
		shingles = t.Shingles(shingles[:0], dedup.DefaultShingle)
		dedup.NewSketch(shingles)
	})
	run("go-minhash", func() {
		h1 := func(b []byte) uint64 { return xxh3.Hash(b) }
		h2 := func(b []byte) uint64 { return xxh3.HashSeed(b, 1) }
		m := minhash.NewMinWise(h1, h2, dedup.Minima)
		joined(english, m.Push)
	})
	run("go-minhash-fnv", func() {
		fnv1, fnv1a := fnv.New64(), fnv.New64a()
		h1 := func(b []byte) uint64 { fnv1.Reset(); fnv1.Write(b); return fnv1.Sum64() }
		h2 := func(b []byte) uint64 { fnv1a.Reset(); fnv1a.Write(b); return fnv1a.Sum64() }
		m := minhash.NewMinWise(h1, h2, dedup.Minima)
		joined(english, m.Push)
	})
	run("minhash-lsh", func() {
		m := minhashlsh.NewMinhash(1, dedup.Minima)
		joined(english, m.Push)
	})
}

// joined calls push with each shingle of a text as a string, which is the input of the other
// libraries.
func joined(text []byte, push func([]byte)) {
	var all []string
	for it := words.FromString(strings.ToLower(string(text))); it.Next(); {
		if w := it.Value(); strings.ContainsFunc(w, func(r rune) bool { return r >= '0' && r != '_' }) {
			all = append(all, w)
		}
	}
	for i := 0; i+dedup.DefaultShingle <= len(all); i++ {
		push([]byte(strings.Join(all[i:i+dedup.DefaultShingle], " ")))
	}
}

// BenchmarkTokens makes the canonical tokens of a text with their hashes, and for comparison finds
// only the word boundaries.
func BenchmarkTokens(b *testing.B) {
	for _, name := range []string{"english", "russian"} {
		body := text(b, name)
		b.Run(name+"/skink", func(b *testing.B) {
			var t dedup.Text
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				t.Read(body)
			}
		})
		b.Run(name+"/uax29", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				for it := words.FromBytes(body); it.Next(); {
					_ = it.Value()
				}
			}
		})
	}
}

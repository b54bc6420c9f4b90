package dedup

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain fixes the seed of the property tests, so that they fail in the same way for everybody.
// The flag -rapid.seed sets another seed.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		if err := seed.Value.Set("84"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestGolden fixes all values that a store keeps. A change of a value makes the stores of all users
// unreadable, so it needs a new version number and not only a new golden value.
func TestGolden(t *testing.T) {
	var x Text
	x.Read([]byte("The quick brown fox jumps over the lazy dog while nobody looks, and then it sleeps."))
	shingles := x.Shingles(nil, DefaultShingle)
	sketch := NewSketch(shingles)
	super := Super(&sketch)
	mega := Mega(&super)
	bands := Scheme{Name: "bands", Rows: 6, Need: 1}.Keys(nil, &sketch)
	got := fmt.Sprintf("hash %v\ntokens %d %016x %016x\nshingles %d %016x %016x\nminima %08x %08x %08x %08x\nsuper %016x %016x\nmega %016x %016x\nbands %d %016x %016x\n",
		x.Hash(), x.Len(), x.tokens[0], x.tokens[15], len(shingles), shingles[0], shingles[6],
		sketch[0], sketch[1], sketch[42], sketch[83], super[0], super[5], mega[0], mega[14], len(bands), bands[0], bands[13])
	const want = `hash 6f695a8901f6e23ec0cf24cca5765663
tokens 16 c3650d0a4e099481 1f0fcc27beeeba91
shingles 7 141517f508646e70 fb1036b82e07f74c
minima 1e1044f8 16df7f2e 055edbda 1db3081e
super 73fd9a640806460f 1269de9d6e89b350
mega 9890cd0e2d06fb79 9fd44c770f682b51
bands 14 cd82712ab20eb499 2b7d040c1aacc35c
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

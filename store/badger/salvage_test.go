package badger

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Whatever byte of a table is wrong, at most one block of it is lost.
func TestReadTable(t *testing.T) {
	s := openTest(t, t.TempDir())
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		e := entry(i + 1)
		e.Text = randomBytes(rng, rng.IntN(4000))
		commit(t, s, e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "000001.sst"))
	if err != nil {
		t.Fatal(err)
	}
	whole := readTable(b)
	if !whole.whole() || len(whole.blocks) < 20 {
		t.Fatalf("%d blocks, lost %d, no index %v", len(whole.blocks), len(whole.lost), whole.noIndex)
	}
	again := readTable(whole.rewrite())
	if !again.whole() || !bytes.Equal(bytes.Join(allKeys(again), nil), bytes.Join(allKeys(whole), nil)) {
		t.Error("a table that was written again is another")
	}
	for range 300 {
		at := rng.IntN(len(b))
		damaged := bytes.Clone(b)
		damaged[at] ^= byte(1 + rng.IntN(255))
		c := readTable(damaged)
		if c.whole() {
			t.Errorf("byte %d of %d: not noticed", at, len(b))
		}
		if len(c.blocks) < len(whole.blocks)-1 || len(c.lost) > 1 {
			t.Errorf("byte %d of %d: %d blocks of %d are left, %d lost", at, len(b), len(c.blocks), len(whole.blocks), len(c.lost))
		}
	}
}

func allKeys(c *tableContent) (keys [][]byte) {
	for _, b := range c.blocks {
		keys = append(keys, blockKeys(b)...)
	}
	return keys
}

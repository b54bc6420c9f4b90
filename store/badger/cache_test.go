package badger

import "testing"

// A block that was found undamaged is remembered: reading the same pages again checks none of their
// blocks again.
func TestBlocksAreCheckedOnce(t *testing.T) {
	dir := t.TempDir()
	const pages = 6000
	s := openTest(t, dir)
	fill(t, s, pages)
	if err := s.Close(); err != nil { // Close writes everything into tables
		t.Fatal(err)
	}
	s = openTest(t, dir)
	read := func() (hits, misses uint64) {
		m := s.db.BlockCacheMetrics()
		hits, misses = m.Hits(), m.Misses()
		for n := 1; n <= pages; n += 20 {
			if recordOf(t, s, n) == nil {
				t.Fatalf("page %d is not there", n)
			}
		}
		return m.Hits() - hits, m.Misses() - misses
	}
	read()
	read() // the cache takes a block in a moment after it was put there
	if hits, misses := read(); misses > hits/10 {
		t.Errorf("%d blocks were checked again, %d were not", misses, hits)
	}
}

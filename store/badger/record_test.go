package badger

import (
	"testing"

	"github.com/zeebo/xxh3"
)

// A record can only be decoded with the dictionary that it was encoded with. If this test fails,
// increase layoutVersion, and set want to the new value.
func TestRecordDict(t *testing.T) {
	const want uint64 = 0xe952a45b0e507738
	if got := xxh3.Hash(usualRecords()); got != want {
		t.Errorf("the dictionary of records has hash %#x, want %#x", got, want)
	}
}

package disk

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skink/store"
)

func TestReserve(t *testing.T) {
	const MiB = 1 << 20
	for _, tt := range []struct {
		reserve, free, total int64
		full                 bool
	}{
		{0, 256 * MiB, 1 << 40, false},
		{0, 255 * MiB, 1 << 40, true},
		{0, 101 * MiB, 2000 * MiB, false}, // 5% of a small disk must stay free
		{0, 99 * MiB, 2000 * MiB, true},
		{0, 65 * MiB, 100 * MiB, false}, // at least MinReserve must stay free, even on a very small disk
		{0, 63 * MiB, 100 * MiB, true},
		{10 * MiB, 10 * MiB, 1 << 40, false},
		{10 * MiB, 9 * MiB, 1 << 40, true},
		{-1, 0, 1 << 40, false},
	} {
		d := Space{Reserve: tt.reserve, Ask: func(string) (int64, int64, error) { return tt.free, tt.total, nil }}
		if err := d.Check(); errors.Is(err, store.ErrFull) != tt.full {
			t.Errorf("reserve %d, %d of %d free: %v", tt.reserve, tt.free, tt.total, err)
		}
	}
}

// The free space is measured seldom, because measuring takes longer than committing a page.
func TestDiskIsAskedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := Space{Ask: func(string) (int64, int64, error) { asked++; return 1 << 40, 1 << 40, nil }}
		for range 1000 {
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if asked != 20 {
			t.Errorf("asked %d times in a second, want 20", asked)
		}
	})
}

func TestDiskSpace(t *testing.T) {
	free, total, err := Free(t.TempDir())
	if err != nil || free <= 0 || total < free {
		t.Errorf("Free = %d, %d, %v", free, total, err)
	}
	if _, _, err := Free("/no/such/folder"); err == nil || strings.Contains(err.Error(), "full") {
		t.Errorf("of a folder that is not there: %v", err)
	}
}

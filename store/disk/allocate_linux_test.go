package disk

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Disk space is allocated for a file that is mapped for writing, and not for one that is mapped for
// reading. The test fails if another version of x/sys maps files in another way.
func TestAllocated(t *testing.T) {
	const size = 1 << 20
	for _, tt := range []struct {
		prot int
		want bool
	}{{unix.PROT_READ, false}, {unix.PROT_READ | unix.PROT_WRITE, true}} {
		f, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		b, err := unix.Mmap(int(f.Fd()), 0, size, tt.prot, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		if err := unix.Munmap(b); err != nil {
			t.Fatal(err)
		}
		if got := st.Blocks*512 >= size; got != tt.want {
			if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
				t.Skip("this file system does not allocate: ", err)
			}
			t.Errorf("mapped with protection %d: %d blocks are allocated", tt.prot, st.Blocks)
		}
	}
}

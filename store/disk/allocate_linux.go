package disk

import (
	"errors"
	"sync"
	_ "unsafe" // for go:linkname

	"golang.org/x/sys/unix"
)

// # Allocation before mapping
//
// Badger extends a file, which allocates no space, maps it, and writes into the mapping. If the
// disk is full by then, the kernel sends SIGBUS, and the Go runtime ends the process. The fault
// occurs in one of Badger's goroutines, so skink cannot recover from it. A reserve of free space
// makes that rare, but another program can use up any reserve between two checks of the disk.
//
// So the space is allocated before a file is mapped. If the disk is full, the call that would have
// mapped the file returns ENOSPC, and Badger returns that error or tries again. Badger has no
// setting for this. But it maps files with unix.Mmap, which calls a function in a package variable,
// and that function is replaced here. The variable is accessed by its linker name; TestAllocated
// fails if x/sys or Badger changes this. The replacement affects all shared, writable file mappings
// that this process makes through x/sys/unix. The files cannot be allocated before Badger creates
// them, because Badger refuses tables that exist, and its own goroutines create them.

// mmapper has the same first fields as unix.mremapMmapper, so that a pointer to one can be
// converted to a pointer to the other.
type mmapper struct {
	_    sync.Mutex
	_    map[*byte][]byte
	mmap func(addr, length uintptr, prot, flags, fd int, offset int64) (uintptr, error)
}

//go:linkname mapper golang.org/x/sys/unix.mapper
var mapper *mmapper

func init() {
	system := mapper.mmap
	mapper.mmap = func(addr, length uintptr, prot, flags, fd int, offset int64) (uintptr, error) {
		if flags&unix.MAP_SHARED != 0 && flags&unix.MAP_ANONYMOUS == 0 && prot&unix.PROT_WRITE != 0 {
			if err := allocate(fd, offset, int64(length)); err != nil {
				return 0, err
			}
		}
		return system(addr, length, prot, flags, fd, offset)
	}
}

// allocate does nothing on file systems that do not support allocation in advance.
func allocate(fd int, offset, length int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Blocks*512 >= st.Size { // the whole file is already allocated
		return nil
	}
	for {
		err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, offset, length)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
			if st.Blocks == 0 { // Badger keeps the file, and some systems keep the space they have already allocated for it: release that space
				_ = unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, length)
			}
			return err
		default:
			return nil
		}
	}
}

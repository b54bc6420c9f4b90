// Package disk provides the system services that a store needs. It measures free space, open files
// and resident memory, allocates space for mapped files, and keeps files with cached values. It
// also distinguishes refusals by the system from damaged files.
package disk

import (
	"fmt"
	"sync"
	"time"

	"skink/store"
)

const (
	// defaultReserve is the number of bytes that a crawl leaves free on the disk. Badger maps its
	// files into memory, and if there is no space for a new one, nothing more can be written to the
	// open store. Between two checks of the disk, Badger may write a few memtables. A compaction
	// needs space for its result while its input still exists.
	defaultReserve = 256 << 20
	// reserveShare limits the default on small disks to a twentieth of their size.
	reserveShare = 20
	// MinReserve is the smallest default, in bytes: enough to write two memtables and compact
	// their tables. With 16 MiB, the process has been seen to crash on a full disk.
	MinReserve = 64 << 20
	// askInterval is how long a measurement of free space stays valid. During that time, a program
	// writing 500 MB/s uses a tenth of the reserve.
	askInterval = 50 * time.Millisecond
)

// A Space watches the free space of a folder's file system. It is safe for concurrent use.
type Space struct {
	Dir     string
	Reserve int64 // bytes to keep free; 0 means 256 MiB, or 5% of a small disk; a negative number means no reserve
	// Ask returns the number of bytes that this process may still use on the file system of dir,
	// and the total size of that file system. If Ask is nil, [Free] is used.
	Ask func(dir string) (free, total int64, err error)

	mu    sync.Mutex // guards the fields below it
	asked time.Time
	err   error // result of the last check
}

// Check returns store.ErrFull if less than the reserve is free.
func (s *Space) Check() error {
	if s.Reserve < 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.asked) >= askInterval {
		s.asked, s.err = now, s.ask()
	}
	return s.err
}

// HasRoom reports whether the given number of bytes can be written without using the reserve.
func (s *Space) HasRoom(bytes int64) bool {
	if s.Reserve < 0 {
		return true
	}
	free, total, err := s.Left()
	return err == nil && free-bytes >= s.kept(total)
}

func (s *Space) kept(total int64) int64 {
	if s.Reserve == 0 {
		return min(defaultReserve, max(MinReserve, total/reserveShare))
	}
	return s.Reserve
}

// Left returns the number of bytes that this process may still use on the file system, and the
// total size of the file system.
func (s *Space) Left() (free, total int64, err error) {
	if s.Ask != nil {
		return s.Ask(s.Dir)
	}
	return Free(s.Dir)
}

func (s *Space) ask() error {
	free, total, err := s.Left()
	if err != nil {
		return fmt.Errorf("determine the free space of %s: %w", s.Dir, err)
	}
	reserve := s.kept(total)
	if free >= reserve {
		return nil
	}
	return fmt.Errorf("%s: %w: %d MiB are free, and %d MiB must stay free: free some disk space, and run the command again",
		s.Dir, store.ErrFull, free>>20, reserve>>20)
}

package badger

import (
	"fmt"
	"sync"
	"time"

	"skink/store"
)

const (
	// defaultReserve is how many bytes a crawl leaves free on the disk. Badger maps its files into
	// memory, and writing to a mapped page that has no room on the disk kills the process. Between
	// two looks at the disk a few memtables can be written, and a compaction needs room for its
	// result beside its input.
	defaultReserve = 256 << 20
	// reserveShare bounds the default on small file systems to a twentieth of them, but never to
	// less than leastReserve. Flushing two memtables and compacting their tables takes that much.
	// With 16 MiB a full disk was seen to kill the process.
	reserveShare = 20
	leastReserve = 64 << 20
	// diskInterval is how long an answer about free space is believed. A disk that writes 500 MB/s
	// uses up a tenth of the reserve in that time.
	diskInterval = 50 * time.Millisecond
)

// A disk watches the free space of a store's file system.
type disk struct {
	dir     string
	reserve int64 // bytes; 0: the default; negative: none
	// space returns how many bytes of the file system of dir this process may still use, and how
	// many it has in all.
	space func(dir string) (free, total int64, err error)

	mu    sync.Mutex // guards what follows
	asked time.Time
	err   error // the last answer
}

// check returns store.ErrFull if less than the reserve is left.
func (d *disk) check() error {
	if d.reserve < 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); now.Sub(d.asked) >= diskInterval {
		d.asked, d.err = now, d.ask()
	}
	return d.err
}

// hasRoom says whether so many bytes can be written without touching the reserve.
func (d *disk) hasRoom(bytes int64) bool {
	if d.reserve < 0 {
		return true
	}
	free, total, err := d.space(d.dir)
	return err == nil && free-bytes >= d.kept(total)
}

// kept returns how many bytes are kept free on a file system of that size.
func (d *disk) kept(total int64) int64 {
	if d.reserve == 0 {
		return min(defaultReserve, max(leastReserve, total/reserveShare))
	}
	return d.reserve
}

func (d *disk) ask() error {
	free, total, err := d.space(d.dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", d.dir, err)
	}
	reserve := d.kept(total)
	if free >= reserve {
		return nil
	}
	return fmt.Errorf("%s: %w: %d MiB left, %d MiB are kept free; make room and run the command again",
		d.dir, store.ErrFull, free>>20, reserve>>20)
}

package badger

import (
	"fmt"
	"os"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/base/lock"
	"skink/store"
	"skink/store/disk"
)

// # Read-only views
//
// Whenever badger opens a folder, it writes files: a lock, a new log, a registry of keys. So it
// cannot read a store in a folder without write permission, or on a full disk, where writing to a
// mapped file kills the process with SIGBUS. Badger's read-only mode refuses the logs of a killed
// process. So a reader creates a separate folder for badger, called a view. The view has links to
// the tables, a MANIFEST that names them, and copies of the complete transactions in the logs. It
// is in the folder for temporary files, or in memory, and is removed when the reader is closed. The
// view of a damaged store has damaged tables without their lost blocks, and a new store with what is
// readable; see [remains]. The store's own folder does not change, except that a reader may add
// cached values; see kept.go. Any number of readers share a lock that keeps writers out.
type view struct {
	dir     string
	release func()
	unlock  func() // releases the lock on the view's folder; nil if badger has locked the folder, or if nothing has
}

// openView creates a read-only view of an existing store. For a damaged store, loss lists the damage,
// and the caller must call salvage.
func openView(dir string, opt Options) (v *view, loss Loss, err error) {
	release, ok, err := lock.TryShared(dir)
	if err != nil {
		return nil, Loss{}, err
	}
	if !ok {
		return nil, Loss{}, store.ErrInUse
	}
	made := &view{release: release}
	defer func() {
		if err != nil {
			made.close()
		}
	}()
	checked := readChecked(dir)
	if opt.all {
		checked = noneChecked()
	}
	found, err := inspect(dir, checked)
	if err != nil {
		return nil, Loss{}, err
	}
	gone, loss := afterGap(found.logs, found.reached)
	loss.Damage, loss.Names = found.loss.Damage, found.loss.Names
	if err := made.link(dir, found, found.logs[:len(found.logs)-len(gone)], opt); err != nil {
		return nil, Loss{}, err
	}
	return made, loss, nil
}

func (v *view) link(dir string, found *inspection, logs []memLog, opt Options) (err error) {
	size := int64(0)
	for _, l := range logs {
		size += int64(l.end)
	}
	if len(found.loss.Damage) > 0 { // the view gets a second store
		size += disk.Use(dir) + disk.MinReserve
	}
	if v.dir, err = makeViewFolder(size, opt); err != nil {
		return err
	}
	v.unlock, _, _ = lock.Try(v.dir) // keeps other processes from removing the view as stale; badger does not lock a folder that it opens read-only
	if err := v.fill(dir, found, logs); err != nil {
		return fmt.Errorf("copy the store to %s: %w", v.dir, err)
	}
	return nil
}

func (v *view) fill(dir string, found *inspection, logs []memLog) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	m := found.manifest
	for id := range m.Tables {
		name := tableName(id)
		if damaged := found.tables[id]; damaged != nil {
			b := damaged.rewrite()
			if b == nil {
				delete(m.Tables, id)
				continue
			}
			if err := os.WriteFile(filepath.Join(v.dir, name), b, 0o666); err != nil {
				return err
			}
			continue
		}
		if err := os.Symlink(filepath.Join(abs, name), filepath.Join(v.dir, name)); err != nil {
			return err
		}
	}
	for _, l := range logs {
		if l.last == 0 {
			continue
		}
		b, err := os.ReadFile(l.name)
		if err != nil {
			return err
		}
		clear(b[:logHead]) // the head may be damaged; zeros mean that the log is not encrypted
		if err := os.WriteFile(filepath.Join(v.dir, filepath.Base(l.name)), b[:l.end], 0o666); err != nil {
			return err
		}
	}
	return writeManifest(filepath.Join(v.dir, badgerdb.ManifestFilename), m)
}

const viewPrefix = "skink-read-"

// viewRoom is an upper bound on the total size of a view's small files, in bytes.
const viewRoom = 4 << 20

// makeViewFolder creates the folder of a view, either in the folder for temporary files or in
// memory. One of the two must have room for size bytes and the small files of a view.
func makeViewFolder(size int64, opt Options) (string, error) {
	need := viewRoom + size
	var full error
	for _, place := range []string{os.TempDir(), "/dev/shm"} {
		space := disk.Space{Dir: place, Ask: opt.diskSpace}
		if free, _, err := space.Left(); err != nil || free < need {
			full = fmt.Errorf("%s does not have enough space for a temporary copy of %d MiB: %w: set TMPDIR to another folder", os.TempDir(), need>>20, store.ErrFull)
			continue
		}
		lock.RemoveStale(place, viewPrefix)
		dir, err := os.MkdirTemp(place, viewPrefix)
		if err == nil {
			return dir, nil
		}
		full = err
	}
	return "", full
}

func (v *view) close() error {
	v.release()
	if v.dir == "" {
		return nil
	}
	if v.unlock != nil {
		defer v.unlock()
	}
	return os.RemoveAll(v.dir)
}

package badger

import (
	"fmt"
	"os"
	"path/filepath"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
)

// # Reading without writing
//
// Badger writes whenever it opens a folder: a lock, a new log, a registry. So it could
// not read a store on a full disk, where a mapped file that has no room ends the
// process with SIGBUS, nor one in a folder that may not be written to; and its mode for
// reading alone refuses the logs of a killed process. A reader gives badger a folder of its
// own instead, a view: links to the tables, a copy of the MANIFEST, and the logs, as far as they
// are whole. It is made where temporary files go, or in memory, and goes with the reader.
// In the store's own folder nothing changes. Readers share a lock: any
// number of them, and no writer.
type view struct {
	dir     string
	release func() // gives up the lock on the store
}

// openView makes the view of a store that exists.
func openView(dir string, opt Options) (v *view, loss Loss, err error) {
	release, ok, err := tryLockShared(dir)
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
	manifest, reached, err := lookAt(dir)
	if err != nil {
		return nil, Loss{}, err
	}
	logs, err := readLogs(dir)
	if err != nil {
		return nil, Loss{}, err
	}
	gone, loss := afterGap(logs, reached)
	logs = logs[:len(logs)-len(gone)]
	if made.dir, err = makeViewFolder(logs, opt); err != nil {
		return nil, Loss{}, err
	}
	if err := made.fill(dir, manifest, logs); err != nil {
		return nil, Loss{}, fmt.Errorf("make a view of the store in %s: %w", made.dir, err)
	}
	return made, loss, nil
}

// fill puts into the view what badger is to see.
func (v *view) fill(dir string, m badgerdb.Manifest, logs []memLog) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for id := range m.Tables {
		name := tableName(id)
		if err := os.Symlink(filepath.Join(abs, name), filepath.Join(v.dir, name)); err != nil {
			return err
		}
	}
	for _, l := range logs {
		if l.last == 0 {
			continue
		}
		if err := v.copyLog(l); err != nil {
			return err
		}
	}
	return writeManifest(filepath.Join(v.dir, badgerdb.ManifestFilename), m)
}

// copyLog copies the whole transactions of a log.
func (v *view) copyLog(l memLog) error {
	b, err := os.ReadFile(l.name)
	if err != nil {
		return err
	}
	clear(b[:logHead]) // it names no key, whatever became of it
	return os.WriteFile(filepath.Join(v.dir, filepath.Base(l.name)), b[:l.end], 0o666)
}

// viewRoom is more than the small files of a view take.
const viewRoom = 4 << 20

// makeViewFolder makes a folder for logs and small files where there is room.
func makeViewFolder(logs []memLog, opt Options) (string, error) {
	need := int64(viewRoom)
	for _, l := range logs {
		need += int64(l.end)
	}
	var full error
	for _, place := range []string{os.TempDir(), "/dev/shm"} {
		if free, _, err := opt.space()(place); err != nil || free < need {
			full = fmt.Errorf("%s has no room for a view of %d MiB: %w: name another place by TMPDIR", os.TempDir(), need>>20, store.ErrFull)
			continue
		}
		dir, err := os.MkdirTemp(place, "skink-read-")
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
	return os.RemoveAll(v.dir)
}

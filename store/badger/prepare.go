package badger

import (
	"os"
	"path/filepath"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// # What a process leaves when it is killed
//
// Badger makes a file and then gives it its size, and empties a file before it
// removes it. A process that is killed in between leaves one without a byte, which
// badger takes for new where it expects an old one, and refuses. Such files hold
// nothing, so they go before it looks.
//
// The value log is always empty, see [dbOptions]: its files are the logs .vlog, and
// DISCARD, what could be collected in them. They go too, whatever became of them.
// KEYREGISTRY has the keys of an encrypted store; this one has none, and badger
// makes the file anew.

// removeLeftovers removes the files in which nothing can be.
func removeLeftovers(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !holdsNothing(e.Name(), info.Size()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func holdsNothing(name string, size int64) bool {
	switch filepath.Ext(name) {
	case ".vlog":
		return true
	case logExt:
		return size <= logHead
	}
	return name == "DISCARD" || name == badgerdb.KeyRegistryFileName || name == badgerdb.KeyRegistryRewriteFileName
}

// mendLogs removes what a power cut left behind a gap: all that is after the
// transaction that tables and logs reach together.
func mendLogs(dir string, tables uint64) (Loss, error) {
	logs, err := readLogs(dir)
	if err != nil {
		return Loss{}, err
	}
	gone, loss := afterGap(logs, tables)
	for _, l := range slices.Backward(gone) { // the newest first: if it is killed here, the gap is still to be seen
		if err := os.Remove(l.name); err != nil {
			return Loss{}, err
		}
	}
	for _, l := range logs[:len(logs)-len(gone)] {
		if err := mendHead(l.name); err != nil {
			return Loss{}, err
		}
	}
	return loss, nil
}

// mendHead makes sure that a log names no key, the first 8 bytes: none of a store's
// logs is encrypted, and badger would refuse one whose key it does not have.
func mendHead(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var key [8]byte
	if _, err := f.ReadAt(key[:], 0); err != nil || key == [8]byte{} {
		return err
	}
	_, err = f.WriteAt(make([]byte, len(key)), 0)
	return err
}

package badger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// # Leftovers of a killed process
//
// Badger creates each file empty and then sets its size, and it empties a file before it removes
// it. A process that is killed in between leaves an empty file. Badger refuses an empty file where
// it expects an old one. Such files are removed before badger opens the folder.
//
// The value log is always empty; see [dbOptions]. Its files are the .vlog files, and DISCARD, which
// counts the garbage in them. These files are removed too, whatever they contain. KEYREGISTRY
// contains the keys of an encrypted store. Skink never encrypts its stores, and badger recreates
// the file.

// discardFile is where badger counts the garbage in the value log.
const discardFile = "DISCARD"

// makeDiscardFile creates discardFile unless it exists. Badger would create it with a length of 1
// MiB, and would exit the process if the disk had no room for it.
func makeDiscardFile(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, discardFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Close())
}

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
	return name == discardFile || name == badgerdb.KeyRegistryFileName || name == badgerdb.KeyRegistryRewriteFileName
}

// mendLogs removes the logs after a gap left by a power failure. tables is the number of the last
// transaction in any table.
func mendLogs(logs []memLog, tables uint64) (Loss, error) {
	gone, loss := afterGap(logs, tables)
	for _, l := range slices.Backward(gone) { // newest first: if the process is killed here, the next process still sees the gap
		if err := os.Remove(l.name); err != nil {
			return Loss{}, err
		}
	}
	for _, l := range logs[:len(logs)-len(gone)] {
		if !l.encrypted {
			continue
		}
		f, err := os.OpenFile(l.name, os.O_WRONLY, 0)
		if err == nil { // logs are never encrypted, and badger would refuse a log whose key it does not have
			_, err = f.WriteAt(make([]byte, logKey), 0)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return Loss{}, err
		}
	}
	return loss, nil
}

package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ErrFiles: the store takes more open files than the process may have.
var ErrFiles = errors.New("too few files may be open")

// spareFiles is how many files may be open beside tables and segments: the standard streams, the
// files of the network, the folder, MANIFEST, KEYREGISTRY and DISCARD, four logs, the value log,
// and the tables that a compaction writes before it removes others. Badger does not survive it if
// one of them cannot be opened: with room for 18 it ended the process, with room for 20 it hung.
const spareFiles = 48

// CheckFiles returns an error unless the process, with its limit of open files, may open enough of
// them for the store in dir and extra other ones: badger keeps each table open, and the index each
// segment, and these files end in exts. A limit of 0 is not known.
func CheckFiles(dir string, extra int, limit int64, exts ...string) error {
	need := int64(spareFiles + extra)
	entries, _ := os.ReadDir(dir) // if the folder cannot be read, opening the store says so
	for _, e := range entries {
		if slices.Contains(exts, filepath.Ext(e.Name())) {
			need++
		}
	}
	if limit == 0 || limit >= need {
		return nil
	}
	suggested := int64(1024)
	for suggested < 2*need {
		suggested *= 2
	}
	return fmt.Errorf("%w: %d, and %d are needed; raise the limit, as with: ulimit -n %d", ErrFiles, limit, need, suggested)
}

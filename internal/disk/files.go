package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ErrFiles means that the store needs more open files than the process may have.
var ErrFiles = errors.New("the limit on open files is too low")

// spareFiles is the number of files that may be open in addition to tables and segments. These are
// the standard streams, network connections, the folder, MANIFEST, KEYREGISTRY and DISCARD. There
// are also four logs, the value log, and the tables that a compaction writes before it removes
// others. If one of them cannot be opened, Badger may crash or hang: with 18 spare files it
// crashed, and with 20 it hung.
const spareFiles = 48

// CheckFiles returns an error unless the process may open enough files for the store in dir, plus
// extra others. The argument limit is the process's limit on open files, or 0 if it is unknown.
// Badger keeps every table open, and the index keeps every segment open. The names of these files
// end in one of exts.
func CheckFiles(dir string, extra int, limit int64, exts ...string) error {
	need := int64(spareFiles + extra)
	entries, _ := os.ReadDir(dir) // opening the store returns the error if the folder cannot be read
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
	return fmt.Errorf("%w: it is %d, but at least %d files are needed: raise the limit, for example with: ulimit -n %d", ErrFiles, limit, need, suggested)
}

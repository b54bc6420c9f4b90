package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// ErrFiles means that the store needs more open or mapped files than the process may have.
var ErrFiles = errors.New("the store has too many files")

// spareFiles is the number of files that may be open in addition to tables and segments. These are
// the standard streams, network connections, the folder, MANIFEST, KEYREGISTRY and DISCARD. There
// are also four logs, the value log, and the tables that a compaction writes before it removes
// others. If one of them cannot be opened, Badger may crash or hang: with 18 spare files it
// crashed, and with 20 it hung.
const spareFiles = 48

// growth is the number of files that a store may add between two counts; see [Files.Count].
const growth = 96

// Files watches the number of files that a store has open. Badger keeps every table open and mapped,
// and the index keeps every segment open. Count and Check are safe for concurrent use.
type Files struct {
	Dir   string   // folder of the store
	Exts  []string // extensions of tables and segments
	Extra int      // number of other files that the process will have open
	Limit Limit    // the zero value means that there is no limit

	counted atomic.Int64
}

// A Limit is the maximum number of files that a process may have open, or mapped.
type Limit struct {
	Files int64  // 0 means that the limit is unknown
	Name  string // such as "open files"
	Raise string // command that sets the limit when followed by a number
}

// Count counts the tables and segments.
func (f *Files) Count() {
	n := int64(0)
	entries, _ := os.ReadDir(f.Dir) // opening the store returns the error if the folder cannot be read
	for _, e := range entries {
		if slices.Contains(f.Exts, filepath.Ext(e.Name())) {
			n++
		}
	}
	f.counted.Store(n)
}

// Check returns an error that wraps [ErrFiles] if the process may not open the counted files.
func (f *Files) Check() error { return f.check(0) }

// CheckGrowth is like Check, but also counts the files that the store may add until the next count.
func (f *Files) CheckGrowth() error { return f.check(growth) }

func (f *Files) check(more int64) error {
	need := f.counted.Load() + int64(spareFiles+f.Extra) + more
	if f.Limit.Files == 0 || f.Limit.Files >= need {
		return nil
	}
	suggested := int64(1024)
	for suggested < 2*need {
		suggested *= 2
	}
	return fmt.Errorf("%w: the limit on %s is %d, but at least %d are needed: raise the limit, for example with: %s%d",
		ErrFiles, f.Limit.Name, f.Limit.Files, need, f.Limit.Raise, suggested)
}

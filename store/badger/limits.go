package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"skink/store/badger/postings"
)

// ErrFiles: the process may not have as many files open as the store takes.
var ErrFiles = errors.New("too few files may be open")

// spareFiles are those that are open beside tables and segments: the streams, the
// network's, the folder, MANIFEST, KEYREGISTRY and DISCARD, four logs, the value log,
// and what a compaction writes before it removes anything. Badger does not bear it if
// one of them cannot be opened: with 18 it ended the process, with 20 it hung.
const spareFiles = 48

// checkFiles looks whether enough files may be open for the store in dir, and extra
// ones beside it. badger keeps each table open, and we each segment.
func checkFiles(dir string, extra int, limit int64) error {
	need := int64(spareFiles + extra)
	entries, _ := os.ReadDir(dir) // who cannot be read is told so elsewhere
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".sst" || ext == postings.SegmentExt {
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

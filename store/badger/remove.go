package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/base/lock"
	"skink/store"
	"skink/store/badger/postings"
	"skink/store/disk"
)

// These are the names and extensions of the files in a store's folder. Package store/remote creates
// readers.sock, and skink crawl keeps its configuration in skink.toml.
var (
	ownNames = []string{
		badgerdb.ManifestFilename, "MANIFEST-REWRITE", "KEYREGISTRY", "REWRITE-KEYREGISTRY", "LOCK", discardFile,
		"readers.sock", "skink.toml",
	}
	ownExtensions = []string{".sst", ".vlog", logExt, postings.SegmentExt, disk.KeptExt}
)

// Remove deletes the store in dir, even if it is damaged. It deletes the files of the store, and
// then the folder if nothing else is in it. It returns the name of a file that does not belong to
// the store and was left in the folder, or "". Errors wrap [store.ErrNotExist], [store.ErrInUse] or
// a system error. After an error, calling Remove again deletes the rest.
func Remove(dir string) (other string, err error) {
	if !IsStore(dir) {
		return "", fmt.Errorf("remove store %s: %w", dir, store.ErrNotExist)
	}
	release, free, err := lock.Try(dir)
	if err == nil && !free {
		err = store.ErrInUse
	}
	if err != nil {
		return "", fmt.Errorf("remove store %s: %w", dir, err)
	}
	defer release()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		switch own := slices.Contains(ownNames, e.Name()) || slices.Contains(ownExtensions, filepath.Ext(e.Name())); {
		case !own || e.IsDir():
			other = e.Name()
		case e.Name() != badgerdb.ManifestFilename:
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err == nil { // remove the MANIFEST last, because IsStore looks for it
		err = os.Remove(filepath.Join(dir, badgerdb.ManifestFilename))
	}
	if err == nil && other == "" {
		err = os.Remove(dir)
	}
	if err != nil {
		return other, fmt.Errorf("remove store %s: %w", dir, err)
	}
	return other, nil
}

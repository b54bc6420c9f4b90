package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store"
	"skink/store/badger/postings"
	"skink/store/disk"
)

// configName is the file in which skink crawl keeps its configuration.
const configName = "skink.toml"

// These are the names and extensions of the files in a store's folder. Package store/remote creates
// readers.sock.
var (
	ownNames = []string{
		badgerdb.ManifestFilename, "MANIFEST-REWRITE", "KEYREGISTRY", "REWRITE-KEYREGISTRY", "LOCK", discardFile,
		"readers.sock", configName,
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
	err = locked(dir, func() (err error) {
		if _, err = RewriteIn(dir); err == nil {
			err = takeFiles(dir)
		}
		if err != nil {
			return err
		}
		other, err = removeFiles(dir)
		if err == nil && other == "" {
			err = os.Remove(dir)
		}
		return err
	})
	if err != nil {
		return other, fmt.Errorf("remove store %s: %w", dir, err)
	}
	return other, nil
}

// removeFiles removes the files of a store except those with the given names, and returns the name of
// another file in the folder, or "". It removes the MANIFEST last, because IsStore looks for it.
func removeFiles(dir string, except ...string) (other string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		switch own := slices.Contains(ownNames, e.Name()) || slices.Contains(ownExtensions, filepath.Ext(e.Name())); {
		case !own || e.IsDir():
			other = e.Name()
		case e.Name() != badgerdb.ManifestFilename && !slices.Contains(except, e.Name()):
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err == nil {
		err = os.RemoveAll(filepath.Join(dir, badgerdb.ManifestFilename))
	}
	return other, err
}

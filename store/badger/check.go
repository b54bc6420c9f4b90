package badger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"

	"skink/store"
)

// # Looking before opening
//
// Badger opens a folder in the belief that it is in order. In a folder of other
// files it starts a database; tables that a cut-off MANIFEST does not name it
// deletes; a table with a damaged index it leaves out, with a line in the log,
// or it ends the process. So a folder is looked at first, without a change to
// it: the head of the MANIFEST, all of the MANIFEST, and the index of each
// table.
//
// What is not found here: a damaged block inside a table. Blocks carry checksums
// and are checked when they are read; then badger takes what is in them for
// absent. Reading all records notices, see [Store.Records].
// And the log of a killed process ends where its first damaged entry is, as it
// must: what comes after is lost.

// isStore says whether there is a store in dir, without opening it; a folder
// that does not exist or is empty holds none yet. Any other folder, and a file,
// is an error.
func isStore(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return false, fmt.Errorf("%w: it is a file", store.ErrCorrupt)
		}
		return false, err
	}
	manifest, other := false, ""
	for _, e := range entries {
		switch e.Name() {
		case badgerdb.ManifestFilename:
			manifest = true
		case "LOCK", "MANIFEST-REWRITE": // all there is if it was killed at birth
		default:
			other = e.Name()
		}
	}
	if !manifest && other != "" {
		return false, fmt.Errorf("%w: it holds %q and no MANIFEST; name an empty or a new folder", store.ErrCorrupt, other)
	}
	return manifest, nil
}

// checkStore looks at the files of a store that exists.
func checkStore(dir string) error {
	if err := checkHead(dir); err != nil {
		return err
	}
	release, ok, err := tryLock(dir)
	if err != nil {
		return err
	}
	if !ok {
		return store.ErrInUse
	}
	defer release()
	manifest, err := readManifest(dir)
	if err != nil {
		return damage(err)
	}
	if err := checkNames(dir, manifest); err != nil {
		return damage(err)
	}
	for id, t := range manifest.Tables {
		name := table.NewFilename(id, dir)
		if err := checkTable(name, t.Compression); err != nil {
			return damage(fmt.Errorf("table %s: %w", filepath.Base(name), err))
		}
	}
	return nil
}

// IsStore says whether dir holds a store, of whatever version and state, without a
// change to it.
func IsStore(dir string) bool {
	head, err := readHead(dir)
	return err == nil && head.owner == skinkMagic
}

// A head is the first eight bytes of a MANIFEST: "Bdgr", the application's number,
// the version of its layout, badger's version.
type head struct{ owner, version byte }

func readHead(dir string) (h head, err error) {
	f, err := os.Open(filepath.Join(dir, badgerdb.ManifestFilename))
	if err != nil {
		return h, err
	}
	defer f.Close()
	var b [8]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || string(b[:4]) != "Bdgr" {
		return h, fmt.Errorf("%w: its MANIFEST is not badger's", store.ErrCorrupt)
	}
	return head{b[4], b[5]}, nil
}

// checkHead reads whose store it is, and of which version.
func checkHead(dir string) error {
	h, err := readHead(dir)
	if err != nil {
		return err
	}
	switch {
	case h.owner != skinkMagic:
		return fmt.Errorf("%w: it is the database of another program", store.ErrCorrupt)
	case h.version > layoutVersion:
		return fmt.Errorf("%w: it was written by a newer skink (layout %d, this one reads %d)", store.ErrCorrupt, h.version, layoutVersion)
	case h.version < layoutVersion:
		return fmt.Errorf("%w: it was written by an older skink (layout %d, this one reads %d)", store.ErrCorrupt, h.version, layoutVersion)
	}
	return nil
}

// readManifest reads which tables there are. A MANIFEST that ends inside an
// entry is an error: badger would drop that entry, and delete its tables.
func readManifest(dir string) (m badgerdb.Manifest, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("MANIFEST: %v", r)
		}
	}()
	f, err := os.Open(filepath.Join(dir, badgerdb.ManifestFilename))
	if err != nil {
		return m, err
	}
	defer f.Close()
	m, end, err := badgerdb.ReplayManifestFile(f, skinkMagic<<8|layoutVersion, badgerdb.Options{})
	if err != nil {
		return m, fmt.Errorf("MANIFEST: %w", err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != end {
		return m, fmt.Errorf("MANIFEST ends in the middle of an entry")
	}
	return m, nil
}

// checkNames compares the tables that are there with those that should be. A
// killed process may leave tables that nobody knows yet; it then leaves its log
// (.mem) too. Without a log such tables were known, and the MANIFEST is not whole.
func checkNames(dir string, m badgerdb.Manifest) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	there := map[uint64]bool{}
	killed := false
	for _, e := range entries {
		if id, ok := table.ParseFileID(e.Name()); ok {
			there[id] = true
		}
		killed = killed || strings.HasSuffix(e.Name(), ".mem")
	}
	for id := range m.Tables {
		if !there[id] {
			return fmt.Errorf("table %s is missing", table.IDToFilename(id))
		}
		delete(there, id)
	}
	if !killed {
		for id := range there {
			return fmt.Errorf("table %s is not in the MANIFEST", table.IDToFilename(id))
		}
	}
	return nil
}

// checkTable opens a table as badger will: it reads the index, its checksum, and
// the last block.
func checkTable(name string, compression options.CompressionType) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("its index is damaged")
		}
	}()
	f, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close(-1)
	opt := table.Options{
		BlockSize:   blockSize,
		Compression: compression,
		ChkMode:     options.OnBlockRead,
	}
	_, err = table.OpenTable(f, opt)
	return err
}

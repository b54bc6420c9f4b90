package badger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
// or it ends the process; logs with a gap between them it reads as if there were
// none. So a folder is looked at first: the head of the MANIFEST, all of the
// MANIFEST, the index of each table, and the logs, see [memLog]. Nothing is changed
// in it but what holds nothing, see [holdsNothing], and what a gap parts from all
// that came before.
//
// What is not found here: a damaged block inside a table. Blocks carry checksums
// and are checked when they are read; then badger takes what is in them for
// absent. Reading all records notices, see [Store.Records].

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

// checkStore looks at the files of a store that exists, and puts in order what a
// killed process or a power cut left.
func checkStore(dir string) (Loss, error) {
	release, ok, err := tryLock(dir)
	if err != nil {
		return Loss{}, err
	}
	if !ok {
		return Loss{}, store.ErrInUse
	}
	defer release()
	if err := removeLeftovers(dir); err != nil {
		return Loss{}, err
	}
	_, reached, err := lookAt(dir)
	if err != nil {
		return Loss{}, err
	}
	return mendLogs(dir, reached)
}

// lookAt reads which tables there are, and up to which transaction they reach.
func lookAt(dir string) (m badgerdb.Manifest, reached uint64, err error) {
	m, torn, err := readManifest(dir)
	if err != nil {
		return m, 0, damage(err)
	}
	reached, err = checkTables(dir, m)
	if err == nil {
		err = checkNames(dir, m, reached)
	}
	if err != nil && torn {
		err = fmt.Errorf("MANIFEST ends in the middle of an entry: %w", err)
	}
	if err != nil {
		return m, 0, damage(err)
	}
	return m, reached, nil
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

// readManifest reads which tables there are. A power cut may tear the last entry:
// then badger drops it, which costs nothing if what it said was not done yet. See
// [checkNames].
func readManifest(dir string) (m badgerdb.Manifest, torn bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("MANIFEST: %v", r)
		}
	}()
	f, err := os.Open(filepath.Join(dir, badgerdb.ManifestFilename))
	if err != nil {
		return m, false, err
	}
	defer f.Close()
	m, end, err := badgerdb.ReplayManifestFile(f, skinkMagic<<8|layoutVersion, badgerdb.Options{})
	if err != nil {
		return m, false, fmt.Errorf("MANIFEST: %w", err)
	}
	info, err := f.Stat()
	return m, err == nil && info.Size() != end, err
}

// checkTables looks at the tables that should be there, and returns the number of
// the last transaction that is in them.
func checkTables(dir string, m badgerdb.Manifest) (reached uint64, err error) {
	for id, t := range m.Tables {
		name := table.NewFilename(id, dir)
		last, err := checkTable(name, t.Compression)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("table %s is missing", filepath.Base(name))
		}
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", filepath.Base(name), err)
		}
		reached = max(reached, last)
	}
	return reached, nil
}

// checkNames looks at the tables that are there and that the MANIFEST does not name,
// which badger removes. A killed process may leave such: one that it was writing of a
// log, which then is there too, or of other tables, which then are still named, or
// tables that it had made others of. In none of them is a transaction that is not
// also elsewhere. One that has later ones was known, and the MANIFEST is not whole.
func checkNames(dir string, m badgerdb.Manifest, reached uint64) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	killed := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == logExt })
	for _, e := range entries {
		id, isTable := table.ParseFileID(e.Name())
		if _, named := m.Tables[id]; !isTable || named || killed {
			continue
		}
		last, err := checkTable(filepath.Join(dir, e.Name()), options.None)
		if err == nil && last > reached {
			return fmt.Errorf("table %s is not in the MANIFEST", e.Name())
		}
	}
	return nil
}

// checkTable opens a table as badger will: it reads the index, its checksum, and
// the last block. It returns the number of the last transaction in it.
func checkTable(name string, compression options.CompressionType) (last uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("its index is damaged")
		}
	}()
	f, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close(-1)
	opt := table.Options{
		BlockSize:   blockSize,
		Compression: compression,
		ChkMode:     options.OnBlockRead,
	}
	t, err := table.OpenTable(f, opt)
	if err != nil {
		return 0, err
	}
	return t.MaxVersion(), nil
}

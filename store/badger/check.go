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
	"github.com/dgraph-io/badger/v4/table"

	"skink/store"
	"skink/store/disk"
)

// # Checks before opening
//
// Badger assumes that the folder it opens is in order. In a folder with other files it starts a new
// database. It deletes tables that a truncated MANIFEST does not name. If the index of a table is
// damaged, it either logs a message and skips the table, or ends the process. It treats a damaged
// block as empty. It reads logs with a gap between them as if there were no gap. So skink checks a
// folder before badger opens it: the MANIFEST, every table in full, and the logs; see [memLog].
// A damaged store is not opened for writing. What is readable can be read in a view; see [remains].

// isStore reports whether there is a store in dir, without opening it. A folder that is empty or
// does not exist contains no store yet. isStore returns an error if dir is a file, or a folder with
// other files.
func isStore(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return false, fmt.Errorf("%w: it is a file, not a folder", store.ErrCorrupt)
		}
		return false, err
	}
	manifest, other := false, ""
	for _, e := range entries {
		switch e.Name() {
		case badgerdb.ManifestFilename:
			manifest = true
		case "LOCK", "MANIFEST-REWRITE", discardFile, rewriteName: // a process that was killed while creating the store leaves only these
		default:
			other = e.Name()
		}
	}
	if !manifest && other != "" {
		return false, fmt.Errorf("%w: the folder contains %q, but no MANIFEST", store.ErrCorrupt, other)
	}
	return manifest, nil
}

// checkStore checks the files of an existing store, and removes what a killed process or a power
// failure left. It returns a [DamageError] if a file is damaged.
func checkStore(dir string) (loss Loss, checked *checkedTables, err error) {
	err = locked(dir, func() error {
		found, err := inspect(dir, readChecked(dir))
		if err != nil {
			return err
		}
		if len(found.loss.Damage) > 0 {
			return DamageError(found.loss.Damage)
		}
		checked = found.checked
		if loss, err = mendLogs(found.logs, found.reached); err != nil {
			return err
		}
		return removeLeftovers(dir)
	})
	return loss, checked, err
}

// A DamageError lists the damaged files of a store, which therefore cannot be opened for writing. It
// wraps [store.ErrCorrupt].
type DamageError []Damage

func (e DamageError) Error() string {
	return fmt.Sprintf("the store is damaged: %s: %s", e[0].File, e[0].What)
}

func (e DamageError) Unwrap() error { return store.ErrCorrupt }

type inspection struct {
	manifest badgerdb.Manifest
	checked  *checkedTables
	tables   map[uint64]*tableContent
	logs     []memLog
	reached  uint64 // last transaction in the tables; later transactions are in the logs
	loss     Loss
}

// inspect reads the MANIFEST, the logs, and in full every table that is not in the list checked. It
// adds undamaged tables to the list. It changes nothing on disk.
func inspect(dir string, checked *checkedTables) (*inspection, error) {
	f := &inspection{checked: checked}
	var torn bool
	var err error
	f.manifest, torn, err = readManifest(dir)
	switch {
	case err == nil:
		err = f.readTables(dir)
	case !disk.Refused(err):
		err = f.distrustManifest(dir, err.Error())
	}
	if err != nil {
		return nil, err
	}
	f.loss.Names = f.mayLack(keyMeta) && f.mayLack(keyMetaCopy)
	f.reached = f.reach()
	if err := checkNames(dir, f.manifest, f.reached); err != nil && len(f.tables) == 0 {
		what := err.Error()
		if torn {
			what = "ends in the middle of an entry: " + what
		}
		if err := f.distrustManifest(dir, what); err != nil {
			return nil, err
		}
	}
	if f.logs, err = readLogs(dir); err != nil {
		return nil, err
	}
	if len(f.loss.Damage) > 0 { // the last transaction of a damaged table is unknown, so look in the logs
		for _, l := range slices.Backward(f.logs) {
			if l.first > 0 {
				f.reached = l.first - 1
			}
		}
	}
	return f, nil
}

// distrustManifest notes that the MANIFEST is damaged, and reads all tables in the folder.
func (f *inspection) distrustManifest(dir, what string) (err error) {
	f.loss.Damage = append(f.loss.Damage, Damage{badgerdb.ManifestFilename, what})
	if f.manifest, err = rebuildManifest(dir); err != nil {
		return err
	}
	return f.readTables(dir)
}

func (f *inspection) readTables(dir string) error {
	tables, said, err := damagedTables(dir, f.manifest, f.checked)
	f.tables = tables
	f.loss.Damage = append(f.loss.Damage, said...)
	return err
}

// mayLack reports whether damaged tables may have contained keys with the given letter; see
// keys.go.
func (f *inspection) mayLack(letter byte) bool {
	for _, t := range f.tables {
		if slices.ContainsFunc(t.lost, func(r keyRange) bool { return r.mayHave(letter) }) {
			return true
		}
	}
	return false
}

// reach returns the number of the last transaction in undamaged tables.
func (f *inspection) reach() (last uint64) {
	for id := range f.manifest.Tables {
		if f.tables[id] == nil {
			last = max(last, f.checked.Tables[id].Last)
		}
	}
	return last
}

// IsStore reports whether dir contains a store, of any version and in any state. It changes
// nothing.
func IsStore(dir string) bool {
	head, err := readHead(dir)
	return err == nil && head.owner == skinkMagic || isRewritten(dir)
}

// A head is the first eight bytes of a MANIFEST: "Bdgr", the application's number, the version of
// its layout, and badger's version.
type head struct{ owner, version byte }

func readHead(dir string) (h head, err error) {
	f, err := os.Open(filepath.Join(dir, badgerdb.ManifestFilename))
	if err != nil {
		return h, err
	}
	defer f.Close()
	var b [8]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || string(b[:4]) != "Bdgr" {
		return h, fmt.Errorf("%w: the file MANIFEST does not belong to a Badger database", store.ErrCorrupt)
	}
	return head{b[4], b[5]}, nil
}

// checkHead returns an error if dir belongs to another program, or if the store's layout has a
// different version.
func checkHead(dir string) error {
	h, err := readHead(dir)
	if err != nil {
		return err
	}
	switch {
	case h.owner != skinkMagic:
		return fmt.Errorf("%w: the database belongs to another program", store.ErrCorrupt)
	case h.version > layoutVersion:
		return fmt.Errorf("%w: it was written by a newer version of skink (layout %d; this version reads layout %d)", store.ErrCorrupt, h.version, layoutVersion)
	case h.version < layoutVersion:
		return fmt.Errorf("%w: it was written by an older version of skink (layout %d; this version reads layout %d)", store.ErrCorrupt, h.version, layoutVersion)
	}
	return nil
}

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

// checkNames checks the tables that the MANIFEST does not name. Badger will remove them. A killed
// process may leave three kinds: a table made from a log that still exists, a table made from other
// tables that are still named, and tables that were replaced by others. Every transaction in them
// is also stored elsewhere. If such a table has a later transaction than all other tables, it was
// once named, so the MANIFEST is incomplete.
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
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if c, _ := readTable(b); c.last > reached {
			return fmt.Errorf("table %s is not listed in the file MANIFEST", e.Name())
		}
	}
	return nil
}

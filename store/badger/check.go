package badger

import (
	"encoding/json"
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
// or it ends the process; a damaged block it takes for empty; logs with a gap between
// them it reads as if there were none. So a folder is looked at first: all of the
// MANIFEST, all of each table, and the logs, see [memLog]. What is damaged is
// written anew without what is lost, see [tableContent], and the store then mended,
// see [mending].

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
	found, err := inspect(dir)
	if err != nil {
		return Loss{}, err
	}
	if err := found.rewrite(dir); err != nil {
		return Loss{}, err
	}
	loss, err := mendLogs(dir, found.reached)
	found.loss.Transactions, found.loss.counters = loss.Transactions, loss.counters
	return found.loss, err
}

// inspection is what was found in the files of a store.
type inspection struct {
	manifest badgerdb.Manifest
	rebuilt  bool // the manifest
	tables   map[uint64]*tableContent
	reached  uint64 // the last transaction in tables
	loss     Loss
}

// damageFile is there while a store is being mended: the lines of what was found. So a
// process that is killed leaves that to the next one.
const damageFile = "DAMAGE"

// inspect reads which tables there are, and all of each, without a change.
func inspect(dir string) (*inspection, error) {
	f := &inspection{}
	said, err := readDamage(dir)
	if err != nil {
		return nil, err
	}
	f.loss.Damage, f.loss.Names = said, len(said) > 0
	var torn bool
	f.manifest, torn, err = readManifest(dir)
	if err != nil {
		if refusal(err) != 0 {
			return nil, err
		}
		f.damaged(Damage{badgerdb.ManifestFilename, err.Error()})
		if f.manifest, err = rebuildManifest(dir); err != nil {
			return nil, err
		}
		f.rebuilt = true
	}
	if f.tables, said, err = damagedTables(dir, f.manifest); err != nil {
		return nil, err
	}
	f.damaged(said...)
	f.loss.Names = f.loss.Names || f.mayLack(keyMeta) && f.mayLack(keyMetaCopy)
	if f.reached, err = f.reach(dir); err != nil {
		return nil, err
	}
	if err := checkNames(dir, f.manifest, f.reached); err != nil && len(f.tables) == 0 {
		what := err.Error()
		if torn {
			what = "it ends in the middle of an entry: " + what
		}
		f.damaged(Damage{badgerdb.ManifestFilename, what})
		f.manifest, err = rebuildManifest(dir)
		f.rebuilt = true
		if err != nil {
			return nil, err
		}
	}
	if len(f.loss.Damage) > 0 { // what the tables reached is no longer known
		logs, err := readLogs(dir)
		if err != nil {
			return nil, err
		}
		for _, l := range slices.Backward(logs) {
			if l.first > 0 {
				f.reached = l.first - 1
			}
		}
	}
	return f, nil
}

// mayLack says whether a key of a letter may have been lost.
func (f *inspection) mayLack(letter byte) bool {
	for _, t := range f.tables {
		if slices.ContainsFunc(t.lost, func(r keyRange) bool { return r.mayHave(letter) }) {
			return true
		}
	}
	return false
}

func (f *inspection) damaged(said ...Damage) {
	for _, d := range said {
		if !slices.Contains(f.loss.Damage, d) {
			f.loss.Damage = append(f.loss.Damage, d)
		}
	}
}

// reach is the last transaction that is in tables which are whole.
func (f *inspection) reach(dir string) (last uint64, err error) {
	for id, t := range f.manifest.Tables {
		if f.tables[id] != nil {
			continue
		}
		reached, err := checkTable(filepath.Join(dir, tableName(id)), t.Compression)
		if err != nil {
			return 0, damage(fmt.Errorf("table %s: %w", tableName(id), err))
		}
		last = max(last, reached)
	}
	return last, nil
}

// rewrite puts damaged tables, and a damaged MANIFEST, in order. What was found is
// written down first.
func (f *inspection) rewrite(dir string) error {
	if len(f.loss.Damage) == 0 {
		return nil
	}
	if err := writeDamage(dir, f.loss.Damage); err != nil {
		return err
	}
	for id, t := range f.tables {
		name := filepath.Join(dir, tableName(id))
		b := t.rewrite()
		if b != nil {
			if err := replaceFile(name, b); err != nil {
				return err
			}
			continue
		}
		delete(f.manifest.Tables, id)
		f.rebuilt = true
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !f.rebuilt {
		return nil
	}
	return writeManifest(filepath.Join(dir, badgerdb.ManifestFilename), f.manifest)
}

func writeDamage(dir string, said []Damage) error {
	b, err := json.Marshal(said)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, damageFile), b)
}

// readDamage reads what a process that was killed had found. Whatever is in the file, it
// says that there was something.
func readDamage(dir string) (said []Damage, err error) {
	b, err := os.ReadFile(filepath.Join(dir, damageFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(b, &said) != nil || len(said) == 0 {
		said = []Damage{{damageFile, "it cannot be read"}}
	}
	return said, nil
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

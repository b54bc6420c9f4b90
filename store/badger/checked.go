package badger

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/store/disk"
)

// # Tables that were checked before
//
// Reading every table takes a second per gigabyte, so a store with 20 million pages would take 15
// seconds to open. Badger never changes a table after it has written it. So the store keeps a list
// of the tables that were read in full or that its own process wrote. A listed table is not read
// again when the store is opened, unless
//
//   - the size or the modification time of its file has changed,
//   - the system has been restarted since, because a power failure may leave gaps in files, or
//   - it was last checked more than a day ago.
//
// If bytes of a listed table change on disk, the store notices only when it reads the table again.
// Until then, badger behaves as if the block had no keys, just as it would if the bytes changed
// while the store was open. [Check] always reads every table.
//
// The process that has the store open for writing keeps the list, as a cached value; see kept.go. If
// the list is lost, all tables are read.
type checkedTables struct {
	Boot   string // identifies the boot of the system; see disk.Boot
	Tables map[uint64]checkedTable

	changed bool
}

type checkedTable struct {
	Size    int64
	Changed time.Time
	Checked time.Time // time at which the table was read in full, or listed by the process that wrote it
	Last    uint64    // number of the last transaction in the table
}

const (
	checkedName  = "tables"
	checkedFor   = 24 * time.Hour // tables checked longer ago are read again
	checkedEvery = 10 * time.Second
)

func noneChecked() *checkedTables {
	return &checkedTables{Boot: disk.Boot(), Tables: map[uint64]checkedTable{}}
}

// readChecked returns the tables in dir that need not be read again. Some of them may no longer
// exist.
func readChecked(dir string) *checkedTables {
	none := noneChecked()
	b, err := disk.Cache(dir).Kept(context.Background(), checkedName)
	var listed checkedTables
	if err != nil || json.Unmarshal(b, &listed) != nil || listed.Boot != none.Boot || none.Boot == "" || listed.Tables == nil {
		return none
	}
	maps.DeleteFunc(listed.Tables, func(_ uint64, t checkedTable) bool {
		age := time.Since(t.Checked)
		return age < 0 || age > checkedFor
	})
	return &listed
}

// has reports whether a table in dir is listed and its file is unchanged.
func (c *checkedTables) has(dir string, id uint64) bool {
	t, ok := c.Tables[id]
	info, err := os.Stat(filepath.Join(dir, tableName(id)))
	return ok && err == nil && info.Size() == t.Size && info.ModTime().Equal(t.Changed)
}

func (c *checkedTables) add(dir string, id, last uint64) {
	info, err := os.Stat(filepath.Join(dir, tableName(id)))
	if err != nil {
		return // a compaction has replaced the table
	}
	c.Tables[id] = checkedTable{info.Size(), info.ModTime(), time.Now(), last}
	c.changed = true
}

// keep writes the list next to the store in dir if the list has changed. If that fails, for example
// because the disk is full, tables that were already checked are read again when the store is next
// opened.
func (c *checkedTables) keep(dir string) {
	if !c.changed || c.Boot == "" {
		return
	}
	if b, err := json.Marshal(c); err == nil && disk.Cache(dir).Keep(context.Background(), checkedName, b) == nil {
		c.changed = false
	}
}

func (c *checkedTables) update(dir string, db *badgerdb.DB) {
	open := map[uint64]bool{}
	for _, t := range db.Tables() {
		open[t.ID] = true
		if _, listed := c.Tables[t.ID]; !listed {
			c.add(dir, t.ID, t.MaxVersion)
		}
	}
	for id := range c.Tables {
		if !open[id] {
			delete(c.Tables, id)
			c.changed = true
		}
	}
}

// list keeps an open store's list of checked tables up to date, and counts the files of the store. It
// updates the list one last time when ctx is done.
func (c *checkedTables) list(ctx context.Context, files *disk.Files, db *badgerdb.DB) {
	next := time.Tick(checkedEvery)
	for open := true; open; {
		select {
		case <-ctx.Done():
			open = false
		case <-next:
		}
		c.update(files.Dir, db)
		c.keep(files.Dir)
		files.Count()
	}
}

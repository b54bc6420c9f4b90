package badger

import (
	"context"
	"reflect"
	"sync"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"skink/store/disk"
)

// # Tables in memory
//
// Badger maps each of its tables into memory as a whole. The parts of a table that have been read
// or written stay resident until the system is short of memory. A process that had crawled 600 MB
// of text had 600 MB of tables in memory, and appeared to leak. So the store watches how much of
// its files is resident. When that grows by maxResident bytes, and by tableResident more for each
// table, the store returns the memory of all tables to the system. The data stays in the system's
// cache: reading it again costs a page fault for each 64 KB, but no disk read.
//
// Badger has no function for that, and does not export its tables, so the store reaches them by
// reflection. TestMapped fails if a new version of badger renames them. An iterator would hold the
// tables without reflection, but their addresses would have to come from /proc/self/maps. There, two
// readers of one folder map the same files, and one could unmap its own before the memory at that
// address is released, which may by then belong to the program's heap. The store increments a
// table's reference count before it returns the memory, as badger does before it reads a table, so
// that the table is not unmapped in the meantime. The memory of tables that a compaction is still
// writing is not returned, because those tables belong to no level yet. In a store with 600 MB of
// text, these tables took up to 260 MB.

const (
	maxResident   = 32 << 20              // number of bytes by which resident tables may grow before their memory is returned
	tableResident = 4 << 10               // additional number of bytes for each table, because returning them takes a system call for each table
	lookMapped    = 50 * time.Millisecond // time between checks
)

// keepSmall watches how much of a store's tables is resident in memory, if the system reports that. It
// must end before db is closed, because closing unmaps tables even while they are referenced.
func keepSmall(ctx context.Context, db *badgerdb.DB) {
	if _, ok := disk.Resident(); !ok {
		return
	}
	look := time.NewTicker(lookMapped)
	defer look.Stop()
	floor, _ := disk.Resident() // bytes that are always resident: the program itself, and the logs
	limit := int64(maxResident)
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		now, _ := disk.Resident()
		floor = min(floor, now)
		if now-floor >= limit {
			tables := giveTablesBack(db)
			limit = maxResident + tableResident*int64(tables)
			floor, _ = disk.Resident()
		}
	}
}

// giveTablesBack returns the memory of all tables to the system, and returns the number of tables.
func giveTablesBack(db *badgerdb.DB) (n int) {
	levels := reflect.ValueOf(db).Elem().FieldByName("lc").Elem().FieldByName("levels")
	for i := range levels.Len() {
		level := levels.Index(i).Elem()
		mu := (*sync.RWMutex)(level.FieldByName("RWMutex").Addr().UnsafePointer())
		tables := (*[]*table.Table)(level.FieldByName("tables").Addr().UnsafePointer())
		for _, t := range hold(mu, tables) {
			disk.GiveBack(t.Data)
			_ = t.DecrRef() // releasing the last reference to a table deletes its file; if that fails, the next opening deletes it
			n++
		}
	}
	return n
}

// hold adds a reference to each table of a level. The caller must release each one.
func hold(mu *sync.RWMutex, tables *[]*table.Table) []*table.Table {
	mu.RLock()
	defer mu.RUnlock()
	held := make([]*table.Table, len(*tables))
	for i, t := range *tables {
		t.IncrRef()
		held[i] = t
	}
	return held
}

package badger

import (
	"reflect"
	"sync"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// # Tables in memory
//
// Badger maps each of its tables whole. What was read or written of one stays resident
// until the system is short of memory: a process that crawled 600 MB of text held 600 MB
// of tables, and looked like one that leaks. So the store watches how much of its files is
// resident. When that has grown by mostResident, the store gives the pages of all tables
// back. They stay in the system's cache, and whoever reads one again takes a fault that
// maps 64 KB of it, not a reading from disk.
//
// Badger has no call for that, and its tables cannot be reached from outside, so they are
// reached by reflection; TestMapped finds out when a new version names them otherwise.
// A table is held while its pages are given back, as badger itself holds those that it
// reads, so it is not unmapped meanwhile. Tables that a compaction is writing are in no
// level yet and come on top: with 600 MB of texts in the store, up to 260 MB of them.

const (
	mostResident = 64 << 20 // bytes
	lookMapped   = 50 * time.Millisecond
)

// A mapped watches how much of a store's tables is resident.
type mapped struct {
	closing chan struct{}
	ended   sync.WaitGroup
}

// watch begins to watch the tables of db.
func (m *mapped) watch(db *badgerdb.DB) {
	if _, ok := residentFiles(); !ok {
		return
	}
	m.closing = make(chan struct{})
	m.ended.Go(func() { keepSmall(db, m.closing) })
}

// stop must come before db is closed, which unmaps tables whoever holds them.
func (m *mapped) stop() {
	if m.closing != nil {
		close(m.closing)
		m.ended.Wait()
		m.closing = nil
	}
}

func keepSmall(db *badgerdb.DB, closing <-chan struct{}) {
	look := time.NewTicker(lookMapped)
	defer look.Stop()
	floor, _ := residentFiles() // what cannot be given back: the program itself, and logs
	for {
		select {
		case <-closing:
			return
		case <-look.C:
		}
		now, _ := residentFiles()
		floor = min(floor, now)
		if now-floor >= mostResident {
			giveTablesBack(db)
			floor, _ = residentFiles()
		}
	}
}

// giveTablesBack takes the pages of all tables out of the process.
func giveTablesBack(db *badgerdb.DB) {
	levels := reflect.ValueOf(db).Elem().FieldByName("lc").Elem().FieldByName("levels")
	for i := range levels.Len() {
		level := levels.Index(i).Elem()
		mu := (*sync.RWMutex)(level.FieldByName("RWMutex").Addr().UnsafePointer())
		tables := (*[]*table.Table)(level.FieldByName("tables").Addr().UnsafePointer())
		for _, t := range hold(mu, tables) {
			giveBack(t.Data)
			_ = t.DecrRef() // the last to hold it deletes the file; if that fails, the next opening does
		}
	}
}

// hold returns the tables of a level, each to be let go.
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

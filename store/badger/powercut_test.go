package badger

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/frontier"
	"skink/store"
)

// After a power failure, each log may lack the data written after its last sync, and a file system may
// have written the newer log before the older one. Whenever a new log is begun, this test copies
// the store as such a power failure would leave it: the older logs as they were at their last sync, and
// the newest log complete. The opened copy has the pages before the gap, reports the loss, and has
// the other pages pending.
func TestPowerCutAtRotation(t *testing.T) {
	ctx := t.Context()
	s, err := Open(t.TempDir(), Options{Create: true, Reserve: -1, tune: smallLogs})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	synced := map[string][]byte{}
	s.syncFile = func(f *os.File) error {
		if filepath.Ext(f.Name()) == logExt {
			b, err := os.ReadFile(f.Name())
			if err != nil {
				return err
			}
			synced[filepath.Base(f.Name())] = b
		}
		return f.Sync()
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var newest string
	durable, cuts, gaps := 0, 0, 0
	for num := 1; cuts < 3 && num < 1500; num++ {
		e := entry(num)
		e.Text = randomBytes(rng, 20<<10)
		if _, err := s.Discover(ctx, []frontier.Item{{URL: e.Record.URL}}); err != nil {
			t.Fatal(err)
		}
		commit(t, s, e)
		if num%140 == 0 { // about twice in three logs, so that syncs happen at various offsets of a log
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
			durable = num
		}
		names, err := logNames(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		if last := names[len(names)-1]; last == newest {
			continue
		} else {
			newest = last
		}
		dir := filepath.Join(t.TempDir(), "cut")
		if snapshot(t, s.dir, dir) {
			cut(t, dir, synced)
			if gap := checkCut(t, dir, durable, num); gap {
				gaps++
			}
			cuts++
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d cuts at rotations, %d of them with a gap", cuts, gaps)
}

func smallLogs(o *badgerdb.Options) { o.MemTableSize = 4 << 20 }

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// snapshot copies an open store as it is at one moment. It returns false if a table was written or
// removed in the meantime.
func snapshot(t *testing.T, from, to string) bool {
	t.Helper()
	manifest := func() string {
		b, err := os.ReadFile(filepath.Join(from, "MANIFEST"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		t.Fatal(err)
	}
	before := manifest()
	names, err := logNames(from)
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := filepath.Glob(filepath.Join(from, "*.sst"))
	for _, name := range append(names, tables...) {
		b, err := os.ReadFile(name)
		if err != nil {
			return false
		}
		name = filepath.Join(to, filepath.Base(name))
		if err := os.WriteFile(name, bytes.TrimRight(b, "\x00"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, int64(len(b))); err != nil {
			t.Fatal(err)
		}
	}
	write(t, to, "MANIFEST", before)
	return manifest() == before
}

// oneLog copies a store that has one log, and reads that log.
func oneLog(t *testing.T, s *Store) (dir, name string, b []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "whole")
	if !snapshot(t, s.dir, dir) {
		t.Fatal("the store changed by itself")
	}
	names, err := logNames(dir)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if b, err = os.ReadFile(names[0]); err != nil {
		t.Fatal(err)
	}
	return dir, names[0], b
}

// cut restores the content that all logs except the newest had at their last sync.
func cut(t *testing.T, dir string, synced map[string][]byte) {
	t.Helper()
	names, err := logNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:len(names)-1] {
		edit(t, name, func(b []byte) []byte {
			clear(b)
			copy(b, synced[filepath.Base(name)])
			return b
		})
	}
}

// checkCut opens a store after a power failure and checks that it has the first pages, at least those
// that were synced, and that the other pages can be judged again.
func checkCut(t *testing.T, dir string, durable, committed int) (gap bool) {
	t.Helper()
	s, err := Open(dir, Options{Reserve: -1, tune: smallLogs})
	if err != nil {
		t.Fatalf("after %d pages, %d of them synced: %v", committed, durable, err)
	}
	defer s.Close()
	kept := 0
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		if kept++; c.Record.URL != entry(kept).Record.URL {
			t.Fatalf("%s comes after %d pages", c.Record.URL, kept-1)
		}
	}
	loss := s.Loss()
	if kept < durable || loss.Transactions == 0 && kept < committed-1 {
		t.Errorf("%d of %d pages are there, %d were synced; loss: %+v", kept, committed, durable, loss)
	}
	if loss.Transactions > 0 && int64(kept)+loss.Records > int64(committed) {
		t.Errorf("%d pages are there, and %d of %d are said to be lost", kept, loss.Records, committed)
	}
	for num := kept + 1; num <= committed; num++ {
		e := entry(num)
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: e.Record.URL}}); err != nil {
			t.Fatal(err)
		}
		commit(t, s, e)
	}
	checkCounts(t, s, frontier.Counts{Fetched: int64(committed)})
	return loss.Transactions > 0
}

// The test splits a log in two at a transaction, as badger does when its memtable is full. It
// truncates the first of the two, as after a power failure before which only the second was written
// completely.
func TestGapBetweenLogs(t *testing.T) {
	s := openTest(t, t.TempDir())
	for num := 1; num <= 60; num++ {
		e := entry(num)
		if _, err := s.Discover(t.Context(), []frontier.Item{{URL: e.Record.URL}}); err != nil {
			t.Fatal(err)
		}
		commit(t, s, e)
	}
	whole, _, b := oneLog(t, s)
	var ends []int // offsets at which transactions end
	for at := logHead; ; {
		e, ok := readEntry(b, at)
		if !ok {
			break
		}
		if at += e.size; e.meta&endsTxn != 0 {
			ends = append(ends, at)
		}
	}
	gaps := 0
	for _, parted := range []int{5, 20, 70, len(ends) - 2} {
		for _, left := range []int{logHead, ends[1], ends[parted/2] + 7, ends[parted] - 1, ends[parted]} {
			dir := filepath.Join(t.TempDir(), "cut")
			copyDir(t, whole, dir)
			first, second := make([]byte, len(b)), make([]byte, len(b))
			copy(first, b[:left])
			copy(second, b[:logHead])
			copy(second[logHead:], b[ends[parted]:])
			write(t, dir, "00001.mem", string(first))
			write(t, dir, "00002.mem", string(second))
			if checkCut(t, dir, 0, 60) {
				gaps++
			} else if left < ends[parted] {
				t.Errorf("parted at transaction %d, cut at %d: the gap was not noticed", parted, left)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d gaps", gaps)
}

// After Sync nothing is lost, whichever logs there are, and whatever data the file system would
// have written by itself.
func TestSyncReachesAllLogs(t *testing.T) {
	s, err := Open(t.TempDir(), Options{Create: true, Reserve: -1, tune: smallLogs})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	several := 0
	for num := 1; several < 3 && num < 3000; num++ {
		e := entry(num)
		e.Text = randomBytes(rng, 20<<10)
		commit(t, s, e)
		before, err := logNames(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(before) < 2 {
			continue
		}
		synced := map[string]bool{}
		s.syncFile = func(f *os.File) error { synced[f.Name()] = true; return f.Sync() }
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
		after, err := logNames(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range before {
			if slices.Contains(after, name) && !synced[name] {
				t.Errorf("%s was not synced, only %v", name, slices.Sorted(maps.Keys(synced)))
			}
		}
		if !synced[s.dir] {
			t.Error("the folder was not synced")
		}
		several++
	}
}

// After a wrong byte in a log, or a page of the log that was never written, the later data of the
// log is lost, and the store reports the loss.
func TestDamageInLog(t *testing.T) {
	s := openTest(t, t.TempDir())
	fill(t, s, 100)
	whole, name, b := oneLog(t, s)
	// Damage in the last transaction looks as if a process had been killed while it wrote that
	// transaction. The two cannot be distinguished.
	end := bytes.LastIndex(b, []byte("https://example.com/100"))
	for at := 0; at < end; at += end / 8 {
		dir := filepath.Join(t.TempDir(), "copy")
		copyDir(t, whole, dir)
		edit(t, filepath.Join(dir, filepath.Base(name)), func(b []byte) []byte { b[at] ^= 0x20; return b })
		s := openTest(t, dir)
		kept := int64(0)
		for _, err := range s.Changes(t.Context(), "", store.WantRecord) {
			if err != nil {
				t.Fatal(err)
			}
			kept++
		}
		if kept+s.Loss().Records != 100 {
			t.Errorf("byte %d of %d: %d pages are there, and %+v is said to be lost", at, end, kept, s.Loss())
		}
	}
}

// A process that is killed while it opens or closes a store leaves files that badger does not
// expect. The store can still be opened.
func TestLeftovers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		leave func(dir string)
	}{
		{"a log that was made and not sized", func(dir string) { write(t, dir, "00007.mem", "") }},
		{"a value log that was made and not sized", func(dir string) { write(t, dir, "000007.vlog", "") }},
		{"a value log with a damaged head", func(dir string) { write(t, dir, "000001.vlog", "12345678901234567890") }},
		{"DISCARD that was made and not sized", func(dir string) { write(t, dir, "DISCARD", "") }},
		{"half a registry of keys", func(dir string) { write(t, dir, "KEYREGISTRY", "1234") }},
		{"a table that was made and not sized", func(dir string) { write(t, dir, "000900.sst", "") }},
		{"a table that was not written", func(dir string) { write(t, dir, "000900.sst", string(make([]byte, 9000))) }},
		{"a table that was merged into another", func(dir string) {
			b, err := os.ReadFile(filepath.Join(dir, "000001.sst"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "000900.sst", string(b))
		}},
		{"a MANIFEST with the beginning of an entry", func(dir string) {
			edit(t, filepath.Join(dir, "MANIFEST"), func(b []byte) []byte { return append(b, 0, 0, 0, 9, 1, 2) })
		}},
		{"a MANIFEST that was to be rewritten", func(dir string) { write(t, dir, "MANIFEST-REWRITE", "Bdgr") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, dir)
			fill(t, s, 10)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tt.leave(dir)
			s = openTest(t, dir)
			got := 0
			for _, err := range s.Changes(t.Context(), "", store.WantRecord) {
				if err != nil {
					t.Fatal(err)
				}
				got++
			}
			if got != 10 || s.Loss().Transactions > 0 || s.Loss().Damage != nil {
				t.Errorf("%d records, loss %+v", got, s.Loss())
			}
		})
	}
}

// A damaged header of a log costs nothing, because it only names the key of an encrypted log.
func TestDamagedLogHead(t *testing.T) {
	s := openTest(t, t.TempDir())
	fill(t, s, 20)
	left := filepath.Join(t.TempDir(), "killed")
	if !snapshot(t, s.dir, left) {
		t.Fatal("the store changed by itself")
	}
	for at := range logKey {
		dir := filepath.Join(t.TempDir(), "rotten")
		copyDir(t, left, dir)
		logs, err := logNames(dir)
		if err != nil || len(logs) == 0 {
			t.Fatalf("logs %v, %v", logs, err)
		}
		edit(t, logs[len(logs)-1], func(b []byte) []byte { b[at] ^= 1; return b })
		for _, opt := range []Options{{ReadOnly: true}, {Reserve: -1}} {
			r, err := Open(dir, opt)
			if err != nil {
				t.Fatalf("byte %d: %v", at, err)
			}
			if n := length(t, r.Changes(t.Context(), "", store.WantRecord)); n != 20 || r.Loss().Damage != nil {
				t.Errorf("byte %d: %d records, loss %+v", at, n, r.Loss())
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The log of a killed process is whole if it has revisits in runs, and texts that were not crawled. These keys have user
// metadata.
func TestLogWithMetadata(t *testing.T) {
	s := openTest(t, t.TempDir())
	fill(t, s, 20)
	var again []frontier.Item
	for c, err := range s.Changes(t.Context(), "", store.WantRecord) {
		if err != nil {
			t.Fatal(err)
		}
		it := store.Revisit(&c.Record, time.Now().Add(-time.Second), false)
		it.Place, _ = c.Cursor.Place()
		again = append(again, it)
	}
	if n, err := s.Requeue(t.Context(), again); n != 20 || err != nil || len(s.queue.runs.left) == 0 {
		t.Fatalf("queued %d in %d runs, %v", n, len(s.queue.runs.left), err)
	}
	commit(t, s, entry(30))
	left := filepath.Join(t.TempDir(), "killed")
	if !snapshot(t, s.dir, left) {
		t.Fatal("the store changed by itself")
	}
	for _, opt := range []Options{{ReadOnly: true}, {Reserve: -1}} {
		r, err := Open(left, opt)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := r.Counts(t.Context())
		if n := length(t, r.Changes(t.Context(), "", store.WantRecord)); n != 21 || counts.Pending != 20 || err != nil || r.Loss().Transactions > 0 || r.Loss().Damage != nil {
			t.Errorf("%d records, counts %+v, %v, loss %+v", n, counts, err, r.Loss())
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

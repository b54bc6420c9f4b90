package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"

	"skink/frontier"
	"skink/store"
	"skink/store/disk"
)

// wantError fails the test unless an error wraps want and names the folder.
func wantError(t *testing.T, dir string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want one that wraps %q", err, want)
	}
	if !strings.Contains(err.Error(), dir) {
		t.Errorf("error %q does not name the folder", err)
	}
}

func TestOpenMissing(t *testing.T) {
	empty := t.TempDir()
	for _, dir := range []string{filepath.Join(empty, "none"), empty} {
		_, err := Open(dir, Options{})
		wantError(t, dir, err, store.ErrNotExist)
	}
	if names := list(t, empty); len(names) > 0 {
		t.Errorf("Open without Create made %q", names)
	}
}

func TestOpenInUse(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	if err := s.SetMeta(t.Context(), "name", []byte("value")); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{})
	wantError(t, dir, err, store.ErrInUse)
	if v, err := s.Meta(t.Context(), "name"); err != nil || string(v) != "value" {
		t.Errorf("after the attempt, Meta = %q, %v", v, err)
	}
}

// Open refuses a folder with other files, and changes nothing in it.
func TestOpenNotAStore(t *testing.T) {
	foreign := func(dir string) {
		db, err := badgerdb.Open(badgerdb.DefaultOptions(dir).WithLogger(nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		make func(dir string)
		says string
	}{
		{"other files", func(dir string) { write(t, dir, "thesis.doc", "years of work") }, `"thesis.doc"`},
		{"tables only", func(dir string) { write(t, dir, "000001.sst", "") }, "no MANIFEST"},
		{"a MANIFEST of something else", func(dir string) { write(t, dir, "MANIFEST", "Main-Class: com.example.Main\n") }, "does not belong to a Badger database"},
		{"an empty MANIFEST", func(dir string) { write(t, dir, "MANIFEST", "") }, "does not belong to a Badger database"},
		{"another program's badger", foreign, "another program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(dir)
			before := contents(t, dir)
			_, err := Open(dir, Options{Create: true})
			wantError(t, dir, err, store.ErrCorrupt)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
			if after := contents(t, dir); !slices.Equal(before, after) {
				t.Errorf("the folder changed from %q to %q", before, after)
			}
		})
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "text")
	name := filepath.Join(dir, "file")
	_, err := Open(name, Options{Create: true})
	wantError(t, name, err, store.ErrCorrupt)
}

func TestOpenOtherVersion(t *testing.T) {
	for version, says := range map[byte]string{0: "older", layoutVersion + 1: "newer"} {
		dir := t.TempDir()
		openTest(t, dir).Close()
		edit(t, filepath.Join(dir, "MANIFEST"), func(b []byte) []byte { b[5] = version; return b })
		_, err := Open(dir, Options{})
		wantError(t, dir, err, store.ErrCorrupt)
		if !strings.Contains(err.Error(), says) {
			t.Errorf("version %d: error %q does not say %q", version, err, says)
		}
	}
}

// A folder in which a process was killed while it created a store does not count as a store.
func TestOpenUnborn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "LOCK", "1\n")
	write(t, dir, "MANIFEST-REWRITE", "Bd")
	openTest(t, dir)
}

// Opening a store with a damaged file never panics. It reports the damage, and never silently
// returns a store that lacks data.
func TestOpenDamaged(t *testing.T) {
	whole := t.TempDir()
	s := openTest(t, whole)
	fill(t, s, 300)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	garble := func(from, to int) func(b []byte) []byte {
		return func(b []byte) []byte {
			for i := range b[len(b)*from/100 : len(b)*to/100] {
				b[len(b)*from/100+i] ^= 0xA5
			}
			return b
		}
	}
	for _, tt := range []struct {
		name string
		file string
		edit func([]byte) []byte // nil means that the file is removed
	}{
		{"MANIFEST cut", "MANIFEST", func(b []byte) []byte { return b[:len(b)-3] }},
		{"MANIFEST without its last entry", "MANIFEST", func(b []byte) []byte { return b[:16] }},
		{"MANIFEST garbled", "MANIFEST", garble(50, 100)},
		{"MANIFEST with an entry of 4 GB", "MANIFEST", func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], 1<<32-1); return b }},
		{"table missing", "*.sst", nil},
		{"table empty", "*.sst", func([]byte) []byte { return nil }},
		{"table cut", "*.sst", half},
		{"table cut by a byte", "*.sst", func(b []byte) []byte { return b[:len(b)-1] }},
		{"table of zeros", "*.sst", func(b []byte) []byte { clear(b); return b }},
		{"table's end zero", "*.sst", func(b []byte) []byte { clear(b[len(b)-1000:]); return b }},
		{"table's index garbled", "*.sst", garble(97, 99)},
		{"table's foot garbled", "*.sst", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		{"table garbled", "*.sst", garble(0, 100)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			copyDir(t, whole, dir)
			names, err := filepath.Glob(filepath.Join(dir, tt.file))
			if err != nil || len(names) == 0 {
				t.Fatalf("no file %s: %v", tt.file, err)
			}
			if tt.edit != nil {
				edit(t, names[0], tt.edit)
			} else if err := os.Remove(names[0]); err != nil {
				t.Fatal(err)
			}
			before := listed(t, dir)
			r := openReader(t, dir)
			if r.Loss().Damage == nil {
				t.Error("the reader was not told")
			}
			if after := listed(t, dir); !slices.Equal(before, after) {
				t.Errorf("the reader changed the folder:\n%q\n%q", before, after)
			}
			t.Logf("%+v", r.Loss())
			s := continued(t, dir, r)
			for i := range 300 {
				commit(t, s, entry(i+1))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			r = openReader(t, s.dir)
			got := 0
			for _, err := range r.Changes(t.Context(), "", store.WantRecord) {
				if err != nil {
					t.Fatal(err)
				}
				got++
			}
			if got != 300 || r.Loss().Damage != nil {
				t.Errorf("%d records after all, loss %+v", got, r.Loss())
			}
		})
	}
}

// Values stay in the tables, so the value log has only a header.
func TestValueLogStaysEmpty(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	e := entry(1)
	e.Text = make([]byte, 3<<20)
	commit(t, s, e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.vlog"))
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Size() > 100 {
			t.Errorf("%s has %d bytes, %v", name, info.Size(), err)
		}
	}
}

func entry(n int) *store.Entry {
	url := fmt.Sprintf("https://example.com/%d", n)
	return &store.Entry{
		Record: store.Record{ID: frontier.ID(url), URL: url, Kind: store.Page, Judged: store.Judged{Verdict: "unique"}},
		State:  frontier.Fetched,
		Keys:   []uint64{uint64(n) << 40},
	}
}

func fill(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := range n {
		commit(t, s, entry(i+1))
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, name string, fn func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, fn(b), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// contents returns the files of a folder, by name.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, name := range list(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name, string(b))
	}
	return all
}

// copyDir copies the files of a folder as they are now. Badger's logs are sparse, and the holes
// stay holes in the copies.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o777); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Join(to, d.Name())
		if err := os.WriteFile(name, []byte(strings.TrimRight(string(b), "\x00")), 0o666); err != nil {
			return err
		}
		return os.Truncate(name, int64(len(b)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFull(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := openTest(t, dir)
	if _, err := s.Discover(ctx, []frontier.Item{{URL: "https://example.com/1"}}); err != nil {
		t.Fatal(err)
	}
	free := int64(100 << 20)
	s.space.Reserve = 0
	s.space.Ask = func(string) (int64, int64, error) { return free, 100 << 30, nil }

	_, err := s.Discover(ctx, []frontier.Item{{URL: "https://example.com/2"}})
	wantError(t, dir, err, store.ErrFull)
	wantError(t, dir, commitError(t, s, entry(1)), store.ErrFull)
	wantError(t, dir, s.SetMeta(ctx, "name", nil), store.ErrFull)
	checkCounts(t, s, frontier.Counts{Pending: 1}) // the second URL was not written

	// The crawl can still be ended in the regular way.
	g, err := s.Claim(ctx, "me", 1, time.Hour)
	if err != nil || len(g.Hosts) != 1 {
		t.Fatalf("Claim = %+v, %v", g, err)
	}
	c := g.Hosts[0].Claim
	if err := s.Release(ctx, c, frontier.Item{URL: "https://example.com/1"}); err != nil {
		t.Error(err)
	}
	if err := s.Return(ctx, c, frontier.Rest{Delay: time.Second}); err != nil {
		t.Error(err)
	}
	free = 10 << 30
	*s.space = disk.Space{Dir: dir, Ask: s.space.Ask}
	if err := commitError(t, s, entry(1)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// A store that has nearly as many files as the process may open accepts no more pages, because
// badger crashes or hangs when it cannot open a file.
func TestTooManyFiles(t *testing.T) {
	dir := rottenStore(t)
	open := func(most int64) (*Store, error) {
		return Open(dir, Options{Reserve: -1, maxFiles: disk.Limit{Files: most, Name: "open files", Raise: "ulimit -n "}})
	}
	if _, err := open(20); !errors.Is(err, disk.ErrFiles) || !strings.Contains(err.Error(), "ulimit -n 1024") {
		t.Errorf("opened with 20 files: %v", err)
	}
	page := rottenPage(rand.New(rand.NewPCG(1, 1)), rottenPages+1)
	s, err := open(100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), []*store.Entry{page}); !errors.Is(err, disk.ErrFiles) || !strings.Contains(err.Error(), "the limit on open files is 100") {
		t.Errorf("committed with 100 files: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = open(1000); err != nil {
		t.Fatal(err)
	}
	commit(t, s, page)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(readAll(t, dir)); n != rottenPages+1 {
		t.Errorf("%d pages, want %d", n, rottenPages+1)
	}
}

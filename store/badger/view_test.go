package badger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/frontier"
	"skink/store"
)

// listed returns the listing of a folder: names, sizes, times.
func listed(t *testing.T, dir string) (lines []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fs.FormatFileInfo(info))
	}
	return lines
}

func openReader(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A reader sees all data of a store that was closed, and of a store whose writer was killed. It
// changes nothing.
func TestReadOnly(t *testing.T) {
	ctx := t.Context()
	s := openTest(t, t.TempDir())
	fill(t, s, 200)
	if _, err := s.Discover(ctx, []frontier.Item{{URL: "https://example.com/pending"}}); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "killed")
	if !snapshot(t, s.dir, left) {
		t.Fatal("the store changed by itself")
	}
	write(t, left, "00009.mem", "") // a log that was created and has no content yet
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.dir, left} {
		before := listed(t, dir)
		one, two := openReader(t, dir), openReader(t, dir)
		if _, err := Open(dir, Options{Reserve: -1}); !errors.Is(err, store.ErrInUse) {
			t.Errorf("a writer beside readers: %v", err)
		}
		for _, r := range []*Store{one, two} {
			checkCounts(t, r, frontier.Counts{Pending: 1})
			got := 0
			for _, err := range r.Changes(ctx, "", store.WantRecord) {
				if err != nil {
					t.Fatal(err)
				}
				got++
			}
			if recordOf(t, r, 7) == nil {
				t.Error("page 7 has no record")
			}
			places, _ := placesUnder(t, r, 7<<40, 9)
			if got != 200 || !slices.Equal(places, []uint64{7}) {
				t.Errorf("%d records; leaders %v", got, places)
			}
			if err := r.SetMeta(ctx, "name", nil); !errors.Is(err, errReadOnly) {
				t.Errorf("SetMeta: %v", err)
			}
			if _, err := r.Discover(ctx, []frontier.Item{{URL: "https://example.com/new"}}); !errors.Is(err, errReadOnly) {
				t.Errorf("Discover: %v", err)
			}
		}
		if err := errors.Join(one.Close(), two.Close()); err != nil {
			t.Fatal(err)
		}
		if after := listed(t, dir); !slices.Equal(before, after) {
			t.Errorf("the folder changed:\n%s\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		openTest(t, dir).Close() // a writer may open the store after the readers
	}
}

// A store that is open for writing cannot be opened for reading.
func TestReadOnlyInUse(t *testing.T) {
	s := openTest(t, t.TempDir())
	_, err := Open(s.dir, Options{ReadOnly: true})
	wantError(t, s.dir, err, store.ErrInUse)
}

// Opening looks at the free space before it writes a byte. On a full disk, opening for writing
// fails. A reader puts its view into another folder, or gets an error that names the folder without
// space.
func TestOpenOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	fill(t, s, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	full := map[string]bool{dir: true, os.TempDir(): true}
	space := func(dir string) (int64, int64, error) {
		if full[dir] {
			return 1 << 20, 1 << 30, nil
		}
		return 1 << 30, 1 << 30, nil
	}
	before := listed(t, dir)
	_, err := Open(dir, Options{diskSpace: space})
	wantError(t, dir, err, store.ErrFull)
	_, err = Open(filepath.Join(dir, "new"), Options{diskSpace: func(string) (int64, int64, error) { return 0, 1 << 30, nil }, Create: true})
	wantError(t, dir, err, store.ErrFull)
	if err := os.Remove(filepath.Join(dir, "new")); err != nil { // the failed call created only an empty folder
		t.Error(err)
	}
	if _, err := os.Stat("/dev/shm"); err == nil {
		s, err := Open(dir, Options{ReadOnly: true, diskSpace: space})
		if err != nil {
			t.Fatal(err)
		}
		checkCounts(t, s, frontier.Counts{})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	full["/dev/shm"] = true
	_, err = Open(dir, Options{ReadOnly: true, diskSpace: space})
	wantError(t, dir, err, store.ErrFull)
	if !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%q does not say what to try", err)
	}
	if after := listed(t, dir); !slices.Equal(names(before), names(after)) {
		t.Errorf("the folder changed from %q to %q", before, after)
	}
}

// names returns the names of a listing.
func names(lines []string) (all []string) {
	for _, l := range lines {
		all = append(all, l[strings.LastIndexByte(l, ' ')+1:])
	}
	return all
}

// A reader removes the views of readers that were killed, and keeps those of live readers.
func TestStaleViews(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{Create: true})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	alive := openReader(t, dir).reading.dir
	dead := filepath.Join(tmp, viewPrefix+"dead")
	if err := os.Mkdir(dead, 0o777); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, view := range []string{alive, dead} {
		if err := os.Chtimes(view, old, old); err != nil {
			t.Fatal(err)
		}
	}
	openReader(t, dir)
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the view of a reader that lives: %v", err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the view of a killed reader is there: %v", err)
	}
}

package badger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skink/store"
	"skink/store/disk"
)

// TestCheckedTables damages a table as a failing disk does, without a change of its size and its
// modification time. The damage must be found, unless the table was checked before and nothing
// suggests that it has changed. [Check] must always find it.
func TestCheckedTables(t *testing.T) {
	if disk.Boot() == "" {
		t.Skip("this system does not say when it was started, so all tables are read")
	}
	for _, c := range []struct {
		name   string
		change func(list *checkedTables, table string) // is called before the store is opened again
		found  bool
	}{
		{"listed", func(*checkedTables, string) {}, false},
		{"started again", func(l *checkedTables, _ string) { l.Boot = "another" }, true},
		{"after 23 hours", age(23 * time.Hour), false},
		{"after 25 hours", age(25 * time.Hour), true},
		{"clock was set back", age(-time.Hour), true},
		{"touched", func(_ *checkedTables, table string) { touch(t, table, time.Now().Add(-time.Minute)) }, true},
		{"list without tables", func(l *checkedTables, _ string) { l.Tables = nil }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := rottenStore(t)
			for range 2 { // Close may write tables after the list, and the next opening lists them
				s, err := Open(dir, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
			if err != nil || len(tables) == 0 {
				t.Fatal("no tables:", err)
			}
			rot(t, tables[0])
			name := filepath.Join(dir, checkedName+disk.KeptExt)
			var list checkedTables
			b, err := os.ReadFile(name)
			if err != nil || json.Unmarshal(b, &list) != nil || len(list.Tables) < len(tables) {
				t.Fatalf("%v: the list has %d of %d tables", err, len(list.Tables), len(tables))
			}
			c.change(&list, tables[0])
			if b, err = json.Marshal(&list); err == nil {
				err = os.WriteFile(name, b, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}

			reader, err := Open(dir, Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if found := len(reader.Loss().Damage) > 0; found != c.found {
				t.Errorf("a reader finds the damage: %v, want %v", found, c.found)
			}
			if err := reader.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := Check(dir)
			if err != nil || len(f.Damage) != 1 {
				t.Errorf("Check finds %v, error %v; want one damaged table", f.Damage, err)
			}
			s, err := Open(dir, Options{})
			if err == nil {
				defer s.Close()
			}
			if found := errors.Is(err, store.ErrCorrupt); found != c.found {
				t.Errorf("a writer finds the damage: %v, %v, want %v", found, err, c.found)
			}
		})
	}
}

func age(d time.Duration) func(*checkedTables, string) {
	return func(l *checkedTables, _ string) {
		for id, table := range l.Tables {
			table.Checked = table.Checked.Add(-d)
			l.Tables[id] = table
		}
	}
}

// rot changes a byte of a file, and restores its modification time.
func rot(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, name, func(b []byte) []byte { b[len(b)/4] ^= 0x40; return b })
	touch(t, name, info.ModTime())
}

func touch(t *testing.T, name string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(name, when, when); err != nil {
		t.Fatal(err)
	}
}

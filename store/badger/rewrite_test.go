package badger

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"skink/store/disk"
)

// TestRewrite stops the replacement of a store's files at each step. Until the new store is complete, the
// old one is there, and then the next Open completes the replacement. Other files stay.
func TestRewrite(t *testing.T) {
	named := func(dir, name string) {
		t.Helper()
		s, err := Open(dir, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetMeta(t.Context(), "name", []byte(name)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(dir, from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, want string
		stop       func(dir string)
	}{
		{"the new store is not complete", "old", func(string) {}},
		{"the new store is complete", "new", func(dir string) { rename(dir, rewriteName, rewriteName+".ready") }},
		{"some old files are gone", "new", func(dir string) {
			rename(dir, rewriteName, rewriteName+".ready")
			_ = os.Remove(filepath.Join(dir, "MANIFEST"))
		}},
		{"the old files are gone", "new", func(dir string) {
			if _, err := removeFiles(dir, configName); err != nil {
				t.Fatal(err)
			}
			rename(dir, rewriteName, rewriteName+".moving")
		}},
		{"some new files are in place", "new", func(dir string) {
			if _, err := removeFiles(dir, configName); err != nil {
				t.Fatal(err)
			}
			rename(dir, rewriteName, rewriteName+".moving")
			rename(dir, rewriteName+".moving/MANIFEST", "MANIFEST")
		}},
		{"nothing stops it", "new", func(dir string) {
			if err := TakeRewritten(dir); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			named(dir, "old")
			for _, name := range []string{configName, "notes.txt"} {
				if err := disk.Replace(filepath.Join(dir, name), []byte("mine")); err != nil {
					t.Fatal(err)
				}
			}
			next, err := RewriteIn(dir)
			if err != nil {
				t.Fatal(err)
			}
			named(next, "new")
			test.stop(dir)
			if !IsStore(dir) {
				t.Error("the folder does not count as a store")
			}
			s, err := Open(dir, Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if name, err := s.Meta(t.Context(), "name"); err != nil || string(name) != test.want {
				t.Errorf("the store is %q, %v, want %q", name, err, test.want)
			}
			for _, name := range []string{configName, "notes.txt"} {
				if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != "mine" {
					t.Errorf("%s is lost: %v", name, err)
				}
			}
		})
	}
}

// After a power failure, any part of what was done to the folder since its last sync may be missing, also
// the first part. TestPowerCutOfRewrite tries many such parts of each step. The next Open must find the
// new store complete, and no file of the old one. Before the first sync, either store may be there.
func TestPowerCutOfRewrite(t *testing.T) {
	dir := t.TempDir()
	for _, store := range []struct{ in, name string }{{dir, "old"}, {filepath.Join(dir, rewriteName), "new"}} {
		s, err := Open(store.in, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.SetMeta(t.Context(), "name", []byte(store.name)), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "000077.sst", "planted")
	var states []map[string]string // content of each file at the syncs of the folder, by name
	record := func(synced string) error {
		files := map[string]string{}
		if synced != dir {
			return nil
		}
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var b []byte
				b, err = os.ReadFile(name)
				below, _ := filepath.Rel(dir, name)
				files[below] = string(b)
			}
			return err
		})
		states = append(states, files)
		return err
	}
	if err := record(dir); err != nil {
		t.Fatal(err)
	}
	syncFolder = record
	defer func() { syncFolder = disk.SyncFolder }()
	if err := TakeRewritten(dir); err != nil {
		t.Fatal(err)
	}
	syncFolder = disk.SyncFolder
	if err := record(dir); err != nil {
		t.Fatal(err)
	}
	if len(states) < 5 {
		t.Fatalf("the folder was synced %d times", len(states)-2)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range len(states) - 1 {
		for range 12 {
			state := maps.Clone(states[i])
			done := map[string]bool{} // a rename of a folder is one step
			for _, name := range slices.Sorted(maps.Keys(state)) {
				folder := filepath.Dir(name)
				if _, known := done[folder]; !known {
					done[folder] = rng.IntN(2) == 0
				}
				now, ok := states[i+1][name]
				for _, to := range []string{filepath.Base(name), rewriteName + ".ready/" + filepath.Base(name), rewriteName + ".moving/" + filepath.Base(name)} {
					if _, before := states[i][to]; !ok && !before && folder != "." && states[i+1][to] != "" {
						if folder != rewriteName+".moving" && !done[folder] || folder == rewriteName+".moving" && rng.IntN(2) == 0 {
							break
						}
						state[to] = state[name]
						delete(state, name)
					}
				}
				if folder == "." && (!ok || now != states[i][name]) && rng.IntN(2) == 0 {
					delete(state, name)
				}
			}
			cut := t.TempDir()
			for name, content := range state {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(cut, name)), 0o777); err != nil {
					t.Fatal(err)
				}
				write(t, cut, name, content)
			}
			s, err := Open(cut, Options{})
			if err != nil {
				t.Fatalf("after sync %d: %v", i, err)
			}
			name, err := s.Meta(t.Context(), "name")
			if string(name) != "new" && i > 0 || err != nil {
				t.Fatalf("after sync %d: the store is %q, %v", i, name, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(cut, "000077.sst")); err == nil && string(name) == "new" {
				t.Fatalf("after sync %d: a file of the old store is left", i)
			}
		}
	}
}

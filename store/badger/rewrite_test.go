package badger

import (
	"os"
	"path/filepath"
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

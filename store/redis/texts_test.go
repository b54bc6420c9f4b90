package redis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skink/store"
	"skink/store/storetest"
)

// openWithTexts opens a store that keeps its texts in a folder.
func openWithTexts(t *testing.T, servers, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), parse(t, "redis://"+servers+"/"+newName()), Options{Create: true, Texts: dir})
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

func TestTextsInAFolder(t *testing.T) {
	for _, e := range engines[1:2] {
		t.Run(e.name, func(t *testing.T) {
			servers := e.at(t)
			storetest.RunReader(t, func(t *testing.T) store.Store { return openWithTexts(t, servers, t.TempDir()) })
		})
	}
}

// All who open a store find its texts, and none may believe that they are elsewhere.
func TestTextsAreWhereTheyWereAtBirth(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		dir := t.TempDir()
		s := openWithTexts(t, servers, dir)
		commitJudged(t, s, pageOf("https://example.com/", 1))
		files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
		if err != nil || len(files) != 1 {
			t.Errorf("the folder has %v, %v; want one text", files, err)
		}
		other := openNamed(t, servers, s.address.Name)
		for c, err := range other.Changes(t.Context(), "", store.WantText) {
			if err != nil || !c.Kept || len(c.Text) == 0 {
				t.Errorf("a reader sees %d bytes of text, %v", len(c.Text), err)
			}
		}
		wantRefused(t, s.address, Options{Texts: t.TempDir()}, "all workers name one folder")
		without := openNew(t, servers)
		wantRefused(t, without.address, Options{Texts: dir}, "on its servers")
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for _, err := range other.Changes(t.Context(), "", store.WantText) {
			if err == nil || !strings.Contains(err.Error(), "folder that all share") {
				t.Errorf("without the folder the error is %v", err)
			}
		}
	})
}

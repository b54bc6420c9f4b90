package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// When a value is cached, the unfinished files that killed processes left under its name are
// removed. Other files stay, even those under a name that begins with the same letters.
func TestKeepRemovesHalves(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"alike.ABC.kept.new", "alike-whole.ABC.kept.new", "alike-whole.kept", "MANIFEST"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Cache(dir).Keep(t.Context(), "alike", []byte("value")); err != nil {
		t.Fatal(err)
	}
	got, err := Cache(dir).Kept(t.Context(), "alike")
	if string(got) != "value" || err != nil {
		t.Errorf("Kept = %q, %v", got, err)
	}
	want := []string{"MANIFEST", "alike-whole.ABC.kept.new", "alike-whole.kept", "alike.kept"}
	if names := namesIn(t, dir); !slices.Equal(names, want) {
		t.Errorf("the folder has %v, want %v", names, want)
	}
}

// If several values are cached at once under a name, Kept returns one of them, complete.
func TestKeepAtOnce(t *testing.T) {
	dir := t.TempDir()
	value := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, 1<<16) }
	if err := Cache(dir).Keep(t.Context(), "alike", value(0)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for range 50 {
				_ = Cache(dir).Keep(t.Context(), "alike", value(n)) // another call may have removed the temporary file
				if got, err := Cache(dir).Kept(t.Context(), "alike"); err != nil || len(got) == 0 || !bytes.Equal(got, value(int(got[0]))) {
					t.Errorf("%d bytes were kept, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
	if names := namesIn(t, dir); !slices.Equal(names, []string{"alike.kept"}) {
		t.Errorf("the folder has %v", names)
	}
}

func TestKeepInAFolderThatIsNot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if got, err := Cache(dir).Kept(t.Context(), "alike"); got != nil || err != nil {
		t.Errorf("Kept = %q, %v", got, err)
	}
	if err := Cache(dir).Keep(t.Context(), "alike", []byte("value")); err == nil {
		t.Error("a value was kept in a folder that is not there")
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestUse checks that zeros at the end of a file do not count, and that zeros before other bytes
// do.
func TestUse(t *testing.T) {
	dir := t.TempDir()
	if got := Use(dir); got != 0 {
		t.Errorf("an empty folder uses %d bytes", got)
	}
	reserved := make([]byte, 5<<20)
	reserved[100<<10] = 1
	for name, b := range map[string][]byte{"reserved": reserved, "plain": append(make([]byte, 50<<10), 1), "empty": nil, "zeros": make([]byte, 3<<20)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := Use(dir), int64(150<<10+2); got != want {
		t.Errorf("%d bytes are used, want %d", got, want)
	}
}

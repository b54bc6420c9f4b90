package output

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A temporary file can be read after its name was removed. Nothing of it remains after done was
// called.
func TestTemporary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	f, done, err := Temporary("skink-test-")
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); runtime.GOOS == "linux" && len(names) > 0 {
		t.Errorf("a killed process would leave %q", names)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(io.NewSectionReader(f, 0, 10)); string(b) != "text" || err != nil {
		t.Errorf("it holds %q, %v", b, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("left over: %v, %v", names, err)
	}
}

package output

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"skink/base/lock"
)

// A temporary file that a killed run left is removed by the next run that writes the same output.
// One that is being written, or that belongs to another program, stays.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	make := func(name string, at time.Time) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stale := make(".out.jsonl.skink-1", old)
	held := make(".out.jsonl.skink-2", old)
	kept := []string{held, make(".out.jsonl.skink-3", time.Now()), make(".other.jsonl.skink-4", old), make(".out.jsonl.bak", old)}
	release, ok, err := lock.Try(held)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer release()
	out := filepath.Join(dir, "out.jsonl")
	if err := replace(out, 0o644, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Errorf("%s is still there", stale)
	}
	for _, path := range append(kept, out) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

package lock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Old files and folders that no process has locked are removed, and no others.
func TestRemoveStale(t *testing.T) {
	if !hasLocks {
		t.Skip("this system has no locks")
	}
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, tt := range []struct {
		name                 string
		folder, fresh, inUse bool
		kept                 bool
	}{
		{name: "mine-file"},
		{name: "mine-folder", folder: true},
		{name: "mine-fresh-file", fresh: true, kept: true},
		{name: "mine-fresh-folder", folder: true, fresh: true, kept: true},
		{name: "mine-used-file", inUse: true, kept: true},
		{name: "mine-used-folder", folder: true, inUse: true, kept: true},
		{name: "other-file", kept: true},
		{name: "other-folder", folder: true, kept: true},
	} {
		path := filepath.Join(dir, tt.name)
		var err error
		if tt.folder {
			if err = os.Mkdir(path, 0o777); err == nil {
				err = os.WriteFile(filepath.Join(path, "a"), nil, 0o666)
			}
		} else {
			err = os.WriteFile(path, nil, 0o666)
		}
		if err == nil && !tt.fresh {
			err = os.Chtimes(path, old, old)
		}
		if err != nil {
			t.Fatal(err)
		}
		if tt.inUse {
			release, ok, err := Try(path)
			if err != nil || !ok {
				t.Fatalf("lock %s: %t, %v", path, ok, err)
			}
			defer release()
		}
		RemoveStale(dir, "mine-")
		if _, err := os.Stat(path); (err == nil) != tt.kept {
			t.Errorf("%s: %v, want it kept: %t", tt.name, err, tt.kept)
		}
	}
}

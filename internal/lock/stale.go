// Package lock locks files and folders against other processes, and removes those that killed
// processes have left behind.
package lock

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// RemoveStale keeps files and folders that are younger than staleAfter.
const staleAfter = 10 * time.Second

// RemoveStale removes the files and folders in dir that killed processes left behind and whose
// names begin with prefix. It keeps a file or folder that is locked; see [Try]. It also keeps one
// that is younger than ten seconds, because its process may not have locked it yet.
func RemoveStale(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // an unreadable folder is reported when the caller writes to it
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		remove := os.Remove // on systems without locks, os.Remove fails for a file that is in use
		switch {
		case info.IsDir() && hasLocks:
			remove = os.RemoveAll
		case !info.Mode().IsRegular():
			continue
		}
		if release, free, err := Try(path); err == nil && free {
			_ = remove(path)
			release()
		}
	}
}

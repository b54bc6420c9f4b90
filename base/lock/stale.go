// Package lock locks files and folders against other processes, and removes files and folders that
// killed processes have left behind.
package lock

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const staleAfter = 10 * time.Second

// RemoveStale removes the files and folders in dir that killed processes left behind and whose
// names begin with prefix. It keeps locked files and folders; see [Try]. It also keeps those that
// are younger than ten seconds, because their process may not have locked them yet.
func RemoveStale(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the caller's next write reports an unreadable folder
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
		remove := os.Remove // on systems without locks, os.Remove fails for files in use
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

package disk

import (
	"os"
	"path/filepath"
)

// Use returns the number of bytes on disk of the files in a folder.
func Use(dir string) (total int64) {
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += allocated(info)
			}
		}
		return nil // a removed file takes no space
	})
	return total
}

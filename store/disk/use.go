package disk

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Use returns the number of bytes that the files in a folder and its subfolders occupy on disk. It
// does not count zeros at the end of a file, because stores preallocate that space.
func Use(dir string) (total int64) {
	for _, bytes := range UseByExt(dir) {
		total += bytes
	}
	return total
}

// UseByExt returns the same for the files with each extension, without its dot.
func UseByExt(dir string) map[string]int64 {
	total := map[string]int64{}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total[strings.TrimPrefix(filepath.Ext(path), ".")] += used(path, info)
			}
		}
		return nil // ignore errors, for example when a file has been removed in the meantime
	})
	return total
}

func used(path string, info fs.FileInfo) int64 {
	size := allocated(info)
	f, err := os.Open(path)
	if err != nil {
		return size
	}
	defer f.Close()
	end := info.Size()
	buf := make([]byte, 64<<10)
	for size := int64(4096); end > 0; size = int64(len(buf)) { // most files end without zeros
		part := buf[:min(size, end)]
		if n, err := f.ReadAt(part, end-int64(len(part))); n < len(part) && err != nil {
			return size
		}
		kept := len(bytes.TrimRight(part, "\x00"))
		if end -= int64(len(part) - kept); kept > 0 {
			break
		}
	}
	return min(size, end)
}

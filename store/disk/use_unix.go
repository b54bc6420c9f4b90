//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// allocated returns the number of bytes that a file occupies on disk. It may differ from the file's
// length, because stores map sparse files.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

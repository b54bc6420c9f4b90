//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// allocated returns the bytes that a file takes on disk. The length would be wrong: stores map
// sparse files.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

//go:build unix

package cli

import (
	"io/fs"
	"syscall"
)

// allocated is how many bytes of the disk a file takes. The length would be wrong: stores map files
// that are mostly holes.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

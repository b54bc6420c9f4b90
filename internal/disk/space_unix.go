//go:build linux || darwin || freebsd

package disk

import "golang.org/x/sys/unix"

// Free returns the number of bytes of dir's file system that this process may still use, and the
// size of the file system in bytes.
func Free(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	size := int64(st.Bsize)
	return int64(st.Bavail) * size, int64(st.Blocks) * size, nil
}

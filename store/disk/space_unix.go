//go:build linux || darwin || freebsd

package disk

import "golang.org/x/sys/unix"

// Free returns the number of bytes that this process may still use on the file system of dir, and
// the total size of that file system.
func Free(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	size := int64(st.Bsize)
	return int64(st.Bavail) * size, int64(st.Blocks) * size, nil
}

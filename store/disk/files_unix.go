//go:build linux || darwin || freebsd

package disk

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MaxFiles returns the lower of two limits: the number of files that this process may have open,
// and, on Linux, the number of its memory maps.
func MaxFiles() Limit {
	limit := Limit{FileLimit(), "open files", "ulimit -n "}
	b, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return limit
	}
	maps, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	maps -= otherMaps
	if err == nil && maps > 0 && (limit.Files == 0 || maps < limit.Files) {
		return Limit{maps, "memory maps", "sysctl vm.max_map_count="}
	}
	return limit
}

// otherMaps is an upper bound on the number of memory maps that are not tables or segments: the
// program, its libraries, stacks of threads, and the heap.
const otherMaps = 2048

// FileLimit returns the maximum number of files that this process may have open at once, or 0 if it
// is unknown.
func FileLimit() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<40 {
		return 0
	}
	return int64(limit.Cur)
}

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

//go:build linux || darwin || freebsd

package disk

import "golang.org/x/sys/unix"

// FileLimit returns the maximum number of files that this process may have open at once, or 0 if it
// is unknown.
func FileLimit() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<40 {
		return 0
	}
	return int64(limit.Cur)
}

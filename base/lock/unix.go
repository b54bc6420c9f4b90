//go:build linux || darwin || freebsd

package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const hasLocks = true

// Try takes an exclusive lock on the folder or file dir, without waiting. It uses flock, as Badger
// does when it opens a folder, so no other process can open a store there until the lock is
// released. ok is false if another process has the lock.
func Try(dir string) (release func(), ok bool, err error) {
	return lockDir(dir, unix.LOCK_EX)
}

// TryShared takes a shared lock on the folder or file dir, without waiting. Any number of processes
// may hold shared locks on it at the same time, but then none can take the exclusive lock of [Try].
// ok is false if another process has the exclusive lock.
func TryShared(dir string) (release func(), ok bool, err error) {
	return lockDir(dir, unix.LOCK_SH)
}

func lockDir(dir string, how int) (release func(), ok bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, false, nil
	case err != nil:
		f.Close()
		return nil, false, err
	}
	// Closing the file alone would not release the lock while a child process is being started,
	// because the child shares the open file until it runs its own program.
	return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN); f.Close() }, true, nil
}

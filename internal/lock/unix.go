//go:build linux || darwin || freebsd

package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const hasLocks = true

// Try takes the lock that badger takes when it opens dir. While it is held, no other process
// changes the files. ok is false if another process has the lock.
func Try(dir string) (release func(), ok bool, err error) {
	return lockDir(dir, unix.LOCK_EX)
}

// TryShared takes the lock of dir for reading. Several readers may hold it at once, but while they
// do, nobody can take it with [Try].
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
	// Closing the file alone could leave the lock to a child process that is just being started,
	// because the child has a copy of the open file until it runs its own program.
	return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN); f.Close() }, true, nil
}

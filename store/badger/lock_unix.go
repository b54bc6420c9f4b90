//go:build linux || darwin || freebsd

package badger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock that badger takes when it opens dir, so that its files
// can be looked at while nobody changes them. False: someone else has it.
func tryLock(dir string) (release func(), ok bool, err error) {
	return lockDir(dir, unix.LOCK_EX)
}

// tryLockShared takes the lock that any number of readers may have, and no writer.
func tryLockShared(dir string) (release func(), ok bool, err error) {
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
	// Closing alone would leave the lock to a child that is being started just now:
	// it has a copy of the file until it runs its own program.
	return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN); f.Close() }, true, nil
}

package corpus

import (
	"errors"
	"io/fs"
	"os"
)

// Temporary creates a file for data that does not fit in memory. Call done to close and remove the
// file. On systems that can remove open files, it is removed at once, so that a killed process
// leaves nothing behind.
func Temporary(prefix string) (f *os.File, done func() error, err error) {
	if f, err = os.CreateTemp("", prefix); err != nil {
		return nil, nil, err
	}
	_ = os.Remove(f.Name())
	return f, func() error {
		err := f.Close()
		if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		return err
	}, nil
}

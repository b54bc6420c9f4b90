package disk

import (
	"errors"
	"io/fs"
)

// Reason returns the cause of an error from a file operation, without the operation and the file
// name.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

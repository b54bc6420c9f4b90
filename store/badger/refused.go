package badger

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"skink/store"
)

// refusals are what a system says when it does not let us at a file. They say
// nothing about what is in the file.
var refusals = []syscall.Errno{
	syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC,
	syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// damage says that a store is damaged, because of what went wrong when its files
// were read or opened. An error that the system gave for another reason it leaves
// as it is: a store that may not be written to is whole.
func damage(err error) error {
	errno := refusal(err)
	switch {
	case errno != 0 && errors.Is(err, errno):
		return err
	case errno != 0:
		return fmt.Errorf("%s%w", strings.TrimSuffix(said(err), errno.Error()), errno)
	case strings.HasPrefix(err.Error(), "Cannot write pid file"): // LOCK, in which nothing is kept
		return errors.New(said(err))
	}
	return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
}

// said is what the system said. Badger passes on the text of an error, and not the
// error: "what it wanted err: what the system said".
func said(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, " err: "); i >= 0 {
		return text[i+len(" err: "):]
	}
	return text
}

// refusal is the refusal that an error ends with, 0 if it is none.
func refusal(err error) syscall.Errno {
	for _, errno := range refusals {
		if errors.Is(err, errno) || strings.HasSuffix(err.Error(), ": "+errno.Error()) {
			return errno
		}
	}
	return 0
}

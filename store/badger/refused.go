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
	if errno := refusal(err); errno != 0 {
		if errors.Is(err, errno) {
			return err
		}
		// Badger passes the text of an error on, and not the error. The text is
		// "what badger wanted err: what the system said".
		text := err.Error()
		text = text[strings.LastIndex(text, " err: ")+1:]
		text = strings.TrimSuffix(strings.TrimPrefix(text, "err: "), errno.Error())
		return fmt.Errorf("%s%w", text, errno)
	}
	return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
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

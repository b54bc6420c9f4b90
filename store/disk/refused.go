package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"skink/store"
)

// refusals are the error numbers with which the system refuses an operation on a file. They do not
// mean that the file is damaged.
var refusals = []syscall.Errno{
	syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC,
	syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// Damage turns an error from reading or opening a store's files into [store.ErrCorrupt], unless
// the system refused the operation, for example because the disk is full.
func Damage(err error) error {
	errno := refusal(err)
	switch {
	case errno != 0 && errors.Is(err, errno):
		return err
	case errno != 0:
		return fmt.Errorf("%s%w", strings.TrimSuffix(said(err), errno.Error()), errno)
	case strings.HasPrefix(err.Error(), "Cannot write pid file"): // LOCK contains no data, so the store is not damaged
		return errors.New(said(err))
	}
	return fmt.Errorf("%w: %v", store.ErrCorrupt, err)
}

// said returns the text of the system's error. Badger does not wrap that error but includes its
// text: "TEXT OF BADGER err: TEXT OF THE SYSTEM". If Badger joined two errors, its own text is the
// second line.
func said(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, " err: "); i >= 0 {
		text = text[i+len(" err: "):]
	}
	if first, rest, ok := strings.Cut(text, "\n"); ok {
		text = rest + ": " + first
	}
	return text
}

// Refused reports whether an error is a refusal by the system.
func Refused(err error) bool { return refusal(err) != 0 }

// Full reports whether the chain or the text of err contains an error for a full disk or an
// exhausted quota.
func Full(err error) bool {
	errno := refusal(err)
	return errno == syscall.ENOSPC || errno == syscall.EDQUOT
}

// refusal returns the refusal in the chain or the text of err, or 0 if there is none.
func refusal(err error) syscall.Errno {
	for _, errno := range refusals {
		if errors.Is(err, errno) {
			return errno
		}
		for line := range strings.Lines(err.Error()) {
			if strings.HasSuffix(strings.TrimSuffix(line, "\n"), ": "+errno.Error()) {
				return errno
			}
		}
	}
	return 0
}

// Reason returns the cause of an error from a file operation, without the operation and the file
// name.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

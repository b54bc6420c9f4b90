package disk

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Resident returns how many bytes of mapped files are resident in the process. The second result is
// false if that is not known.
func Resident() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm") // in pages: size, resident, resident of files, ...
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// GiveBack removes the pages of a mapped file from the process. That loses no data, because badger
// maps its files as shared.
func GiveBack(pages []byte) {
	if len(pages) > 0 {
		_ = unix.Madvise(pages, unix.MADV_DONTNEED) // it is advice only, so an error costs nothing
	}
}

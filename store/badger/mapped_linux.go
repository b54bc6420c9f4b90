package badger

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// residentFiles is how many bytes of mapped files are resident in the process, and whether
// the system says so.
func residentFiles() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm") // pages: size, resident, those of files, ...
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

// giveBack takes the pages of a mapped file out of the process. Of a file that is mapped to
// be shared, as badger maps them, nothing is lost by it.
func giveBack(pages []byte) {
	if len(pages) > 0 {
		_ = unix.Madvise(pages, unix.MADV_DONTNEED) // advice
	}
}

package disk

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Resident returns how many bytes of mapped files are resident in the memory of the process. The
// second result is false if that is unknown.
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

// GiveBack releases the memory of some pages of a mapped file. No data is lost, because Badger maps
// its files as shared: the system writes changed pages to the file.
func GiveBack(pages []byte) {
	if len(pages) > 0 {
		_ = unix.Madvise(pages, unix.MADV_DONTNEED) // only advice, so a failure does no harm
	}
}

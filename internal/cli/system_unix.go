//go:build unix

package cli

import (
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals by which a person asks to see the hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

// ignoreBackground keeps a crawl going that was put in the background, where reading from its
// terminal would stop it. The read then fails, and Enter is heard no more.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }

// allocated is how many bytes of the disk a file takes. The length would be wrong: stores map files
// that are mostly holes.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

//go:build unix

package cli

import (
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals by which the user asks for the hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

// ignoreBackground keeps a crawl running in the background, where reading from its terminal would
// stop it. The read then fails, and Enter has no effect any more.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }

// allocated returns the bytes that a file takes on disk. The length would be wrong: stores map
// sparse files.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

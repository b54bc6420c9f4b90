//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals that make a running crawl print its hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

// ignoreBackground ignores SIGTTIN, which stops a background process that reads from its terminal.
// A crawl waits for Enter in such a read, so it would stop. With the signal ignored, the read fails
// instead, and Enter no longer has any effect.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }

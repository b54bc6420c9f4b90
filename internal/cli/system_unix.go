//go:build unix

package cli

import (
	"os"
	"syscall"
)

// askSignals are the signals that make a running crawl print its hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

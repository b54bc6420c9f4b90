//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals by which the user asks for the hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

// ignoreBackground keeps a crawl running in the background, where reading from its terminal would
// stop it. The read then fails, and Enter has no effect any more.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }

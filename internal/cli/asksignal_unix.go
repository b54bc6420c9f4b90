//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals by which a person asks to see the hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

// ignoreBackground keeps a crawl going that was put in the background, where reading from its
// terminal would stop it. The read then fails, and Enter is heard no more.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }

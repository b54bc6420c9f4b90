//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals by which the hosts are asked for.
var askSignals = []os.Signal{syscall.SIGUSR1}

// ignoreBackground keeps a crawl that was put in the background going: to read from
// its terminal would stop it. The read then fails, and Enter is heard no more.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// askSignals are the signals that make a running crawl print its hosts.
var askSignals = []os.Signal{syscall.SIGUSR1}

// hangsUp reports whether a crawl reads its configuration again at SIGHUP. A process with a terminal gets this signal
// when the terminal is closed, and then ends.
func hangsUp() bool {
	terminal, err := os.Open("/dev/tty")
	if err == nil {
		terminal.Close()
	}
	return err != nil && !signal.Ignored(syscall.SIGHUP)
}

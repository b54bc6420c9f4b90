//go:build !unix

package cli

import (
	"os"
)

// askSignals are the signals for printing the hosts of a running crawl. This system has no suitable
// signal, so the list contains one that never arrives. It is not empty, because signal.Notify
// without a list catches all signals.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func ignoreBackground() {}

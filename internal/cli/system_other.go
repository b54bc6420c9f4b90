//go:build !unix

package cli

import (
	"os"
)

// askSignals are the signals by which the user asks a running crawl to print its hosts. This system
// has no suitable signal, so the list has one that never arrives. The list is not empty, because
// signal.Notify without a list catches all signals.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func ignoreBackground() {}

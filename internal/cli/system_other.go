//go:build !unix

package cli

import (
	"os"
)

// askSignals are the signals by which the user asks for the hosts. This system has no suitable
// signal. The list must not be empty: signal.Notify without signals relays all of them.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func ignoreBackground() {}

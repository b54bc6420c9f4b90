//go:build !unix

package cli

import "os"

// askSignals are the signals by which the hosts are asked for: elsewhere there is
// none to spare, and a channel that is told of none is told of nothing.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func ignoreBackground() {}

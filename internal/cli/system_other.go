//go:build !unix

package cli

import (
	"io/fs"
	"os"
)

// askSignals are the signals by which a person asks to see the hosts. This system has none to
// spare. The list must not be empty: signal.Notify without signals relays all of them.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func ignoreBackground() {}

// allocated is the length of a file: this system does not say how much of the disk it takes.
func allocated(info fs.FileInfo) int64 { return info.Size() }

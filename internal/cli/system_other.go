//go:build !unix

package cli

import (
	"io/fs"
	"os"
)

// askSignals are the signals by which the user asks for the hosts. This system has no suitable
// signal. The list must not be empty: signal.Notify without signals relays all of them.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func ignoreBackground() {}

// allocated returns the length of a file: this system does not provide its size on disk.
func allocated(info fs.FileInfo) int64 { return info.Size() }

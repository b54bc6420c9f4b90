//go:build !unix

package cli

import (
	"os"
)

// askSignals are the signals that make a running crawl print its hosts. This system has no suitable
// signal, so the list contains one that never arrives. An empty list would make signal.Notify catch
// all signals.
var askSignals = []os.Signal{noSignal{}}

type noSignal struct{}

func (noSignal) String() string { return "none" }
func (noSignal) Signal()        {}

func hangsUp() bool { return false }

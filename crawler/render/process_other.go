//go:build !(linux || darwin || freebsd)

package render

import (
	"os"
	"os/exec"
)

// alone does nothing. A browser ends by itself when its pipe is closed.
func alone(*exec.Cmd) {}

// kill kills only the browser itself. Its children end with it.
func kill(p *os.Process) { _ = p.Kill() }

// bound does nothing. On this system, only the heap of scripts is limited, by a browser flag.
func bound(int, int64) {}

// resident returns 0, because the memory use of a browser is unknown on this system.
func (p *process) resident() int64 { return 0 }

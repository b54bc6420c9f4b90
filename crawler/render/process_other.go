//go:build !(linux || darwin || freebsd)

package render

import (
	"os"
	"os/exec"
)

// alone does nothing: a browser ends when its pipe does.
func alone(*exec.Cmd) {}

// kill kills a browser. Its children end with it.
func kill(p *os.Process) { _ = p.Kill() }

// bound does nothing: the heap of scripts alone is bounded here.
func bound(int, int64) {}

// resident returns 0: it is not known here.
func (p *process) resident() int64 { return 0 }

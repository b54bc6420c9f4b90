//go:build darwin || freebsd

package render

import (
	"os"
	"os/exec"
	"syscall"
)

// alone makes a browser start in its own process group. If this process ends, the pipe to the
// browser is closed, and the browser ends too.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills the whole process group of a browser.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// bound does nothing. On this system, only the heap of scripts is limited, by a browser flag.
func bound(int, int64) {}

// resident returns 0, because the memory use of a browser is unknown on this system.
func (p *process) resident() int64 { return 0 }

//go:build darwin || freebsd

package render

import (
	"os"
	"os/exec"
	"syscall"
)

// alone gives a browser a process group of its own. It ends with this process because its pipe does.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills a browser and its children.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// bound does nothing: the heap of scripts alone is bounded here.
func bound(int, int64) {}

// resident returns 0: it is not known here.
func (p *process) resident() int64 { return 0 }

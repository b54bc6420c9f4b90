package redistest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// start starts a program that the system ends when this process dies, however it does.
// The system means the thread, so a thread stays for it.
func start(cmd *exec.Cmd, ended chan<- struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a child that saves would still write to its folder
			close(ended)
		}
	}()
	return <-started
}

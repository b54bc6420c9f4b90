package postgrestest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// start starts a server that the system stops when this process dies. The system watches the thread
// that started the server, so start keeps that thread alive.
func start(cmd *exec.Cmd, ended chan<- struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT // PostgreSQL's signal for an immediate shutdown
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(ended)
		}
	}()
	return <-started
}

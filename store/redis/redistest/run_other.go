//go:build !linux

package redistest

import "os/exec"

// start starts a program.
func start(cmd *exec.Cmd, ended chan<- struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		cmd.Wait()
		close(ended)
	}()
	return nil
}

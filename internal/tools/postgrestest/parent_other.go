//go:build !linux

package postgrestest

import "os/exec"

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

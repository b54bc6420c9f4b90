//go:build !linux

package redistest

import "os/exec"

// start starts a program.
func start(cmd *exec.Cmd, ended chan<- error) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { ended <- cmd.Wait() }()
	return nil
}

//go:build unix

package postgrestest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync"
	"syscall"
)

// credential returns the user account for the servers if the tests run as root, and nil otherwise.
var credential = sync.OnceValues(func() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("there is no user postgres or nobody")
})

// give changes the owner of a folder to the account that the servers run as.
func give(dir string) error {
	c, err := credential()
	if err != nil || c == nil {
		return err
	}
	return os.Chown(dir, int(c.Uid), int(c.Gid))
}

func unprivileged(cmd *exec.Cmd) {
	c, _ := credential()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c}
}

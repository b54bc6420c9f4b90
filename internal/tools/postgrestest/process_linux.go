package postgrestest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPU returns the processor time that the server's processes have used, with a resolution of 10 ms.
// It does not count zombies, which have ended but have not been waited for.
func (s *Server) CPU() (total time.Duration) {
	for pid, fields := range s.processes() {
		times := fields[11:13] // utime and stime of the process
		if pid == s.cmd.Process.Pid {
			times = fields[11:15] // utime and stime, then those of the children that have ended
		}
		for _, t := range times {
			n, _ := strconv.Atoi(t)
			total += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return total
}

// processes returns the main process of the server and its children by process id. The values are
// the fields of /proc/PID/stat, starting with the state.
func (s *Server) processes() map[int][]string {
	found := map[int][]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	own := strconv.Itoa(s.cmd.Process.Pid)
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && (pid == s.cmd.Process.Pid || fields[1] == own) {
			found[pid] = fields
		}
	}
	return found
}

// killAll kills all of the server's processes at once, like a power failure. If only the main process
// died, a child waiting for a standby would stop waiting, and other processes could read its commit
// before exiting.
func (s *Server) killAll() {
	s.cmd.Process.Signal(syscall.SIGSTOP) // a stopped process cannot start another child
	children := s.processes()
	delete(children, s.cmd.Process.Pid)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for pid := range children {
			syscall.Kill(pid, sig)
		}
	}
	s.cmd.Process.Kill()
}

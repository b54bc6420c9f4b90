package render

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// alone gives a browser a process group of its own, and lets it end with this process.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill kills a browser and its children.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// bound limits the memory of a browser's process, and of each of its children, which inherit the
// limit.
func bound(pid int, memory int64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}, nil)
}

// resident returns the bytes of memory that a browser and its children hold, without what they share.
func (p *process) resident() (bytes int64) {
	for _, pid := range group(p.cmd.Process.Pid) {
		bytes += pid.resident
	}
	return bytes
}

// A member is a process of a group.
type member struct {
	pid      int
	resident int64 // bytes, without what it shares with others
}

// group returns the processes of a group.
func group(leader int) (all []member) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // behind the name, which may have blanks
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(leader) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		all = append(all, member{pid, private(filepath.Join(filepath.Dir(file), "statm"))})
	}
	return all
}

// private returns the bytes that a process does not share, by its file of /proc.
func private(statm string) int64 {
	text, err := os.ReadFile(statm)
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}

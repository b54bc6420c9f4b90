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

// alone makes a browser start in its own process group, and end when this process ends.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill kills the whole process group of a browser.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// bound limits the memory of a browser process. Each of its children inherits the limit.
func bound(pid int, memory int64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}, nil)
}

// resident returns the memory use of a browser and its children in bytes, without shared memory.
func (p *process) resident() (bytes int64) {
	for _, pid := range group(p.cmd.Process.Pid) {
		bytes += pid.resident
	}
	return bytes
}

type member struct {
	pid      int
	resident int64 // bytes not shared with other processes
}

func group(leader int) (all []member) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the name comes before the last ")", and may contain spaces
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(leader) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		all = append(all, member{pid, private(filepath.Join(filepath.Dir(file), "statm"))})
	}
	return all
}

// private returns the size of a process's unshared memory in bytes, read from its statm file in
// /proc.
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

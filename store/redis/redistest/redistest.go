// Package redistest starts the servers that tests of the Redis protocol talk to: a
// redis-server, or a cluster of six, on loopback and in memory, which end with the tests.
package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Server is a running redis-server.
type Server struct {
	Addr string // HOST:PORT
	Dir  string // in which it works

	args []string
	cmd  *exec.Cmd
}

// Start starts a server with settings beside those of a test, as on its command line:
// "--maxmemory", "10mb". It is stopped at the end of the test, which is skipped where
// there is no redis-server.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	need(tb)
	s, err := New(tb.TempDir(), settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Kill)
	return s
}

// need skips a test where there is no redis-server.
func need(tb testing.TB) {
	tb.Helper()
	for _, program := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Skipf("no %s in PATH: install Debian's redis-server and redis-tools to run this test", program)
		}
	}
}

// New starts a server that works in a folder. Whoever calls it stops it.
func New(dir string, settings ...string) (*Server, error) {
	var last error
	for range 5 { // somebody else may take the port first
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		args := append([]string{
			"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
			"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", filepath.Join(dir, "log"),
		}, settings...)
		s := &Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), Dir: dir, args: args}
		if last = s.Run(); last == nil {
			return s, nil
		}
	}
	return nil, last
}

// Run starts the server again after it was stopped, at the same address.
func (s *Server) Run() error {
	s.cmd = exec.Command("redis-server", s.args...)
	ended := make(chan error, 1)
	if err := start(s.cmd, ended); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		answer, err := s.CLI("ping")
		if err == nil && (strings.Contains(answer, "PONG") || strings.Contains(answer, "NOAUTH")) {
			return nil
		}
		select {
		case <-ended:
			log, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			return fmt.Errorf("redis-server ended: %s", log)
		default:
		}
		if time.Now().After(deadline) {
			s.Kill()
			return errors.New("redis-server does not answer")
		}
	}
}

// Kill ends the server as a crash would.
func (s *Server) Kill() {
	if s.cmd != nil {
		s.cmd.Process.Kill()
	}
}

// CLI asks the server something through redis-cli.
func (s *Server) CLI(args ...string) (string, error) {
	host, port, _ := net.SplitHostPort(s.Addr)
	out, err := exec.Command("redis-cli", append([]string{"-h", host, "-p", port}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func freePort() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port <= 55000 { // the servers of a cluster talk at a port that is higher by 10000
			return port, nil
		}
	}
	return 0, errors.New("no free port below 55000")
}

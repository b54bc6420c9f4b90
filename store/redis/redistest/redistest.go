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
	Cert string // file with the certificate of a server that talks TLS

	args  []string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
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
func New(dir string, settings ...string) (*Server, error) { return launch(Server{Dir: dir}, settings) }

// launch starts a server at a port that is free.
func launch(as Server, settings []string) (*Server, error) {
	var last error
	for range 5 { // somebody else may take the port first
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s := as
		s.Addr = fmt.Sprintf("127.0.0.1:%d", port)
		s.args = []string{
			"--bind", "127.0.0.1", "--dir", s.Dir,
			"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", filepath.Join(s.Dir, "log"),
		}
		if s.Cert == "" {
			s.args = append(s.args, "--port", strconv.Itoa(port))
		} else {
			s.args = append(s.args, "--port", "0", "--tls-port", strconv.Itoa(port))
		}
		s.args = append(s.args, settings...)
		if last = s.Run(); last == nil {
			return &s, nil
		}
	}
	return nil, last
}

// Run starts the server again after it was stopped, at the same address.
func (s *Server) Run() error {
	s.cmd, s.ended = exec.Command("redis-server", s.args...), make(chan struct{})
	if err := start(s.cmd, s.ended); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		answer, err := s.CLI("ping")
		if err == nil && (strings.Contains(answer, "PONG") || strings.Contains(answer, "NOAUTH")) {
			return nil
		}
		select {
		case <-s.ended:
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

// Kill ends the server as a crash would, and waits until it has ended.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Kill()
		<-s.ended
	}
}

// CLI asks the server something through redis-cli.
func (s *Server) CLI(args ...string) (string, error) {
	host, port, _ := net.SplitHostPort(s.Addr)
	at := []string{"-h", host, "-p", port}
	if s.Cert != "" {
		at = append(at, "--tls", "--cacert", s.Cert)
	}
	out, err := exec.Command("redis-cli", append(at, args...)...).CombinedOutput()
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

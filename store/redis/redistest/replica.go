package redistest

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// StartReplica starts a replica of a server, and waits until it is in step.
func StartReplica(tb testing.TB, of *Server) *Server {
	tb.Helper()
	host, port, _ := net.SplitHostPort(of.Addr)
	s := Start(tb, "--replicaof", host, port)
	for deadline := time.Now().Add(time.Minute); !of.replicated(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("the replica is not in step after a minute")
		}
	}
	return s
}

// replicated says whether the server is a primary, and has a replica in step.
func (s *Server) replicated() bool {
	info, err := s.CLI("info", "replication")
	return err == nil && strings.Contains(info, "role:master") && strings.Contains(info, "state=online")
}

// CutReplicas ends the connections of a server's replicas, and lets them make no others.
func (s *Server) CutReplicas() error {
	for _, args := range [][]string{{"acl", "setuser", "default", "-psync", "-sync"}, {"client", "kill", "type", "replica"}} {
		if out, err := s.CLI(args...); err != nil || strings.Contains(out, "ERR") {
			return fmt.Errorf("cut replicas off: %w: %s", err, out)
		}
	}
	return nil
}

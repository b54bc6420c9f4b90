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

// A Cluster is three primaries, and a replica of each.
type Cluster struct {
	Servers []*Server // the primaries first
}

// Addrs are the addresses of its servers, with commas between.
func (c *Cluster) Addrs() string {
	var all []string
	for _, s := range c.Servers {
		all = append(all, s.Addr)
	}
	return strings.Join(all, ",")
}

// StartCluster starts a cluster, which is stopped at the end of the test.
func StartCluster(tb testing.TB, settings ...string) *Cluster {
	tb.Helper()
	need(tb)
	c, err := NewCluster(tb.TempDir(), settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Kill)
	return c
}

// NewCluster starts a cluster that works in a folder. Whoever calls it stops it.
func NewCluster(dir string, settings ...string) (*Cluster, error) {
	c := &Cluster{}
	for i := range 6 {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			c.Kill()
			return nil, err
		}
		s, err := New(folder, append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0"}, settings...)...)
		if err != nil {
			c.Kill()
			return nil, err
		}
		c.Servers = append(c.Servers, s)
	}
	if err := c.form(); err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

// form makes a cluster of the servers.
func (c *Cluster) form() error {
	args := []string{"--cluster", "create"}
	for _, s := range c.Servers {
		args = append(args, s.Addr)
	}
	args = append(args, "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.Command("redis-cli", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("form a cluster: %w: %s", err, out)
	}
	return c.AwaitReady()
}

// AwaitReady waits until all servers that run agree that all slots are served.
func (c *Cluster) AwaitReady() error {
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c.ready() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the cluster is not ready after a minute")
		}
	}
}

func (c *Cluster) ready() bool {
	for _, s := range c.Servers {
		out, err := s.CLI("cluster", "info")
		if err == nil && !strings.Contains(out, "cluster_state:ok") {
			return false
		}
		nodes, err := s.CLI("cluster", "nodes")
		if err == nil && strings.Count(nodes, "slave") < 3 && strings.Count(nodes, "fail") == 0 {
			return false
		}
	}
	return true
}

// Kill ends all servers.
func (c *Cluster) Kill() {
	for _, s := range c.Servers {
		s.Kill()
	}
}

// KillPrimary ends a primary that has a replica in step, as a crash would, and waits until the
// replica has taken over. n says which of those there are. For a time before it dies the primary
// tells its replica nothing, so what is written then is lost.
func (c *Cluster) KillPrimary(n int, untold time.Duration) (*Server, error) {
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if able := c.replicated(); len(able) > 0 {
			dies := able[n%len(able)]
			if untold > 0 {
				if err := dies.CutReplicas(); err != nil {
					return nil, err
				}
				time.Sleep(untold)
			}
			dies.Kill()
			return dies, c.awaitSuccessor(dies)
		}
		if time.Now().After(deadline) {
			return nil, errors.New("no primary has a replica in step")
		}
	}
}

// replicated are the primaries that have a replica in step.
func (c *Cluster) replicated() (all []*Server) {
	for _, s := range c.Servers {
		if s.replicated() {
			all = append(all, s)
		}
	}
	return all
}

// awaitSuccessor waits until servers agree that one that died is no longer a primary with slots.
func (c *Cluster) awaitSuccessor(dead *Server) error {
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c.succeeded(dead) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("nobody has taken the place of %s", dead.Addr)
		}
	}
}

func (c *Cluster) succeeded(dead *Server) bool {
	for _, s := range c.Servers {
		state, err := s.CLI("cluster", "info")
		slots, err2 := s.CLI("cluster", "slots")
		_, port, _ := net.SplitHostPort(dead.Addr)
		if err == nil && err2 == nil && (!strings.Contains(state, "cluster_state:ok") || strings.Contains(slots, "\n"+port+"\n")) {
			return false
		}
	}
	return true
}

// Move moves slots from one server to another.
func (c *Cluster) Move(from, to, slots int) error {
	var ids [2]string
	for i, s := range []*Server{c.Servers[from], c.Servers[to]} {
		id, err := s.CLI("cluster", "myid")
		if err != nil {
			return fmt.Errorf("ask %s for its name: %w: %s", s.Addr, err, id)
		}
		ids[i] = id
	}
	out, err := exec.Command("redis-cli", "--cluster", "reshard", c.Servers[from].Addr, "--cluster-from", ids[0], "--cluster-to", ids[1],
		"--cluster-slots", strconv.Itoa(slots), "--cluster-yes").CombinedOutput()
	if err != nil {
		return fmt.Errorf("move slots: %w: %.2000s", err, out)
	}
	return nil
}

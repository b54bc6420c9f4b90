package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		s, err := New(folder, append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "2000"}, settings...)...)
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

package frontier

import (
	"fmt"
	"maps"
	"time"
)

// Claims records which worker holds which host and until when, for a frontier that keeps this in
// memory. The frontier itself frees the URLs that the holder took when a claim ends. The zero value
// holds nothing. Claims must be used by one goroutine at a time.
type Claims struct {
	token   uint64               // token of the last claim
	held    map[string]*holder   // by host
	workers map[string]int       // number of hosts that each worker holds
	asked   map[string]time.Time // when each worker asked for hosts last
	expires time.Time            // no claim expires before this time
}

type holder struct {
	claim Claim
	until time.Time
}

// Begin gives a free host to a worker.
func (c *Claims) Begin(host, worker string, until time.Time) Claim {
	if c.held == nil {
		c.held, c.workers = map[string]*holder{}, map[string]int{}
	}
	c.token++
	claim := Claim{Host: host, Worker: worker, Token: c.token}
	c.held[host] = &holder{claim, until}
	c.workers[worker]++
	c.endsBy(until)
	return claim
}

// endsBy records that a claim may end at a time.
func (c *Claims) endsBy(until time.Time) {
	if c.expires.IsZero() || until.Before(c.expires) {
		c.expires = until
	}
}

// Held reports whether a worker holds a host.
func (c *Claims) Held(host string) bool { return c.held[host] != nil }

// Check returns [ErrLost] with the host's name if a claim has ended.
func (c *Claims) Check(claim Claim) error {
	if h := c.held[claim.Host]; h == nil || h.claim != claim {
		return fmt.Errorf("%s: %w", claim.Host, ErrLost)
	}
	return nil
}

// Renew extends claims until a time, and returns those that have ended.
func (c *Claims) Renew(claims []Claim, until time.Time) (lost []Claim) {
	for _, claim := range claims {
		if c.Check(claim) != nil {
			lost = append(lost, claim)
			continue
		}
		c.held[claim.Host].until = until
		c.endsBy(until)
	}
	return lost
}

// End ends the claim on a host that is held.
func (c *Claims) End(host string) {
	worker := c.held[host].claim.Worker
	delete(c.held, host)
	if c.workers[worker]--; c.workers[worker] == 0 {
		delete(c.workers, worker)
	}
}

// Expire ends the claims that were not renewed in time, and returns their hosts. It scans the
// claims only when one of them may have expired.
func (c *Claims) Expire(now time.Time) (hosts []string) {
	if c.expires.IsZero() || now.Before(c.expires) {
		return nil
	}
	c.expires = time.Time{}
	for host, h := range c.held {
		if now.Before(h.until) {
			c.endsBy(h.until)
			continue
		}
		c.End(host)
		hosts = append(hosts, host)
	}
	return hosts
}

// Others returns how many hosts other workers than the named one hold.
func (c *Claims) Others(worker string) int { return len(c.held) - c.workers[worker] }

// Share records that a worker asks for hosts. It returns the worker's share of the held hosts and
// the waiting ones, and how many workers share them, see [Grant]. Call it when the hosts are given.
func (c *Claims) Share(worker string, waiting int, now time.Time) (share, workers int) {
	if c.asked == nil {
		c.asked = map[string]time.Time{}
	}
	c.asked[worker] = now
	maps.DeleteFunc(c.asked, func(_ string, at time.Time) bool { return now.Sub(at) > Present })
	return ShareOf(len(c.held)+waiting, len(c.asked)), len(c.asked)
}

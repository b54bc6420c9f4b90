package frontier

import (
	"fmt"
	"maps"
	"time"
)

// Claims records which worker has claimed which host, and until when. It is for frontiers that keep
// claims in memory. It does not know the URLs of a host: when a claim ends, the frontier must
// requeue the URLs that the worker took. The zero value has no claims. Only one goroutine at a time
// may use it.
type Claims struct {
	token   uint64
	held    map[string]*holder
	workers map[string]int       // number of hosts that each worker has claimed
	asked   map[string]time.Time // time at which each worker last asked for hosts
	expires time.Time            // no claim expires before this time
}

type holder struct {
	claim Claim
	until time.Time
}

// Begin records that worker has claimed host until the given time. The host must not be claimed
// already.
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

// endsBy lowers c.expires to the time until if that is earlier, or sets it if it is zero.
func (c *Claims) endsBy(until time.Time) {
	if c.expires.IsZero() || until.Before(c.expires) {
		c.expires = until
	}
}

// Held reports whether any worker has claimed host.
func (c *Claims) Held(host string) bool { return c.held[host] != nil }

// Check returns [ErrLost] with the host's name if the claim is no longer valid.
func (c *Claims) Check(claim Claim) error {
	if h := c.held[claim.Host]; h == nil || h.claim != claim {
		return fmt.Errorf("%s: %w", claim.Host, ErrLost)
	}
	return nil
}

// Renew extends the claims until the given time. It returns the claims that are no longer valid,
// without extending them.
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

// End ends the claim on host. The host must be claimed.
func (c *Claims) End(host string) {
	worker := c.held[host].claim.Worker
	delete(c.held, host)
	if c.workers[worker]--; c.workers[worker] == 0 {
		delete(c.workers, worker)
	}
}

// Expire ends the claims that have expired by now, and returns their hosts. It looks at the claims
// only if one of them may have expired since the last call.
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

// Others returns the number of hosts claimed by workers other than the named one.
func (c *Claims) Others(worker string) int { return len(c.held) - c.workers[worker] }

// Share records that worker asked for hosts at the time now, and returns the fields Share and
// Workers of its [Grant]. waiting is the number of unclaimed hosts that have URLs, as in
// Grant.Waiting. Call Share after the worker has received its hosts.
func (c *Claims) Share(worker string, waiting int, now time.Time) (share, workers int) {
	if c.asked == nil {
		c.asked = map[string]time.Time{}
	}
	c.asked[worker] = now
	maps.DeleteFunc(c.asked, func(_ string, at time.Time) bool { return now.Sub(at) > Present })
	return ShareOf(len(c.held)+waiting, len(c.asked)), len(c.asked)
}

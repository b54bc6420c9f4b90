package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/frontier"
)

// # How a schedule claims hosts
//
// A schedule sends requests only to hosts that it has claimed. Several crawlers may share one
// frontier, in one process or on many machines. The crawler that has claimed a host is the only one
// that crawls it. The schedule claims nearly all hosts that have URLs. So it can choose the URL
// that is nearest to a seed, and hosts that are slow or must wait do not delay others. It keeps a
// host as long as it can send the host a request soon. When it returns a host to the frontier, it
// passes on the state that the next worker needs to be equally polite. It returns a host
//
//   - when the host has no URLs left, and none is under way;
//   - when the host must not get a request for longer than keepResting, or is hopeless;
//   - when its URLs in memory are used up while other hosts wait because too many hosts are
//     claimed; this way every host is crawled, however many there are;
//   - when it gets no more requests in this crawl, because its budget is spent, its folder is
//     missing, or the crawl of the host was ended (see backoff.go);
//   - when the schedule has claimed more hosts than its share;
//   - when the crawl ends.
//
// # The share of each of several workers
//
// Without shares, the first worker could claim all hosts, and leave nothing for workers that start
// later. So the frontier tells each worker its share, which is the number of hosts that it would
// have if all were divided equally. A worker claims no more hosts than its share. It may still end
// up with more, because another worker started, or others ran out of hosts. It then returns the
// surplus. Hosts without turns under way (fetches that have not ended) are returned first. The
// others start no more turns, and are returned when their last turn has ended. A surplus of an
// eighth is tolerated, because each host that moves costs a request for robots.txt and a
// connection, and because shares change whenever the last URL of a host is done. If there is only
// one worker, it has no share, and claims as many hosts as it can. It notices another worker within
// pollOthers. In its first call, a worker asks only for its share, not for hosts.
//
// A claim is renewed every claimTime/3. If the claim expires before a renewal succeeds, another
// worker may claim the host. The schedule then drops the host's URLs in memory, and pages under way
// are not stored.
//
// The crawl is over when this worker has nothing under way, and a report that the frontier made
// after the last page was stored shows that no worker has claimed a host and no host is worth
// waiting for. While other workers have claimed hosts, they may still find URLs of any host, so the
// schedule asks again every pollOthers.
//
// A few requests go to hosts that another worker may have claimed, such as those for the files of a
// rendered page. The frontier keeps the delay between the requests of both workers; see slot.go.
const (
	claimTime   = 30 * time.Second      // how long a claim is valid unless it is renewed
	keepResting = 5 * time.Second       // longer than the delay of nearly all hosts
	pollOthers  = time.Second           // shorter than frontier.Present
	shareSlack  = 8                     // a worker may exceed its share by 1/shareSlack of the share
	maxHeld     = 1 << 13               // maximum number of hosts claimed at the same time; if each sends one page per second, more pages than a machine can process
	maxClaimed  = 1 << 10               // maximum number of hosts claimed in one call
	claimEvery  = 20 * time.Millisecond // shortest interval between two calls while URLs can be fetched
	shareEvery  = pollOthers / 4        // shortest interval between two calls while the schedule has its full share
)

const returnedAtOnce = 64

// never is recorded as the time until the next request to a host that must get no more requests in
// this crawl.
const never = 100 * 365 * 24 * time.Hour

// claims records the hosts that this schedule has claimed in the frontier, and the frontier's
// report on all other hosts.
type claims struct {
	worker  string
	held    map[*host]bool
	doubted map[*host]bool // claimed hosts that may have to be returned

	frontier.Grant           // the last report on the hosts that this schedule has not claimed
	asked          time.Time // when; zero if the frontier has not been asked yet
	stale          bool      // whether hosts may have changed since the report
}

// vacant returns how many more hosts this schedule may claim.
func (c *claims) vacant() int {
	most := maxHeld
	if c.Share > 0 {
		most = min(c.Share, maxHeld)
	}
	return max(most-len(c.held), 0)
}

// wanted reports whether to ask the frontier for hosts now, and returns the number of hosts to ask
// for. If busy is true, URLs can be fetched from hosts already claimed, and the frontier is asked
// less often.
func (c *claims) wanted(busy bool, now time.Time) (n int, ask bool) {
	if !c.Next.IsZero() && !c.Next.After(now) {
		c.stale = true
	}
	if c.asked.IsZero() {
		return 0, true
	}
	n = min(c.vacant(), maxClaimed)
	least := pollOthers
	switch {
	case c.stale && n > 0 && busy:
		least = claimEvery
	case c.stale && n > 0:
		least = 0
	case c.stale && c.Share > 0: // the worker's share may have grown
		least = shareEvery
	}
	return n, now.Sub(c.asked) >= least
}

func (c *claims) nothingLeft() bool { return !c.stale && c.Others == 0 && c.Waiting == 0 }

func (c *claims) askAgain(now time.Time) time.Duration {
	at := c.asked.Add(pollOthers)
	if !c.Next.IsZero() && c.Next.Before(at) && c.vacant() > 0 {
		at = c.Next
	}
	return max(at.Sub(now), 1)
}

// othersDue reports whether an unclaimed host is due, according to the frontier's last report, and
// may have to wait for this schedule. If there are other workers, they can claim the host, so
// othersDue returns false unless this schedule has claimed maxHeld hosts.
func (c *claims) othersDue(now time.Time) bool {
	return c.Waiting > 0 && !c.Next.IsZero() && !c.Next.After(now) && (c.Share == 0 || len(c.held) >= maxHeld)
}

// surplus returns the hosts that this schedule has claimed beyond its share. It prefers hosts
// without fetches under way.
func (c *claims) surplus() []*host {
	if c.Share == 0 || len(c.held) <= c.Share+c.Share/shareSlack {
		return nil
	}
	staying := slices.Collect(maps.Keys(c.held))
	staying = slices.DeleteFunc(staying, func(h *host) bool { return h.leaving })
	slices.SortFunc(staying, func(a, b *host) int {
		return cmp.Or(cmp.Compare(a.turns, b.turns), cmp.Compare(len(a.urls), len(b.urls)))
	})
	return staying[:max(len(staying)-c.Share, 0)]
}

// doubt makes the next step of the schedule check whether a host must be returned to the frontier.
func (c *claims) doubt(h *host) {
	if h.held() {
		c.doubted[h] = true
	}
}

func (c *claims) mustReturn(h *host, now time.Time) bool {
	switch {
	case !h.held(), h.turns > 0:
		return false
	case h.leaving, h.finished():
		return true
	case len(h.urls) == 0 && h.supply == dry:
		return true
	case len(h.urls) == 0 && h.supply < sure && c.othersDue(now):
		return true
	}
	rest := h.rested().Sub(now)
	return rest > keepResting && !h.ordered || h.hopeless && rest > 0
}

func (s *schedule) claim(n int) action {
	return func(ctx context.Context) error {
		grant, err := s.front.Claim(ctx, s.claims.worker, n, claimTime, s.opt.Control.orders().Prefer...)
		if err != nil {
			return fmt.Errorf("claim hosts: %w", err)
		}
		s.granted(grant)
		return nil
	}
}

// granted adds the hosts that the frontier has granted. If this worker now has more hosts than its
// share, granted marks the surplus as leaving. These hosts are returned as soon as they have no
// turns under way.
func (s *schedule) granted(grant frontier.Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims.Grant, s.claims.asked, s.claims.stale = grant, time.Now(), false
	for _, h := range grant.Hosts {
		s.hold(h)
	}
	for _, h := range s.claims.surplus() {
		h.leaving = true
		s.claims.doubt(h)
		s.offer(h)
	}
}

func (s *schedule) hold(held frontier.Held) {
	h := s.host(held.Claim.Host)
	h.claim, h.urls = held.Claim, nil // URLs taken from the frontier under a lost claim must be taken again
	h.supply, h.depth, h.leaving = sure, held.Host.Depth, false
	h.inherit(held.Host.Rest)
	s.claims.held[h] = true
	s.offer(h)
}

// letGo removes a claimed host from the schedule. Unless the claim was lost, the caller must pass
// the result to giveBack, which returns the host to the frontier.
func (s *schedule) letGo(h *host) returning {
	r := returning{h.claim, h.pass()}
	if h.finished() {
		r.rest.Next, r.rest.Idle = time.Now().Add(never), true
	}
	s.claims.add(len(h.urls) > 0, r.rest)
	h.claim, h.urls = frontier.Claim{}, nil
	delete(s.claims.held, h)
	s.offer(h)
	return r
}

// add updates the report on unclaimed hosts when this schedule returns a host. If none of its URLs
// were in memory, the report becomes stale, because only the frontier knows whether the host has
// URLs.
func (c *claims) add(hasURLs bool, rest frontier.Rest) {
	if !hasURLs {
		c.stale = true
		return
	}
	if !rest.Idle {
		c.Waiting++
	}
	if due := rest.Due(); c.Next.IsZero() || due.Before(c.Next) {
		c.Next = due
	}
}

// A returning is a claim that must be returned to the frontier, with the state of the host for the
// next worker.
type returning struct {
	claim frontier.Claim
	rest  frontier.Rest
}

// giveBack returns an action that returns hosts to the frontier. It makes several calls in
// parallel, because each may be slow. It ignores hosts whose claim was lost.
func (s *schedule) giveBack(hosts ...returning) action {
	return func(ctx context.Context) error {
		var group errgroup.Group
		group.SetLimit(returnedAtOnce)
		for _, r := range hosts {
			group.Go(func() error {
				if s.opt.Learned != nil {
					if err := s.opt.Learned.HandOver(ctx, r.claim.Host); err != nil {
						return err
					}
				}
				if err := s.front.Return(ctx, r.claim, r.rest); err != nil && !errors.Is(err, frontier.ErrLost) {
					return fmt.Errorf("release host: %w", err)
				}
				return nil
			})
		}
		return group.Wait()
	}
}

func (s *schedule) giveAllBack(ctx context.Context) error {
	s.mu.Lock()
	var all []returning
	for h := range s.claims.held {
		all = append(all, s.letGo(h))
	}
	s.mu.Unlock()
	return s.giveBack(all...)(ctx)
}

func (s *schedule) keep(ctx context.Context) error {
	tick := time.Tick(claimTime / 3)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		claims := now(s, func(s *schedule) (all []frontier.Claim) {
			for h := range s.claims.held {
				all = append(all, h.claim)
			}
			return all
		})
		lost, err := s.front.Renew(ctx, claims, claimTime)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("renew claims: %w", err)
		}
		for _, c := range lost {
			s.lose(c)
		}
	}
}

// lose drops a host whose claim was lost. By then, another worker may have claimed the host.
func (s *schedule) lose(c frontier.Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hosts[c.Host]; h != nil && h.claim == c {
		s.letGo(h)
		s.changed()
	}
}

// WorkerName returns the name under which a crawl claims hosts: given, or a unique name if given is
// empty.
func WorkerName(given string) string {
	if given != "" {
		return given
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "unnamed"
	}
	return fmt.Sprintf("%s/%d/%x", machine, os.Getpid(), rand.Uint32()) // one process may run two crawls at the same time
}

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

// # Which hosts a schedule asks
//
// It asks those that it holds. Several crawlers may have one frontier, in one process or on many
// machines, and a host is asked by the one that claimed it. The schedule claims nearly as many
// hosts as there are, so that it can choose among them the URL that is nearest to a seed, and so
// that hosts that are slow or rest keep nobody waiting. It holds a host as long as it can ask it
// soon, and returns it with all that the next holder needs to be as polite:
//
//   - when the host has nothing to fetch any more, and nothing of it is under way;
//   - when it is to be left alone for longer than keepResting, or is hopeless;
//   - when its URLs in hand are used up while other hosts, for which there was no room, wait for a
//     holder: so every host has its turn, however many there are;
//   - when its budget is spent, or its folder is away, so that nobody need wait for it;
//   - when it is one too many of the schedule's share;
//   - when the crawl ends.
//
// # The share of each of several workers
//
// The first worker could hold all hosts there are, and those that come later would have nothing to
// do. So all that ask for hosts are told what each would hold if hosts were dealt out evenly, and
// claim no more than that. Whoever holds more, because another worker came or because others ran
// out of hosts, gives back what is above it: first hosts that nothing is under way of; of others it
// starts nothing more, and they go back when what is under way has ended. An eighth above the share
// is let pass: a host that moves costs a robots.txt and a connection, and shares change whenever
// any host ends. Who is alone has no share, and claims as if nobody else could come; it learns that
// somebody did within pollOthers. A worker begins by asking for no host at all, to be told its
// share.
//
// A claim is renewed every claimTime/3. If that fails for so long that the claim runs out, another
// may have the host. Then the URLs of it that are in hand are forgotten, and what is under way is
// not stored.
//
// The crawl is over when nothing is under way here, and when the frontier says, after the last page
// was stored, that nobody holds a host and that nobody need wait for one. As long as others hold
// hosts, they may still find URLs of any host, so the schedule asks again every pollOthers.
//
// No call of the frontier is made under the lock: next, which one goroutine calls, does what step
// says. What it gets wrong: a robots.txt that redirects to another host is fetched from there
// whoever holds that host.
const (
	claimTime   = 30 * time.Second      // how long a claim outlives its holder
	keepResting = 5 * time.Second       // longer than nearly all hosts rest between two requests
	pollOthers  = time.Second           // shorter than frontier.Present
	shareSlack  = 8                     // a share may be passed by its shareSlack-th part
	mostHeld    = 1 << 13               // hosts at once: at one page a second each, more than a machine reads
	mostClaimed = 1 << 10               // hosts in one call
	claimEvery  = 20 * time.Millisecond // at most, as long as there is something to do
	shareEvery  = pollOthers / 4        // at most, as long as the share is held
)

// returnedAtOnce is how many hosts are on their way back at the same time.
const returnedAtOnce = 64

// never is when a host may be asked again that this crawl will not ask any more.
const never = 100 * 365 * 24 * time.Hour

// unheld is what a schedule knows of hosts that it does not hold.
type unheld struct {
	asked   time.Time // when the frontier was asked
	stale   bool      // something has changed since then
	others  int       // hosts that other workers hold
	waiting int       // hosts that nobody holds, and that somebody should
	next    time.Time // when the first host is due that nobody holds; zero: when something changes
	share   int       // hosts to hold; 0: as many as possible
	workers int       // that share the hosts, with this one; 0: nobody has asked
}

// vacant is how many more hosts the schedule may claim.
func (s *schedule) vacant() int {
	most := mostHeld
	if share := s.unheld.share; share > 0 {
		most = min(share, mostHeld)
	}
	return max(most-len(s.held), 0)
}

// claims says whether the frontier is to be asked for hosts now, and for how many, by a schedule
// that has something else to do or not.
func (s *schedule) claims(busy bool, now time.Time) (n int, ask bool) {
	u := &s.unheld
	if !u.next.IsZero() && !u.next.After(now) {
		u.stale = true
	}
	if u.asked.IsZero() {
		return 0, true
	}
	n = min(s.vacant(), mostClaimed)
	least := pollOthers
	switch {
	case u.stale && n > 0 && busy:
		least = claimEvery
	case u.stale && n > 0:
		least = 0
	case u.stale && u.share > 0: // what is new may have made the share larger
		least = shareEvery
	}
	return n, now.Sub(u.asked) >= least
}

// nothingLeft says whether nobody holds or waits for a host, as far as is known.
func (s *schedule) nothingLeft() bool {
	u := &s.unheld
	return !u.stale && u.others == 0 && u.waiting == 0
}

// lookAgain is how long until the frontier is worth asking again.
func (s *schedule) lookAgain(now time.Time) time.Duration {
	at, next := s.unheld.asked.Add(pollOthers), s.unheld.next
	if !next.IsZero() && next.Before(at) && s.vacant() > 0 {
		at = next
	}
	return max(at.Sub(now), 1)
}

// claim asks the frontier for hosts.
func (s *schedule) claim(ctx context.Context, n int) error {
	grant, err := s.front.Claim(ctx, s.worker, n, claimTime)
	if err != nil {
		return fmt.Errorf("claim hosts: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unheld = unheld{asked: time.Now(), others: grant.Others, waiting: grant.Waiting, next: grant.Next, share: grant.Share, workers: grant.Workers}
	for _, h := range grant.Hosts {
		s.hold(h)
	}
	s.shed()
	return nil
}

// shed lets go of the hosts that are too many, as soon as nothing of them is under way.
func (s *schedule) shed() {
	share := s.unheld.share
	if share == 0 || len(s.held) <= share+share/shareSlack {
		return
	}
	staying := slices.Collect(maps.Keys(s.held))
	staying = slices.DeleteFunc(staying, func(h *host) bool { return h.leaving })
	slices.SortFunc(staying, func(a, b *host) int {
		return cmp.Or(cmp.Compare(a.turns, b.turns), cmp.Compare(len(a.urls), len(b.urls)))
	})
	for _, h := range staying[:max(len(staying)-share, 0)] {
		h.leaving = true
		s.doubt(h)
		s.offer(h)
	}
}

// hold takes up a host that was claimed.
func (s *schedule) hold(held frontier.Held) {
	h, rest := s.host(held.Claim.Host), held.Host.Rest
	h.claim, h.urls = held.Claim, nil // of a claim that was lost, and given again, all is taken anew
	s.held[h] = true
	h.sure, h.dry, h.stirred, h.depth = true, false, false, held.Host.Depth
	h.leaving = false
	h.blocked = rest.Blocked
	h.until = latest(h.until, rest.Due())
	if rest.Delay > 0 {
		h.told(s.bounded(rest.Delay), s.opt.Delay)
	}
	if rest.Took > 0 {
		h.took = rest.Took
	}
	if t := rest.Trouble; t != (frontier.Trouble{}) {
		h.trouble = trouble{answered: t.Answered, fails: t.Fails, since: t.Since, last: t.Last}
		h.hopeless = h.trouble.beyondHope(t.Last, s.opt.Retries)
	}
	h.spent = mostSpent(h.spent, rest.Spent)
	s.offer(h)
}

// mostSpent is the larger of two counts of what a host has cost.
func mostSpent(a, b Spent) Spent {
	return Spent{Pages: max(a.Pages, b.Pages), Bytes: max(a.Bytes, b.Bytes)}
}

// toReturn says whether a host is to be returned now.
func (s *schedule) toReturn(h *host, now time.Time) bool {
	switch {
	case h.claim == frontier.Claim{}, h.turns > 0:
		return false
	case h.away, h.alone != "", h.leaving, !s.opt.HostBudget.allows(h.spent, 0):
		return true
	case len(h.urls) == 0 && h.dry:
		return true
	case len(h.urls) == 0 && !h.sure && s.othersDue(now):
		return true
	}
	rest := h.rested(s.opt.MaxDelay).Sub(now)
	return rest > keepResting || h.hopeless && rest > 0
}

// othersDue says whether there is a host that nobody holds, that may be asked, and for which there
// is no room, as far as is known. Where there are other workers, there is room with them.
func (s *schedule) othersDue(now time.Time) bool {
	u := &s.unheld
	return u.waiting > 0 && !u.next.IsZero() && !u.next.After(now) && (u.share == 0 || len(s.held) >= mostHeld)
}

// letGo ends the hold on a host in the schedule. The frontier is to be told what it returns.
func (s *schedule) letGo(h *host) returning {
	r := returning{h.claim, s.rest(h)}
	s.unheld.add(len(h.urls) > 0, r.rest)
	h.claim, h.urls = frontier.Claim{}, nil
	delete(s.held, h)
	s.offer(h)
	return r
}

// add counts a host that is no longer held here. If none of its URLs was in hand, only the frontier
// knows whether it has any.
func (u *unheld) add(hasURLs bool, rest frontier.Rest) {
	if !hasURLs {
		u.stale = true
		return
	}
	if !rest.Idle {
		u.waiting++
	}
	if due := rest.Due(); u.next.IsZero() || due.Before(u.next) {
		u.next = due
	}
}

// rest is what the next holder of a host has to know.
func (s *schedule) rest(h *host) frontier.Rest {
	r := frontier.Rest{
		Next: h.rested(s.opt.MaxDelay), Idle: h.hopeless, Blocked: h.blocked, Delay: h.crawlDelay, Took: h.took, Spent: h.spent,
		Trouble: frontier.Trouble{Answered: h.answered, Fails: h.fails, Since: h.since, Last: h.last},
	}
	if h.away || h.alone != "" || !s.opt.HostBudget.allows(h.spent, 0) {
		r.Next, r.Idle = time.Now().Add(never), true
	}
	return r
}

// A returning host is on its way back to the frontier.
type returning struct {
	claim frontier.Claim
	rest  frontier.Rest
}

// giveBack returns hosts to the frontier, some at once, for that may be far away. One that was lost
// needs no returning.
func (s *schedule) giveBack(ctx context.Context, hosts ...returning) error {
	var group errgroup.Group
	group.SetLimit(returnedAtOnce)
	for _, r := range hosts {
		group.Go(func() error {
			if s.opt.Learned != nil {
				if err := s.opt.Learned.Leave(ctx, r.claim.Host); err != nil {
					return err
				}
			}
			if err := s.front.Return(ctx, r.claim, r.rest); err != nil && !errors.Is(err, frontier.ErrLost) {
				return fmt.Errorf("return a host: %w", err)
			}
			return nil
		})
	}
	return group.Wait()
}

// giveAllBack returns all hosts that are held, when the crawl has ended.
func (s *schedule) giveAllBack(ctx context.Context) error {
	s.mu.Lock()
	var all []returning
	for h := range s.held {
		all = append(all, s.letGo(h))
	}
	s.mu.Unlock()
	return s.giveBack(ctx, all...)
}

// keep renews the claims until ctx ends.
func (s *schedule) keep(ctx context.Context) error {
	tick := time.NewTicker(claimTime / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		lost, err := s.front.Renew(ctx, s.claimed(), claimTime)
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

func (s *schedule) claimed() (all []frontier.Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.held {
		all = append(all, h.claim)
	}
	return all
}

// lose forgets a host that another worker may have by now.
func (s *schedule) lose(c frontier.Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hosts[c.Host]; h != nil && h.claim == c {
		s.letGo(h)
		s.changed()
	}
}

// holds says whether the host of a turn is still the one that was claimed for it.
func (s *schedule) holds(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.claim == t.host.claim
}

// WorkerName is the name under which a crawl claims hosts: the one given, or one of its own.
func WorkerName(given string) string {
	if given != "" {
		return given
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "unnamed"
	}
	return fmt.Sprintf("%s/%d/%x", machine, os.Getpid(), rand.Uint32()) // one process may crawl twice at once
}

package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"skink/dedup"
	"skink/frontier"
)

var (
	takeScript    = newScript("sums.lua", "heads.lua", "take.lua")
	releaseScript = newScript("sums.lua", "heads.lua", "release.lua")
	returnScript  = newScript("sums.lua", "heads.lua", "return.lua")
	dropScript    = newScript("sums.lua", "heads.lua", "drop.lua")
)

func lost(doing, host string) error {
	return fmt.Errorf("%s %s: %w", doing, host, frontier.ErrLost)
}

// mostRecentHosts is of how many hosts a worker remembers which lanes they have.
const mostRecentHosts = 1 << 14

// Take takes URLs of a held host. Each gets the number of the visit that will be made of
// its page.
func (s *Store) Take(ctx context.Context, c frontier.Claim, n int) ([]frontier.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.bring(ctx); err != nil {
		return nil, err
	}
	p := partOfHost(c.Host)
	s.outlook.touch(p)
	for {
		lanes, _ := s.lanes.get(c.Host)
		answer, err := s.take(ctx, p, c, n, lanes)
		if err != nil {
			return nil, fmt.Errorf("take URLs of %s: %w", c.Host, explain(err))
		}
		switch text(answer[0]) {
		case "lost":
			s.holding.remove(c)
			return nil, lost("take URLs of", c.Host)
		case "ripe":
			if err := s.ripen(ctx, p, c.Host); err != nil {
				return nil, fmt.Errorf("queue URLs of %s that came due: %w", c.Host, explain(err))
			}
		case "lanes":
			s.lanes.put(c.Host, text(answer[1]))
		default:
			return s.taken(p, c, answer)
		}
	}
}

func (s *Store) take(ctx context.Context, p partition, c frontier.Claim, n int, lanes string) ([]rueidis.RedisMessage, error) {
	keys := s.hostKeys(p, s.key(p, "t", c.Host))
	args := []string{c.Host, oneLine(c.Worker), strconv.FormatUint(c.Token, 10), strconv.Itoa(max(n, 0))}
	keys, args = s.appendLanes(keys, args, p, c.Host, lanes)
	return s.eval(ctx, call{takeScript, keys, args})[0].ToArray()
}

func (s *Store) appendLanes(keys, args []string, p partition, host, lanes string) ([]string, []string) {
	if lanes == "" {
		return keys, args
	}
	for lane := range strings.SplitSeq(lanes, ",") {
		keys, args = append(keys, s.laneKey(p, lane, host)), append(args, lane)
	}
	return keys, args
}

// taken reads items, and remembers where their pages are and the numbers of their visits.
func (s *Store) taken(p partition, c frontier.Claim, answer []rueidis.RedisMessage) ([]frontier.Item, error) {
	last := uint64(number(answer[1]))
	list := answer[2:]
	var items []frontier.Item
	for i := 0; i+1 < len(list); i += 2 {
		it, err := unpackItem(text(list[i]), text(list[i+1]))
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	for i, it := range items {
		id := dedup.Hash(frontier.ID(it.URL))
		s.tickets.put(id, last-uint64(len(items)-1-i))
		s.where.put(id, visit{part: p})
	}
	s.brought(c, p, items)
	return items, nil
}

// Release queues a URL again that was taken.
func (s *Store) Release(ctx context.Context, c frontier.Claim, it frontier.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, lane, f := partOfHost(c.Host), laneOf(it), fieldOf(frontier.ID(it.URL))
	where, later := s.queueKey(p, c.Host, lane, it.Due)
	keys := s.hostKeys(p, s.key(p, "t", c.Host), where)
	args := []string{c.Host, oneLine(c.Worker), strconv.FormatUint(c.Token, 10), lane, later, string(f), packItem(it)}
	s.outlook.touch(p)
	return s.held(ctx, "release a URL of", c, call{releaseScript, keys, args})
}

// Return ends a claim.
func (s *Store) Return(ctx context.Context, c frontier.Claim, rest frontier.Rest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rest = restIn(rest.Bounded(s.clock.ours()), s.clock.theirs)
	next := rest.Next
	if rest.Blocked.After(next) {
		next = rest.Blocked
	}
	idle := ""
	if rest.Idle {
		idle = "1"
	}
	p := partOfHost(c.Host)
	args := []string{
		c.Host, oneLine(c.Worker), strconv.FormatUint(c.Token, 10), instant(next), idle, instant(rest.Blocked),
		marshal(keptRest{rest.Blocked.Round(0).UTC(), rest.Delay, rest.Spent}),
		marshal(passingRest{rest.Next.Round(0).UTC(), rest.Idle, rest.Took, rest.Trouble}),
	}
	defer s.outlook.touch(p) // a look before it is returned would see it as another's
	defer s.holding.remove(c)
	return s.held(ctx, "return", c, call{returnScript, s.hostKeys(p, s.key(p, "t", c.Host)), args})
}

// held runs a script that only the holder of a host may.
func (s *Store) held(ctx context.Context, doing string, c frontier.Claim, run call) error {
	answer, err := s.eval(ctx, run)[0].ToString()
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", doing, c.Host, explain(err))
	case answer == "lost":
		s.holding.remove(c)
		return lost(doing, c.Host)
	}
	return nil
}

// drop takes a URL that has ended out of its host's queue. Nobody had taken it.
func (s *Store) drop(ctx context.Context, p partition, host string, f field) error {
	lanes, _ := s.lanes.get(host)
	for {
		keys, args := s.appendLanes(s.hostKeys(p, s.key(p, "d", host)), []string{host, string(f)}, p, host, lanes)
		answer, err := s.eval(ctx, call{dropScript, keys, args})[0].ToArray()
		if err != nil {
			return fmt.Errorf("take a URL out of the queue of %s: %w", host, explain(err))
		}
		if text(answer[0]) == "ok" {
			s.outlook.touch(p)
			return nil
		}
		lanes = text(answer[1])
		s.lanes.put(host, lanes)
	}
}

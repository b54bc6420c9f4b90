package redis

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"skink/frontier"
)

// # Who shares the hosts
//
//	a  zset of the workers that asked for hosts within frontier.Present, by when they did
//
// A worker says that it is there whenever it asks for hosts, but not more often than once in
// presentEvery, and hears how many there are. When the store is closed it says that it is gone. So
// a share follows who comes and goes within about a second, and who dies within frontier.Present.

const presentEvery = frontier.Present / 8

var presentScript = newScript("present.lua")

// presence is what this process last heard of the workers.
type presence struct {
	mu    sync.Mutex
	said  map[string]time.Time // guarded by mu: when each worker of this process said that it is there
	count int                  // guarded by mu: of all workers
}

// due says whether a worker is to say again that it is there, and how many there are if not.
func (p *presence) due(worker string, now time.Time) (count int, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, said := p.said[worker]
	return p.count, !said || now.Sub(at) >= presentEvery
}

func (p *presence) heard(worker string, at time.Time, count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said == nil {
		p.said = map[string]time.Time{}
	}
	p.said[worker], p.count = at, count
}

// present says that a worker is there, and returns how many are.
func (s *Store) present(ctx context.Context, worker string) (int, error) {
	now := s.clock.ours()
	count, due := s.sharing.due(worker, now)
	if !due {
		return count, nil
	}
	args := []string{worker, decimal(frontier.Present.Microseconds())}
	answer, err := s.eval(ctx, call{presentScript, []string{s.global("a")}, args})[0].AsIntSlice()
	if err != nil {
		return 0, err
	}
	s.clock.heard(now, time.UnixMicro(answer[1]), s.clock.ours())
	s.sharing.heard(worker, now, int(answer[0]))
	return int(answer[0]), nil
}

// gone says that the workers of this process are not there any more.
func (s *Store) gone(ctx context.Context) error {
	s.sharing.mu.Lock()
	workers := slices.Collect(maps.Keys(s.sharing.said))
	s.sharing.mu.Unlock()
	if len(workers) == 0 {
		return nil
	}
	return firstError(s.do(ctx, s.B().Zrem().Key(s.global("a")).Member(workers...).Build()))
}

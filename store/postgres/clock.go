package postgres

import (
	"context"
	"sync"
	"time"

	"skink/frontier"
)

// # Times of the server's clock
//
// One worker writes the time of a host's next request and another reads it, and their clocks may
// differ by hours. So the store keeps such times by the server's clock. Each claim returns the
// server's time. From it a worker knows how far the server's clock is ahead of its own, to within
// the duration of the answer. A time is converted with the end of that span that makes it later: a
// host may rest milliseconds too long, but never too short. If the span contains zero, the clocks
// count as equal.
//
// If the server's clock is set back, hosts would rest, and claims last, for longer by that step. A row
// of host says when it was touched: times of rows that were touched in the future are moved back with
// the clock. If the clock is set forward, claims expire early, and workers claim their hosts again.

// A serverClock knows how far the server's clock is ahead of ours.
type serverClock struct {
	ours func() time.Time

	mu          sync.Mutex
	least, most time.Duration // guarded by mu
	at          time.Time     // guarded by mu: when that was heard
	known       bool          // guarded by mu
}

const (
	clockHolds = 10 * time.Second // how long a narrow span is kept although wider ones come
	clockStep  = 2 * time.Second  // a smaller difference is not a step
)

// heard takes in what the server's clock said between two moments of ours. It says whether that clock
// was set back since it was heard before.
func (c *serverClock) heard(before, server, after time.Time) (setBack bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := wall(server).Sub(wall(after)), wall(server).Sub(wall(before))
	setBack = c.known && most < c.least-clockStep
	overlap := least <= c.most && c.least <= most
	if c.known && overlap && c.most-c.least < most-least && after.Sub(c.at) < clockHolds {
		return false
	}
	c.least, c.most, c.at, c.known = least, most, after, true
	return setBack
}

// wall is a time as clocks show it.
func wall(t time.Time) time.Time { return t.Round(0) }

func (c *serverClock) ahead() (least, most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.least <= 0 && c.most >= 0 {
		return 0, 0
	}
	return c.least, c.most
}

// theirs returns a rest with its times by the server's clock.
func (c *serverClock) theirs(r frontier.Rest) frontier.Rest {
	_, most := c.ahead()
	return shifted(r, most)
}

// fromTheirs returns a rest with its times by our clock.
func (c *serverClock) fromTheirs(r frontier.Rest) frontier.Rest {
	least, _ := c.ahead()
	return shifted(r, -least)
}

// shifted moves the times of a rest that are set.
func shifted(r frontier.Rest, by time.Duration) frontier.Rest {
	for _, t := range []*time.Time{&r.Next, &r.Blocked, &r.Trouble.Since, &r.Trouble.Last} {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	return r
}

// Now returns the time by the server's clock.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.try(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "SELECT statement_timestamp()").Scan(&now)
	})
	return now, err
}

// mendClock moves the times of hosts that were touched in the future. Several workers may do it at once.
func (s *Store) mendClock(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `UPDATE host SET due = CASE WHEN due = 0 THEN 0 ELSE due - (extract(epoch FROM touched - now()) * 1000000)::bigint * 1000 END,
 until = until - (touched - now()), touched = now() WHERE touched > now() + interval '2 s'`)
	return err
}

// nanos is a time as the store has it: Unix nanoseconds, 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// SQL for the server's time, in nanoseconds, and for a worker that is there. It is that of the
// statement: an index can be searched for it.
const (
	nowNS   = `(extract(epoch FROM statement_timestamp()) * 1000000)::bigint * 1000`
	present = `asked BETWEEN statement_timestamp() - interval '5 s' AND statement_timestamp() + interval '5 s'` // frontier.Present
)

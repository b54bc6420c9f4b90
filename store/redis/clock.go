package redis

import (
	"context"
	"sync"
	"time"

	"skink/frontier"
)

// # Whose time it is
//
// When a host may be asked again is written by one worker and read by another, and their clocks may
// differ by hours. In the store such times are those of the server's clock. A worker hears it when
// it says that it is there, about twice a second, and so knows by how much the server's clock is
// ahead of its own, to within the time that the answer took. Of the two ends of that span each time
// gets the one that makes it later: a host is left alone too long by some milliseconds, never too
// short. If the clocks may be the same, they are taken for the same.
//
// What this takes for granted: that the clocks of the servers of a cluster agree to some
// milliseconds, as the order of commits does (changes.go). What it leaves to the worker's clock are
// dates: when a page was fetched, and when it is due to be visited again.

// A serverClock is by how much the server's clock is ahead of ours.
type serverClock struct {
	ours func() time.Time

	mu          sync.Mutex
	least, most time.Duration // guarded by mu
	at          time.Time     // guarded by mu: when that was heard
}

// clockHolds is how long a narrow span is kept although wider ones come.
const clockHolds = 10 * time.Second

// heard takes in what the server's clock said between two moments of ours.
func (c *serverClock) heard(before time.Time, server time.Time, after time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := wall(server).Sub(wall(after)), wall(server).Sub(wall(before))
	overlap := least <= c.most && c.least <= most
	if overlap && c.most-c.least < most-least && after.Sub(c.at) < clockHolds {
		return
	}
	c.least, c.most, c.at = least, most, after
}

// wall is a time as clocks show it.
func wall(t time.Time) time.Time { return t.Round(0) }

// ahead is the span as it is used.
func (c *serverClock) ahead() (least, most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.least <= 0 && c.most >= 0 {
		return 0, 0
	}
	return c.least, c.most
}

// theirs is a time of ours by the server's clock.
func (c *serverClock) theirs(t time.Time) time.Time {
	_, most := c.ahead()
	return shifted(t, most)
}

// fromTheirs is a time of the server's by our clock.
func (c *serverClock) fromTheirs(t time.Time) time.Time {
	least, _ := c.ahead()
	return shifted(t, -least)
}

// shifted is a later time; none stays none.
func shifted(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}

// restIn is a rest with its times by another clock.
func restIn(r frontier.Rest, clock func(time.Time) time.Time) frontier.Rest {
	r.Next, r.Blocked = clock(r.Next), clock(r.Blocked)
	r.Trouble.Since, r.Trouble.Last = clock(r.Trouble.Since), clock(r.Trouble.Last)
	return r
}

// Now is the time by the servers' clocks, the earliest of them.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	micros, err := s.settled(ctx)
	return time.UnixMicro(int64(micros)), err
}

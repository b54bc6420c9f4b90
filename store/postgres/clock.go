package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"skink/frontier"
)

// # Times on the server's clock
//
// One worker writes the time of a host's next request and another reads it, and their clocks may
// differ by hours. So the store keeps such times by the server's clock. Each claim returns the
// server's time. From that, a worker calculates how far the server's clock is ahead of its own. The
// result is a span from least to most, because the response took some time. A time is converted
// with the end of the span that makes it later. So the delay between two requests may be too long by
// the time that a response took, but never too short. If the span contains zero, the clocks count as
// equal.
//
// If the server's clock were set back by an hour, all delays and all claims would last an hour
// longer. So each host row records when it was last touched. If that time is in the future, the
// times in the row are moved back by the difference. If the clock is set forward, claims expire
// early, and workers claim their hosts again.

// A serverClock estimates how far the server's clock is ahead of the clock of this process.
type serverClock struct {
	ours func() time.Time
	last atomic.Pointer[span] // nil until the server's time has been received
}

// A span is how far the server's clock is ahead.
type span struct{ least, most time.Duration }

const clockStep = 2 * time.Second // smaller changes do not count as the clock being set back

// heard records the server's time, which was read at some moment between before and after on our
// clock. It reports whether the server's clock was set back since the last call.
func (c *serverClock) heard(before, server, after time.Time) (setBack bool) {
	now := &span{wall(server).Sub(wall(after)), wall(server).Sub(wall(before))}
	was := c.last.Swap(now)
	return was != nil && now.most < was.least-clockStep
}

// wall returns t without its monotonic clock reading, so that differences follow the wall clock.
func wall(t time.Time) time.Time { return t.Round(0) }

func (c *serverClock) ahead() span {
	s := c.last.Load()
	if s == nil || s.least <= 0 && s.most >= 0 {
		return span{}
	}
	return *s
}

// theirs converts the times in r from our clock to the server's.
func (c *serverClock) theirs(r frontier.Rest) frontier.Rest { return shifted(r, c.ahead().most) }

// fromTheirs converts the times in r from the server's clock to ours.
func (c *serverClock) fromTheirs(r frontier.Rest) frontier.Rest { return shifted(r, -c.ahead().least) }

// shifted returns a copy of r with the given duration added to all non-zero times.
func shifted(r frontier.Rest, by time.Duration) frontier.Rest {
	for _, t := range []*time.Time{&r.Next, &r.Blocked, &r.Trouble.Since, &r.Trouble.Last, &r.Last.At} {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	return r
}

// Now returns the time on the server's clock.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.try(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "SELECT statement_timestamp()").Scan(&now)
	})
	return now, err
}

// mendClock corrects the times of hosts after the server's clock has been set back. It moves back
// the times in each row whose touched time is now in the future. Several workers may call it at
// once.
func (s *Store) mendClock(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `UPDATE host SET due = CASE WHEN due = 0 THEN 0 ELSE due - (extract(epoch FROM touched - now()) * 1000000)::bigint * 1000 END,
 until = until - (touched - now()), touched = now() WHERE touched > now() + interval '2 s'`)
	return err
}

// nanos returns a time as stored in the database: Unix nanoseconds, or 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// nowNS is SQL for the server's time in Unix nanoseconds. present is an SQL condition for workers
// that asked for hosts within the last five seconds. Both use statement_timestamp, which is
// constant during a statement, so that the server can use an index.
const (
	nowNS   = `(extract(epoch FROM statement_timestamp()) * 1000000)::bigint * 1000`
	present = `asked BETWEEN statement_timestamp() - interval '5 s' AND statement_timestamp() + interval '5 s'` // 5 s is frontier.Present
)

package redis

import (
	"testing"
	"time"

	"skink/frontier"
)

// A worker whose clock is wrong is as polite as others, and others are as polite after it: how long
// a host is to be left alone is the same for all.
func TestWrongClocks(t *testing.T) {
	for _, tt := range []struct {
		name string
		off  time.Duration
	}{{"an hour ahead", time.Hour}, {"an hour behind", -time.Hour}} {
		t.Run(tt.name, func(t *testing.T) {
			onReal(t, func(t *testing.T, servers string) {
				name := newName()
				wrong, right := openNamed(t, servers, name), openNamed(t, servers, name)
				wrong.clock.ours = func() time.Time { return time.Now().Add(tt.off) }
				discover(t, right, 1, urlsOf("example.com", 1))
				for _, turn := range []struct {
					name        string
					first, then *Store
				}{{"wrong then right", wrong, right}, {"right then wrong", right, wrong}} {
					g := claimSoon(t, turn.first)
					ours := turn.first.clock.ours()
					const alone = 900 * time.Millisecond
					trouble := frontier.Trouble{Fails: 1, Since: ours.Add(-time.Minute), Last: ours}
					if err := turn.first.Return(t.Context(), g.Hosts[0].Claim, frontier.Rest{Next: ours.Add(alone), Trouble: trouble}); err != nil {
						t.Fatal(err)
					}
					began := time.Now()
					g = claimSoon(t, turn.then)
					waited, rest := time.Since(began), g.Hosts[0].Host.Rest
					if waited < alone-50*time.Millisecond {
						t.Errorf("%s: the host was given after %v, want %v at least", turn.name, waited, alone)
					}
					if ago := turn.then.clock.ours().Sub(rest.Trouble.Since); ago < time.Minute-time.Second || ago > 2*time.Minute {
						t.Errorf("%s: its trouble began %v ago, want a minute", turn.name, ago)
					}
					if err := turn.then.Return(t.Context(), g.Hosts[0].Claim, frontier.Rest{}); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// claimSoon claims the one host as soon as it can be had, and wants to be told when that is by the
// worker's own clock.
func claimSoon(t *testing.T, s *Store) frontier.Grant {
	t.Helper()
	for {
		g, err := s.Claim(t.Context(), "worker", 1, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Hosts) > 0 {
			return g
		}
		if in := g.Next.Sub(s.clock.ours()); !g.Next.IsZero() && (in < -time.Second || in > 2*time.Second) {
			t.Fatalf("the host is said to be due in %v by the worker's clock", in)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestServerClock(t *testing.T) {
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	c := &serverClock{ours: time.Now}
	if least, most := c.ahead(); least != 0 || most != 0 {
		t.Errorf("before anything was heard the server is ahead by %v to %v", least, most)
	}
	c.heard(at, at.Add(2*time.Millisecond), at.Add(4*time.Millisecond))
	if least, most := c.ahead(); least != 0 || most != 0 {
		t.Errorf("clocks that may be the same: ahead by %v to %v", least, most)
	}
	at = at.Add(time.Minute)
	c.heard(at, at.Add(time.Hour), at.Add(4*time.Millisecond))
	c.heard(at, at.Add(time.Hour), at.Add(400*time.Millisecond)) // says less
	if least, most := c.ahead(); least != time.Hour-4*time.Millisecond || most != time.Hour {
		t.Errorf("ahead by %v to %v", least, most)
	}
	if d := c.fromTheirs(c.theirs(at)).Sub(at); d != 4*time.Millisecond {
		t.Errorf("there and back a time is %v later", d)
	}
}

package frontier

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// In any sequence of claims, renewals and returns, a claim is valid until it is ended or has
// expired, a host has at most one valid claim, and no two claims are equal.
func TestClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Claims
		now := time.Unix(0, 0)
		until := map[Claim]time.Time{} // expiry time of each valid claim
		var all []Claim                // all claims that were ever made
		host := rapid.SampledFrom([]string{"a.test", "b.test", "c.test"})
		worker := rapid.SampledFrom([]string{"one", "two"})
		ttl := func(t *rapid.T) time.Time {
			return now.Add(time.Duration(rapid.IntRange(1, 10).Draw(t, "ttl")) * time.Second)
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				h := host.Draw(t, "host")
				if c.Held(h) {
					return
				}
				end := ttl(t)
				claim := c.Begin(h, worker.Draw(t, "worker"), end)
				if slices.Contains(all, claim) {
					t.Fatalf("%+v was begun twice", claim)
				}
				until[claim], all = end, append(all, claim)
			},
			"renew": func(t *rapid.T) {
				end := ttl(t)
				lost := c.Renew(all, end)
				for _, claim := range all {
					if _, holds := until[claim]; holds == slices.Contains(lost, claim) {
						t.Fatalf("renewed %+v: it holds is %v", claim, holds)
					}
				}
				for claim := range until {
					until[claim] = end
				}
			},
			"end": func(t *rapid.T) {
				if h := host.Draw(t, "host"); c.Held(h) {
					c.End(h)
					for claim := range until {
						if claim.Host == h {
							delete(until, claim)
						}
					}
				}
			},
			"later": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "seconds")) * time.Second)
				var want []string
				for claim, end := range until {
					if !now.Before(end) {
						want = append(want, claim.Host)
						delete(until, claim)
					}
				}
				got := c.Expire(now)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("at %v the claims of %q ran out, want %q", now, got, want)
				}
			},
			"": func(t *rapid.T) {
				workers, hosts := map[string]int{}, map[string]bool{}
				for claim := range until {
					workers[claim.Worker]++
					hosts[claim.Host] = true
				}
				if len(hosts) != len(until) {
					t.Fatalf("a host has two holders: %v", until)
				}
				for _, claim := range all {
					_, holds := until[claim]
					if err := c.Check(claim); holds != (err == nil) || err != nil && !errors.Is(err, ErrLost) {
						t.Fatalf("%+v holds is %v, and Check says %v", claim, holds, err)
					}
				}
				for _, w := range []string{"one", "two"} {
					if got, want := c.Others(w), len(until)-workers[w]; got != want {
						t.Fatalf("%d hosts are held by others than %s, want %d", got, w, want)
					}
				}
			},
		})
	})
}

// A worker that has not asked for hosts for longer than Present gets no share any more.
func TestShare(t *testing.T) {
	var c Claims
	now := time.Now()
	for _, step := range []struct {
		after   time.Duration
		worker  string
		waiting int
		want    int
		workers int
	}{
		{0, "one", 9, 0, 1},
		{time.Second, "two", 9, 5, 2},
		{time.Second, "three", 9, 3, 3},
		{time.Second, "three", 1, 1, 3},
		{time.Second, "two", 0, 1, 3},
		{Present - 2*time.Second, "three", 9, 5, 2}, // worker one is no longer present
		{Present + time.Second, "one", 9, 0, 1},
	} {
		now = now.Add(step.after)
		if got, workers := c.Share(step.worker, step.waiting, now); got != step.want || workers != step.workers {
			t.Errorf("the share of %s in %d hosts is %d with %d workers, want %d with %d", step.worker, step.waiting, got, workers, step.want, step.workers)
		}
	}
}

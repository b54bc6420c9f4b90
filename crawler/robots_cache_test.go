package crawler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"skink/base/lru"
	"skink/crawler/robots"
)

func TestRobotsFor(t *testing.T) {
	const deny = "user-agent: *\ndisallow: /\n"
	tests := []struct {
		name    string // section of RFC 9309, and a description of the case
		status  int
		body    string
		err     error
		allowed bool
		found   bool
		reached bool
	}{
		{"2.3.1.1 the rules count", 200, deny, nil, false, true, true},
		{"2.3.1.1 also of another 2xx", 206, deny, nil, false, true, true},
		{"2.3.1.1 nothing in it", 200, "", nil, true, true, true},
		{"2.3.1.5 a web page", 200, "<!DOCTYPE html><p>disallow: /", nil, true, true, true},
		{"2.3.1.2 too many redirects", 302, deny, nil, true, false, true},
		{"2.3.1.3 not found", 404, deny, nil, true, false, true},
		{"2.3.1.3 gone", 410, "", nil, true, false, true},
		{"2.3.1.3 guarded", 401, "", nil, true, false, true},
		{"2.3.1.3 forbidden", 403, "", nil, true, false, true},
		{"a server under load", 429, "", nil, false, false, false},
		{"2.3.1.4 server error", 500, "", nil, false, false, false},
		{"2.3.1.4 unavailable", 503, "", nil, false, false, false},
		{"2.3.1.4 not even a status", 0, "", nil, false, false, false},
		{"2.3.1.4 network error", 0, "", errors.New("connection refused"), false, false, false},
		{"an error counts more than what came before it", 200, "", errors.New("unexpected EOF"), false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, found, err := robotsFor(tt.status, []byte(tt.body), tt.err)
			if found != tt.found || (err == nil) != tt.reached {
				t.Fatalf("found %v, error %v, want found %v, reached %v", found, err, tt.found, tt.reached)
			}
			if allowed := err == nil && rules.Allowed("a", "https://example.com/x"); allowed != tt.allowed {
				t.Errorf("allowed %v, want %v", allowed, tt.allowed)
			}
		})
	}
}

// A robotsSite is a fake site with a clock. It always gives the answer in its fields.
type robotsSite struct {
	status int
	body   string
	err    error
	asked  []string // URLs of all requests
	time   time.Time
}

func (s *robotsSite) fetch(_ context.Context, url string) (int, []byte, error) {
	s.asked = append(s.asked, url)
	return s.status, []byte(s.body), s.err
}

func (s *robotsSite) now() time.Time { return s.time }

func newRobotsSite() (*robotsSite, *robotsCache) {
	s := &robotsSite{status: 200, time: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	return s, newRobotsCache(s.fetch, s.now, robotsMemory)
}

// TestRobotsCacheLifetime checks step by step when the rules of a host are used, fetched again or
// dropped.
func TestRobotsCacheLifetime(t *testing.T) {
	const denyX, denyY = "user-agent: *\ndisallow: /x\n", "user-agent: *\ndisallow: /y\n"
	type step struct {
		after  time.Duration // time since the previous step
		status int
		body   string
		want   string // result for /x: "allowed", "denied" or "unreachable"
		asks   int    // number of requests so far, including this step
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"an answer holds a day, and no longer", []step{
			{0, 200, denyX, "denied", 1},
			{robotsLifetime - 1, 200, denyY, "denied", 1},
			{1, 200, denyY, "allowed", 2},
		}},
		{"so does that there is no file", []step{
			{0, 404, "", "allowed", 1},
			{robotsLifetime - 1, 200, denyX, "allowed", 1},
			{1, 200, denyX, "denied", 2},
		}},
		{"a site out of reach is asked again soon", []step{
			{0, 503, "", "unreachable", 1},
			{robotsRetry - 1, 200, denyX, "unreachable", 1},
			{1, 200, denyX, "denied", 2},
			{robotsLifetime - 1, 200, denyX, "denied", 2},
		}},
		{"its older copy serves meanwhile", []step{
			{0, 200, denyX, "denied", 1},
			{robotsLifetime, 503, "", "denied", 2},
			{robotsRetry - 1, 200, denyY, "denied", 2},
			{1, 200, denyY, "allowed", 3},
		}},
		{"for thirty days", []step{
			{0, 200, denyX, "denied", 1},
			{robotsLongest, 0, "", "denied", 2},
			{robotsRetry, 0, "", "unreachable", 3},
			{robotsRetry, 429, "", "unreachable", 4},
			{robotsRetry, 200, denyY, "allowed", 5},
		}},
		{"that there was no file is no copy", []step{
			{0, 404, "", "allowed", 1},
			{robotsLifetime, 503, "", "unreachable", 2},
		}},
		{"and ends one", []step{
			{0, 200, denyX, "denied", 1},
			{robotsLifetime, 404, "", "allowed", 2},
			{robotsLifetime, 503, "", "unreachable", 3},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			site, cache := newRobotsSite()
			for i, step := range tt.steps {
				site.time = site.time.Add(step.after)
				site.status, site.body = step.status, step.body
				if got := robotsVerdict(cache, "https://example.com/x"); got != step.want || len(site.asked) != step.asks {
					t.Fatalf("step %d: %s after %d requests, want %s after %d", i, got, len(site.asked), step.want, step.asks)
				}
			}
		})
	}
}

func robotsVerdict(cache *robotsCache, url string) string {
	rules, err := cache.get(context.Background(), url)
	var unreachable *robotsUnreachableError
	switch {
	case errors.As(err, &unreachable):
		return "unreachable"
	case err != nil:
		return err.Error()
	case rules.Allowed("a", url):
		return "allowed"
	}
	return "denied"
}

func TestRobotsUnreachableError(t *testing.T) {
	site, cache := newRobotsSite()
	site.err = errors.New("connection refused")
	_, err := cache.get(t.Context(), "https://example.com/x")
	var unreachable *robotsUnreachableError
	if !errors.As(err, &unreachable) || !errors.Is(err, site.err) {
		t.Errorf("got %#v", err)
	}
	if want := "fetch robots.txt of https://example.com: connection refused"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// Pages with the same scheme, host and port share one robots.txt (RFC 9309, section 2.3).
func TestRobotsCacheOrigins(t *testing.T) {
	site, cache := newRobotsSite()
	for _, url := range []string{
		"http://example.com/a", "http://example.com/b?c", "https://example.com/a", "https://example.com:8080/", "http://example.com/",
	} {
		if _, err := cache.get(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	want := "http://example.com/robots.txt https://example.com/robots.txt https://example.com:8080/robots.txt"
	if got := strings.Join(site.asked, " "); got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

func TestRobotsCacheForgetsLeastRecentlyUsed(t *testing.T) {
	site, cache := newRobotsSite()
	site.body = "user-agent: *\ndisallow: /1\ndisallow: /2\n"
	ask := func(hosts ...string) {
		for _, host := range hosts {
			if _, err := cache.get(t.Context(), "http://"+host+"/"); err != nil {
				t.Fatal(err)
			}
		}
	}
	withTwo := (&robotsEntry{rules: robots.Parse([]byte(site.body))}).weigh()
	cache.kept = lru.New[string](3*withTwo, (*robotsEntry).weigh)
	ask("a", "b", "c", "a", "d", "a", "c", "b")
	want := "http://a/robots.txt http://b/robots.txt http://c/robots.txt http://d/robots.txt http://b/robots.txt"
	if got := strings.Join(site.asked, " "); got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

// If many pages wait for a robots.txt, it is fetched once.
func TestRobotsCacheFetchesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches, answers atomic.Int32
		answer := make(chan struct{})
		cache := newRobotsCache(func(context.Context, string) (int, []byte, error) {
			fetches.Add(1)
			<-answer
			return 200, []byte("user-agent: *\ndisallow: /x\n"), nil
		}, time.Now, robotsMemory)
		for i := range 50 {
			go func() {
				rules, err := cache.get(t.Context(), fmt.Sprintf("https://example.com/%d", i))
				if err == nil && !rules.Allowed("a", "https://example.com/x") {
					answers.Add(1)
				}
			}()
		}
		synctest.Wait()
		close(answer)
		synctest.Wait()
		if fetches.Load() != 1 || answers.Load() != 50 {
			t.Errorf("%d fetches and %d answers, want 1 and 50", fetches.Load(), answers.Load())
		}
	})
}

// If the call that fetches is cancelled, the calls that wait for it do not fail, and the cancelled
// fetch is not cached.
func TestRobotsCacheLeaderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		cache := newRobotsCache(func(ctx context.Context, _ string) (int, []byte, error) {
			fetches.Add(1)
			select {
			case <-ctx.Done():
				return 0, nil, ctx.Err()
			case <-time.After(time.Second):
				return 200, nil, nil
			}
		}, time.Now, robotsMemory)

		leader, giveUp := context.WithCancel(t.Context())
		led := make(chan error, 1)
		go func() {
			_, err := cache.get(leader, "https://example.com/leader")
			led <- err
		}()
		synctest.Wait() // wait until the leader is fetching the file
		followed := make(chan error, 10)
		for range cap(followed) {
			go func() {
				_, err := cache.get(t.Context(), "https://example.com/follower")
				followed <- err
			}()
		}
		synctest.Wait() // wait until the other calls wait for the leader
		giveUp()
		if err := <-led; !errors.Is(err, context.Canceled) {
			t.Errorf("leader: %v, want %v", err, context.Canceled)
		}
		for range cap(followed) {
			if err := <-followed; err != nil {
				t.Errorf("follower: %v", err)
			}
		}
		if fetches.Load() != 2 {
			t.Errorf("%d fetches, want 2", fetches.Load())
		}
	})
}

// A waiting call can be cancelled at once, while the fetch continues.
func TestRobotsCacheFollowerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newRobotsCache(func(context.Context, string) (int, []byte, error) {
			time.Sleep(time.Minute)
			return 200, nil, nil
		}, time.Now, robotsMemory)
		led := make(chan error, 1)
		go func() {
			_, err := cache.get(t.Context(), "https://example.com/leader")
			led <- err
		}()
		synctest.Wait()
		follower, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		start := time.Now()
		if _, err := cache.get(follower, "https://example.com/follower"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("follower: %v after %v, want %v after 1s", err, time.Since(start), context.DeadlineExceeded)
		}
		if err := <-led; err != nil {
			t.Errorf("leader: %v", err)
		}
	})
}

// If the fetch exceeds its own time limit, this counts as a failure of the site.
func TestRobotsCacheFetchTimesOut(t *testing.T) {
	site, cache := newRobotsSite()
	site.err = context.DeadlineExceeded
	for range 2 {
		if got := robotsVerdict(cache, "https://example.com/x"); got != "unreachable" || len(site.asked) != 1 {
			t.Errorf("%s after %d requests, want unreachable after 1", got, len(site.asked))
		}
	}
}

// If a fetch panics, the calls that wait for it must not wait forever.
func TestRobotsCacheFetchPanics(t *testing.T) {
	site, cache := newRobotsSite()
	good := cache.fetch
	cache.fetch = func(context.Context, string) (int, []byte, error) { panic("no") }
	func() {
		defer func() { recover() }()
		cache.get(t.Context(), "https://example.com/x")
	}()
	cache.fetch = good
	if got := robotsVerdict(cache, "https://example.com/x"); got != "allowed" || len(site.asked) != 1 {
		t.Errorf("%s after %d requests, want allowed after 1", got, len(site.asked))
	}
}

package crawler

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler/wire"
)

// With several requests to a host at once, a turn may wait for a login before it sends its own
// request. So the steps of the login must not wait for that request.
func TestLoginDoesNotWaitForTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		f := testFetcher(t, func(o *Options) {
			o.IgnoreRobots, o.Delay, o.Timeout = true, 100*time.Millisecond, time.Minute
		})
		f.schedule = w.newCrawl(w.front, f.opt, w).schedule
		f.do = func(x *wire.Exchange) error {
			x.Status = http.StatusOK
			return nil
		}
		f.schedule.mu.Lock()
		f.schedule.host("a.test").unsent++ // a turn that has begun, and waits for the login
		f.schedule.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if x, err := f.send(ctx, ask{url: "http://a.test/login", purpose: forLogin}); err != nil || x.Status != http.StatusOK {
			t.Errorf("status %d, %v", x.Status, err)
		}
	})
}

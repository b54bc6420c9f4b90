package crawler

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler/access"
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

// The files of rendered pages count for the byte budget of their host, and no more of them are
// requested when it is used up. The budget of pages does not concern them.
func TestPartsHaveABudget(t *testing.T) {
	f := testFetcher(t, func(o *Options) {
		o.IgnoreRobots, o.Delay = true, 0
		o.Hosts = access.Table{{Pattern: "a.test", Bytes: 10, Pages: 1}}
	})
	w := newWorld()
	f.schedule = w.newCrawl(w.front, f.opt, w).schedule
	sent := 0
	f.do = func(x *wire.Exchange) error {
		sent++
		x.Status, x.Body = http.StatusOK, []byte("6 byte")
		return nil
	}
	for range 4 {
		before := sent
		_, err := f.send(t.Context(), ask{url: "http://a.test/script.js", purpose: forPart, from: "http://a.test/"})
		if _, refused := errors.AsType[refusal](err); refused != (before == 2) {
			t.Errorf("after %d requests: %v", before, err)
		}
	}
	if sent != 2 {
		t.Errorf("%d requests, want 2", sent)
	}
}

package crawler

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"skink/crawler/wire"
)

// A host that asks for a pause gets no request in the meantime, whatever it was asked for. A request
// that is no item of the frontier is then repeated, except a POST request of a script.
func TestHostPauses(t *testing.T) {
	asks := []ask{{purpose: forPart, method: http.MethodPost}}
	for _, p := range []purpose{forPage, forSitemap, forRequisite, forCheck, forRobots, forGuess, forDetour, forLogin, forPart} {
		asks = append(asks, ask{purpose: p})
	}
	for _, one := range asks {
		one.url = "http://a.test/one"
		purpose, repeats := one.purpose, one.purpose >= forGuess && !one.isPost()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			f := testFetcher(t, func(o *Options) {
				o.IgnoreRobots, o.Retries, o.Delay, o.Timeout = true, 1, 100*time.Millisecond, time.Minute
			})
			f.schedule = w.newCrawl(w.front, f.opt, w).schedule
			var paths []string
			var first, second time.Time
			f.do = func(x *wire.Exchange) error {
				paths = append(paths, x.Request.URL.Path)
				switch x.Status = http.StatusOK; len(paths) {
				case 1:
					x.Status, x.Header = http.StatusTooManyRequests, http.Header{"Retry-After": {"4"}}
					first = time.Now()
				case 2:
					second = time.Now()
				}
				return nil
			}
			for _, a := range []ask{one, {url: "http://a.test/two", purpose: forPart}} {
				if x, err := f.send(t.Context(), a); err != nil || (repeats || a.url != one.url) && x.Status != http.StatusOK {
					t.Errorf("purpose %d: status %d, %v", purpose, x.Status, err)
				}
			}
			if second.Sub(first) < 4*time.Second {
				t.Errorf("purpose %d: the next request came after %v", purpose, second.Sub(first))
			}
			if repeated := paths[1] == "/one"; repeated != repeats {
				t.Errorf("purpose %d: the requests were %q", purpose, paths)
			}
		})
	}
}

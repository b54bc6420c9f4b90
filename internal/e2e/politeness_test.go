package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/cli"
)

// TestPoliteness measures a crawl of 50 hosts at the server: the time between the starts of two
// requests to the same host, and the total time. In the short form, it only checks that all pages
// were requested, with one request at a time for each host. A busy machine cannot break this. With
// SKINK_LONG=full, the time between two requests must be at least the delay minus 10 ms. The total
// time must be at most 1.2 times the sum of the delays. The schedule itself is tested with a
// simulated clock in crawler/schedule_test.go.
func TestPoliteness(t *testing.T) {
	t.Parallel()
	const hosts, pages, delay = 50, 10, 200 * time.Millisecond
	w := &watchedWeb{starts: map[string][]time.Time{}, open: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer w.enter(r.Host)()
		if n, err := strconv.Atoi(r.URL.Path[1:]); err != nil || n >= pages { // robots.txt, and a page that does not exist
			http.NotFound(rw, r)
			return
		}
		fmt.Fprintf(rw, "<title>%s</title><main><p>A page of %s at %s.", r.URL.Path, r.Host, r.URL.Path)
		for i := range pages {
			fmt.Fprintf(rw, " <a href='/%d'>%d</a>", i, i)
		}
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"crawl", "--store", filepath.Join(t.TempDir(), "store"), "--parallel", fmt.Sprint(hosts), "--delay", delay.String(), "--learn", "off"} // "--learn off" prevents requests for URLs that cannot exist
	for h := range hosts {
		args = append(args, fmt.Sprintf("http://h%d.localhost:%s/0", h, port))
	}
	var said bytes.Buffer
	if code := cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &said}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &said)
	}

	closest, requests, first, last := w.measure()
	ideal := pages * delay // time from robots.txt to the last page
	t.Logf("%d requests to %d hosts; closest to each other %v; %v in all, %.3f times the ideal %v", requests, len(w.starts), closest,
		last.Sub(first).Round(time.Millisecond), float64(last.Sub(first))/float64(ideal), ideal)
	if want := hosts * (pages + 1); requests != want || len(w.starts) != hosts {
		t.Errorf("%d requests to %d hosts, want %d to %d", requests, len(w.starts), want, hosts)
	}
	if w.most > 1 {
		t.Errorf("%d requests at once to one host", w.most)
	}
	if os.Getenv("SKINK_LONG") == "full" {
		if closest < delay-10*time.Millisecond {
			t.Errorf("two requests to one host started only %v apart", closest)
		}
		if last.Sub(first) > ideal*12/10 {
			t.Errorf("took %v, want %v at most", last.Sub(first), ideal*12/10)
		}
	}
}

// A watchedWeb records the times of the requests to each host.
type watchedWeb struct {
	mu     sync.Mutex
	starts map[string][]time.Time // guarded by mu: start times of the requests to each host
	open   map[string]int         // guarded by mu: number of requests to each host that are in progress
	most   int                    // guarded by mu: largest value in open so far
}

func (w *watchedWeb) enter(host string) (leave func()) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts[host] = append(w.starts[host], now)
	w.open[host]++
	w.most = max(w.most, w.open[host])
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open[host]--
	}
}

// measure returns the shortest time between two requests to one host, the number of all requests,
// and the times of the first and the last request.
func (w *watchedWeb) measure() (closest time.Duration, requests int, first, last time.Time) {
	closest = time.Hour
	for _, starts := range w.starts {
		requests += len(starts)
		for i, at := range starts {
			if i > 0 {
				closest = min(closest, at.Sub(starts[i-1]))
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
		}
	}
	return closest, requests, first, last
}

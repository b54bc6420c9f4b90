package crawler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/badger"
)

// TestFrontierScale fills the frontier of a real store with the URLs of very many hosts, opens it
// again, and crawls for a while with fake fetches that take no time. It logs the time and memory
// that this takes, and checks the delay of every host.
//
// By default, there are 20,000 URLs of 200 hosts. Another size can be set like this:
//
//	SKINK_FRONTIER=10000000/100000 go test -run FrontierScale -v -timeout 1h ./crawler
func TestFrontierScale(t *testing.T) {
	urls, hosts, fetches := 20_000, 200, int64(2_000)
	if named := os.Getenv("SKINK_FRONTIER"); named != "" {
		if n, err := fmt.Sscanf(named, "%d/%d", &urls, &hosts); n != 2 {
			t.Fatalf("SKINK_FRONTIER=URLS/HOSTS: %v", err)
		}
		fetches = 200_000
	}
	dir := filepath.Join(t.TempDir(), "store")
	s := openScale(t, dir)
	began := time.Now()
	fill(t, s, urls, hosts)
	t.Logf("%d URLs of %d hosts discovered in %v, %.0f a second; %s", urls, hosts, time.Since(began).Round(time.Millisecond),
		float64(urls)/time.Since(began).Seconds(), memory())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	s = openScale(t, dir)
	t.Logf("opened again in %v; %s", time.Since(began).Round(time.Millisecond), memory())
	defer s.Close()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &scaleHandler{s: s, most: fetches, stop: cancel, last: map[string]time.Time{}, delay: 50 * time.Millisecond}
	opt := Options{Parallel: 64, PerHost: 1, Delay: h.delay, Grace: time.Second, IgnoreRobots: true}
	c := newCrawl(s, opt, h, h.fetch, nil)
	began = time.Now()
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	took := time.Since(began)
	t.Logf("%d fetches in %v, %.0f a second, of %d hosts; %d URLs taken; %s", h.n.Load(), took.Round(time.Millisecond),
		float64(h.n.Load())/took.Seconds(), len(h.last), c.schedule.taken(), memory())
	t.Logf("%d of %d requests came too soon after another to their host", h.tooSoon, h.n.Load())
	if h.tooSoon > 0 && os.Getenv("SKINK_FRONTIER") != "" { // a busy machine delays some requests; TestScheduleDelay checks the delay exactly
		t.Error("some came too soon")
	}
	// All URLs of a claimed host that are in memory are fetched before the schedule replaces the
	// host with another.
	if want := min(hosts, int(fetches)*maxHeld/maxTaken); len(h.last) < want {
		t.Errorf("%d hosts were asked, want %d: all are due at once", len(h.last), want)
	}
	if most := max(maxTaken, hosts) + takeBatch*64; c.schedule.taken() > most {
		t.Errorf("%d URLs are taken, want %d at most", c.schedule.taken(), most)
	}
	counts, err := s.Counts(t.Context())
	if err != nil || counts.Pending+counts.Fetched != int64(urls) || counts.Fetched < fetches {
		t.Errorf("counts %+v, %v", counts, err)
	}
}

func openScale(t *testing.T, dir string) *badger.Store {
	t.Helper()
	s, err := badger.Open(dir, badger.Options{Create: true, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill adds URLs to the frontier as pages do: a few URLs of many hosts at a time.
func fill(t *testing.T, s store.Store, urls, hosts int) {
	t.Helper()
	var items []frontier.Item
	for i := range urls {
		items = append(items, frontier.Item{
			URL:   fmt.Sprintf("https://www.host-%d.example/section/%d/some-page-with-a-name-%d.html", i%hosts, i%7, i),
			Depth: 1 + i/hosts%3,
		})
		if len(items) == 100 || i == urls-1 {
			if n, err := s.Discover(t.Context(), items); err != nil || n != len(items) {
				t.Fatalf("discovered %d of %d: %v", n, len(items), err)
			}
			items = items[:0]
		}
	}
}

// taken returns the number of URLs in memory.
func (s *schedule) taken() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hosts {
		n += len(h.urls)
	}
	return n
}

// A scaleHandler answers requests, records the URLs as finished, and stops the crawl after a number
// of URLs.
type scaleHandler struct {
	s     store.Store
	most  int64
	delay time.Duration
	stop  context.CancelFunc
	n     atomic.Int64

	mu      sync.Mutex
	last    map[string]time.Time
	tooSoon int
}

func (h *scaleHandler) fetch(_ context.Context, it frontier.Item) *Page {
	now := time.Now()
	host := frontier.HostOf(it.URL)
	h.mu.Lock()
	defer h.mu.Unlock()
	// The schedule records the time of a request a moment before this call, and the difference
	// varies from request to request.
	if last, ok := h.last[host]; ok && now.Sub(last) < h.delay/2 {
		h.tooSoon++
	}
	h.last[host] = now
	return &Page{Item: it, Status: 200, FetchedAt: now}
}

func (h *scaleHandler) Handle(ctx context.Context, p *Page, _ *Leads) error {
	if h.n.Add(1) == h.most {
		h.stop()
	}
	r := store.Record{ID: dedup.Hash(frontier.ID(p.Item.URL)), URL: p.Item.URL, Kind: store.Other}
	_, err := h.s.Commit(ctx, []*store.Entry{{Record: r, Claim: p.Claim, State: frontier.Fetched}})
	return err
}

func (h *scaleHandler) Pages() int64 { return 0 }

// memory returns the memory that the process uses, as text.
func memory() string {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text := fmt.Sprintf("%d MB of heap", m.HeapAlloc>>20)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return text
	}
	for line := range strings.Lines(string(status)) {
		for _, name := range []string{"RssAnon:", "VmHWM:"} {
			if value, ok := strings.CutPrefix(line, name); ok {
				kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
				text += fmt.Sprintf(", %s %d MB", strings.TrimSuffix(name, ":"), kb>>10)
			}
		}
	}
	return text
}

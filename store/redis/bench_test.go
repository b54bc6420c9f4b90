package redis

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/frontier"
	"skink/store"
	"skink/store/badger"
	"skink/store/redis/redistest"
)

// BenchmarkPages takes, looks up and commits unique pages of 14 keys, 30 links and a text, by
// eight goroutines that share their hosts, in the embedded store and on one server on the
// same machine:
//
//	go test -run - -bench Pages -benchtime 5000x ./store/redis
func BenchmarkPages(b *testing.B) {
	b.Run("badger", func(b *testing.B) {
		s, err := badger.Open(b.TempDir(), badger.Options{Create: true})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		benchPages(b, s)
	})
	b.Run("redis", func(b *testing.B) {
		server := redistest.Start(b)
		benchPages(b, openNamed(b, server.Addr, "x"))
	})
}

const benchHosts = 64

func benchPages(b *testing.B, s store.Store) {
	var items []frontier.Item
	for i := range b.N {
		items = append(items, frontier.Item{URL: fmt.Sprintf("https://host%d.example/%d", i%benchHosts, i)})
	}
	if _, err := s.Discover(b.Context(), items); err != nil {
		b.Fatal(err)
	}
	grant, err := s.Claim(b.Context(), "w", benchHosts, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	var entries []*store.Entry
	for _, h := range grant.Hosts {
		taken, err := s.Take(b.Context(), h.Claim, b.N)
		if err != nil {
			b.Fatal(err)
		}
		for _, it := range taken {
			e := pageOf(it.URL, len(entries))
			e.Claim = h.Claim
			entries = append(entries, e)
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range 8 {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(entries); i = next.Add(1) - 1 {
				commitJudged(b, s, entries[i])
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(len(entries))/b.Elapsed().Seconds(), "pages/s")
}

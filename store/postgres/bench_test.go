package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
	"skink/store/postgres/postgrestest"
)

// BenchmarkPages looks pages up and commits them as 32 goroutines of a worker do: 12 keys, a text of
// 2 KB, and 20 links of which one is new. The server's share of the time is reported beside it.
func BenchmarkPages(b *testing.B) {
	server := postgrestest.Start(b, "shared_buffers=256MB", "max_wal_size=2GB")
	s := openAt(b, server.URL("bench"))
	ctx := context.Background()
	text := make([]byte, 2000)
	var next, stale atomic.Int64
	var all sync.WaitGroup
	before := server.CPU()
	b.ResetTimer()
	for range 32 {
		all.Go(func() {
			for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
				e := benchPage(n, text)
				for outcome := store.Stale; outcome == store.Stale; stale.Add(1) {
					ask := store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Limit: 8}
					found, err := s.Lookup(ctx, []store.Ask{ask})
					if err != nil {
						b.Error(err)
						return
					}
					e.Basis = found[0].Basis(ask)
					outcomes, err := s.Commit(ctx, []*store.Entry{e})
					if err != nil {
						b.Error(err)
						return
					}
					outcome = outcomes[0]
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric((server.CPU()-before).Seconds()*1000/float64(b.N), "server-ms/page")
	b.ReportMetric(float64(stale.Load()-int64(b.N))/float64(b.N), "stale/page")
}

func benchPage(n int, text []byte) *store.Entry {
	url := fmt.Sprintf("https://host%d.example/%d", n%50, n)
	e := pageOf(url)
	e.Text, e.Keys = text, nil
	for k := range 12 {
		h := dedup.HashOf(fmt.Appendf(nil, "%d %d", n, k))
		e.Keys = append(e.Keys, binary.LittleEndian.Uint64(h[:]))
	}
	for l := range 20 {
		e.Links = append(e.Links, frontier.Item{URL: fmt.Sprintf("https://host%d.example/%d", n%50, max(n+50-50*l, n%50)), Depth: 1})
	}
	return e
}

package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"skink/dedup"
	"skink/frontier"
	"skink/internal/tools/postgrestest"
	"skink/store"
)

// BenchmarkPages looks pages up and commits them from workers with 32 goroutines each, 2 ms away
// from the server. A page has 12 keys, a text of 2 KB, and 20 links, of which one is new. The
// benchmark also reports the server's processor time, and the duration of the statements that held
// the commit lock.
func BenchmarkPages(b *testing.B) {
	for _, workers := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) { benchPages(b, workers) })
	}
}

func benchPages(b *testing.B, workers int) {
	ctx := context.Background()
	server := postgrestest.Start(b, "fsync=on", "shared_buffers=256MB", "max_wal_size=2GB", "shared_preload_libraries=pg_stat_statements")
	var stores []*Store
	for range workers {
		stores = append(stores, openAt(b, postgrestest.URL("bench", postgrestest.Delayed(b, server.Addr, 2*time.Millisecond))))
	}
	if err := server.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat([]byte("what a page says "), 120)
	var next, attempts atomic.Int64
	var all errgroup.Group
	before := server.CPU()
	b.ResetTimer()
	for _, s := range stores {
		for range 32 {
			all.Go(func() error {
				for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
					tries, err := benchCommit(ctx, s, benchPage(n, text))
					if attempts.Add(tries); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	if err := all.Wait(); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	cpu := server.CPU() - before
	locked, err := server.Text(ctx, "SELECT sum(total_exec_time)::text FROM pg_stat_statements WHERE query LIKE '%holder = $%'")
	if err != nil {
		b.Fatal(err)
	}
	ms, err := strconv.ParseFloat(locked, 64)
	if err != nil {
		b.Fatal(err)
	}
	pages := float64(b.N)
	b.ReportMetric(pages/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(cpu.Seconds()*1000/pages, "server-ms/page")
	b.ReportMetric(ms/pages, "locked-ms/page")
	b.ReportMetric(float64(attempts.Load())/pages-1, "stale/page")
}

// benchCommit looks a page up and commits it until it is not stale. It returns the number of tries.
func benchCommit(ctx context.Context, s *Store, e *store.Entry) (tries int64, err error) {
	for outcome := store.Stale; outcome == store.Stale; {
		tries++
		ask := store.Ask{ID: e.Record.ID, Hashes: []dedup.Hash{e.Hash}, Keys: e.Keys, Limit: 8}
		found, err := s.Lookup(ctx, []store.Ask{ask})
		if err != nil {
			return tries, err
		}
		e.Basis = found[0].Basis(ask)
		outcomes, err := s.Commit(ctx, []*store.Entry{e})
		if err != nil {
			return tries, err
		}
		outcome = outcomes[0]
	}
	return tries, nil
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

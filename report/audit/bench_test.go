package audit_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report/audit"
	"skink/store"
)

// endless is a store of the given number of pages, which are made when they are read, so that the
// benchmark measures the memory of the audit alone. Each page has 30 links, one page in ten is an
// error, and one in five has the title of another page.
type endless struct {
	store.Reader
	pages int
}

func (e endless) url(i int) string { return fmt.Sprintf("https://shop.example/products/%d", i) }

func (e endless) record(i int) store.Record {
	url := e.url(i)
	r := store.Record{
		ID: dedup.HashOf([]byte(url)), URL: url, Kind: store.Page, Status: 200, ContentType: "text/html", Fetch: store.Fetch{Size: 5000, Depth: i % 9,
			Words: 200},
		Judged: store.Judged{Verdict: dedup.Unique}, Title: fmt.Sprintf("Product number %d", i), H1: []string{fmt.Sprintf("Product %d", i)},
	}
	switch {
	case i%10 == 9:
		r.Kind, r.Status, r.Problem, r.Verdict, r.Words = store.Error, 404, "status 404", "", 0
	case i%5 == 0:
		r.Title = fmt.Sprintf("Products of group %d", i/50)
	}
	return r
}

func (e endless) Changes(_ context.Context, _ store.Cursor, want store.Want) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for i := range e.pages {
			c := &store.Change{Content: store.Content{Record: e.record(i)}}
			if want&store.WantLinks != 0 {
				for k := range 30 {
					c.Links = append(c.Links, store.Link{URL: e.url((i*31 + k*k*7919) % e.pages), Text: "a product", Kind: store.LinkAnchor})
				}
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// BenchmarkRead measures the memory of an audit for each page of a store.
func BenchmarkRead(b *testing.B) {
	const pages = 200_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		a, err := audit.Read(context.Background(), endless{storetest.NewMemory(), pages}, audit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/pages, "B-held/page")
		b.ReportMetric(float64(after.HeapSys-before.HeapSys)/pages, "B-heap/page")
		runtime.KeepAlive(a)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/pages, "µs/page")
}

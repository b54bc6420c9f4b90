package feed_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"skink/dedup"
	"skink/feed"
	"skink/internal/tools/storetest"
	"skink/store"
)

func ExampleWrite() {
	s := storetest.NewMemory()
	page := &store.Entry{Text: store.Pack([]byte("Skinks have smooth scales.")), Record: store.Record{
		ID:  dedup.HashOf([]byte("https://example.com/lizards")),
		URL: "https://example.com/lizards", Via: "http://example.com/lizards",
		Kind: store.Page, Status: 200, ContentType: "text/html",
		Lang: "en", Title: "Skinks & other lizards",
		Fetch: store.Fetch{
			FetchedAt: time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC),
			Words:     4, Hash: dedup.HashOf([]byte("skinks have smooth scales")),
		},
		Judged: store.Judged{Verdict: dedup.Thin},
	}}
	if _, err := s.Commit(context.Background(), []*store.Entry{page}); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := feed.Write(context.Background(), os.Stdout, s, feed.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"id":"7a680da8ff87452e5e8343ecd64b540b","url":"https://example.com/lizards","redirected_from":"http://example.com/lizards","fetched_at":"2025-06-01T12:00:00Z","status":200,"content_type":"text/html","lang":"en","title":"Skinks & other lizards","text":"Skinks have smooth scales.","words":4,"hash":"b48f023a0acabb9fcd2a96db13508ccb","verdict":"thin"}
}

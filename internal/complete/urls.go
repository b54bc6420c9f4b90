package complete

import (
	"context"
	"fmt"
	"sync"

	"skink/base/lru"
	"skink/dedup"
	"skink/store"
)

// urls reads the URLs of pages, and keeps the latest. It is safe for concurrent use.
type urls struct {
	mu   sync.Mutex
	kept *lru.Cache[dedup.Hash, string] // guarded by mu
}

// urlsBytes bounds the URLs that are kept.
const urlsBytes = 8 << 20

func (u *urls) of(ctx context.Context, from store.Reader, id dedup.Hash) (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept == nil {
		u.kept = lru.New[dedup.Hash](urlsBytes, func(url string) int { return len(url) + 200 })
	}
	if url, ok := u.kept.Get(id); ok {
		return url, nil
	}
	records, err := recordsOf(ctx, from, id)
	if err != nil {
		return "", err
	}
	u.kept.Put(id, records[0].URL)
	return records[0].URL, nil
}

// recordsOf returns the records of pages that were in the store during the comparison. So a missing
// record is an error.
func recordsOf(ctx context.Context, from store.Reader, ids ...dedup.Hash) (records []*store.Record, err error) {
	found, err := from.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return nil, err
	}
	for i, page := range found {
		if page == nil {
			return nil, fmt.Errorf("find the record of page %s: %w", ids[i], store.ErrCorrupt)
		}
		records = append(records, &page.Record)
	}
	return records, nil
}

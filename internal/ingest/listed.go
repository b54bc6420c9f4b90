package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"skink/dedup"
	"skink/store"
)

// # Pages listed in sitemaps
//
// Among copies, a page listed in a sitemap is preferred as leader; see package precedence. A page
// may be fetched before its sitemap is read, or long after. When a sitemap lists a stored page, the
// page's record is marked. For pages that arrive later, a set keeps 8 bytes of a hash for each
// listed URL. The set is in the store too, so a killed crawl can resume. A listed page stays listed
// even if a later sitemap omits it.
//
// The store keeps the hashes in numbered parts that never change. It also keeps the number of
// parts.

// maxListed is the maximum number of URLs in a [listing], which limits its memory to about 400 MB.
// Further URLs count as listed only if their pages are in the store when the sitemap is read.
const maxListed = 10_000_000

// listedAtOnce is the number of URLs in one part of the set, and in one question to the store.
const listedAtOnce = 1000

// listedName is the key of the number of parts in a store. The keys of the parts begin with it.
const listedName = "listed"

// A listing is the set of URLs listed in sitemaps, by the first 8 bytes of their ids.
type listing struct {
	mu    sync.Mutex
	urls  map[uint64]struct{} // guarded by mu
	parts int                 // guarded by mu: number of parts read so far
}

func shortID(id dedup.Hash) uint64 { return binary.LittleEndian.Uint64(id[:8]) }

func (l *listing) has(id dedup.Hash) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.urls[shortID(id)]
	return ok
}

// read reads the parts that have not been read yet.
func (l *listing) read(ctx context.Context, s store.Meta) error {
	n, err := store.MetaValue[int](ctx, s, listedName, "the URLs listed in sitemaps")
	if err != nil {
		return err
	}
	if l.urls == nil {
		l.urls = map[uint64]struct{}{}
	}
	for ; l.parts < n; l.parts++ {
		part, err := s.Meta(ctx, partName(l.parts))
		if err != nil {
			return err
		}
		for ; len(part) >= 8 && len(l.urls) < maxListed; part = part[8:] {
			l.urls[binary.LittleEndian.Uint64(part)] = struct{}{}
		}
	}
	return nil
}

func partName(n int) string { return fmt.Sprintf("%s %d", listedName, n) }

// add writes the new ids to the store as one part.
func (l *listing) add(ctx context.Context, s store.Meta, ids []dedup.Hash) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := l.read(ctx, s); err != nil {
			return err
		}
		var number, part []byte
		if l.parts > 0 {
			number = []byte(strconv.Itoa(l.parts))
		}
		for _, id := range ids {
			if _, ok := l.urls[shortID(id)]; !ok && len(l.urls)+len(part)/8 < maxListed {
				part = binary.LittleEndian.AppendUint64(part, shortID(id))
			}
		}
		if part == nil {
			return nil
		}
		// Another worker may have written a part with this number, and may have been killed before
		// it updated the number of parts. If so, count its part here; the new part then gets the
		// next number.
		err := s.SwapMeta(ctx, partName(l.parts), nil, part)
		if err == nil || errors.Is(err, store.ErrChanged) {
			err = s.SwapMeta(ctx, listedName, number, []byte(strconv.Itoa(l.parts+1)))
		}
		if err != nil && !errors.Is(err, store.ErrChanged) {
			return fmt.Errorf("store the entries of a sitemap: %w", err)
		}
	}
}

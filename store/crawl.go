package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Crawl identifies one of the crawls that filled a store. The first crawl creates the store, and
// each later crawl visits the pages again. A crawl may take several runs, because a run can be
// interrupted.
type Crawl struct {
	Number int       `json:"number"`         // 1 for the first crawl
	Began  time.Time `json:"began,omitzero"` // when the crawl began; may be zero for the first crawl
}

// crawlName is the name of the [Meta] value with the last crawl. A store without this value has had
// only one crawl.
const crawlName = "crawl"

// LastCrawl returns the last crawl of a store, which may still be running.
func LastCrawl(ctx context.Context, s MetaReader) (Crawl, error) {
	c, _, err := lastCrawl(ctx, s)
	return c, err
}

func lastCrawl(ctx context.Context, s MetaReader) (c Crawl, text []byte, err error) {
	c.Number = 1
	if text, err = s.Meta(ctx, crawlName); err != nil || len(text) == 0 {
		return c, text, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, text, fmt.Errorf("read the number of the last crawl: %w: %v", ErrCorrupt, err)
	}
	return c, text, nil
}

// BeginCrawl records that a crawl began at the given time. If the last crawl began at that time,
// BeginCrawl changes nothing. In a store without records, the new crawl is the first.
func BeginCrawl(ctx context.Context, s Store, at time.Time) error {
	for {
		last, old, err := lastCrawl(ctx, s)
		if err != nil || last.Began.Equal(at) {
			return err
		}
		tally, err := s.Tally(ctx)
		if err != nil {
			return err
		}
		next := Crawl{last.Number + 1, at.UTC()}
		if tally.Records() == 0 {
			next.Number = last.Number
		}
		text, err := json.Marshal(next)
		if err == nil {
			err = s.SwapMeta(ctx, crawlName, old, text)
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

package store

import (
	"context"
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
	c, err := ReadMeta[Crawl](ctx, s, crawlName, lastCrawl)
	if c == nil {
		return Crawl{Number: 1}, err
	}
	return *c, nil
}

const lastCrawl = "the number of the last crawl" // in errors

// BeginCrawl records that a crawl began at the given time. If the last crawl began at that time,
// BeginCrawl changes nothing. In a store without records, the new crawl is the first.
func BeginCrawl(ctx context.Context, s Store, at time.Time) error {
	return ChangeMeta(ctx, s, crawlName, lastCrawl, func(last *Crawl) (*Crawl, error) {
		if last == nil {
			last = &Crawl{Number: 1}
		}
		if last.Began.Equal(at) {
			return nil, nil
		}
		tally, err := s.Tally(ctx)
		next := &Crawl{last.Number + 1, at.UTC()}
		if tally.Records() == 0 {
			next.Number = last.Number
		}
		return next, err
	})
}

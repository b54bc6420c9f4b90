package crawler

import (
	"context"

	"skink/frontier"
)

// Get fetches one page at a user's request, and follows its redirects. It is not meant for
// crawling, because it ignores robots.txt and does not retry. If the fetch fails, Get returns a
// page with a Problem, not an error.
func Get(ctx context.Context, url string, opt Options) (*Page, error) {
	f, err := newFetcher(opt)
	if err != nil {
		return nil, err
	}
	defer f.close()
	item := frontier.Item{URL: url}
	for {
		p := f.fetch(ctx, item)
		if p.Problem != "" || p.Location == "" {
			return p, ctx.Err()
		}
		item = frontier.Item{URL: p.Location, Via: url, Hops: item.Hops + 1}
	}
}

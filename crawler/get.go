package crawler

import (
	"context"

	"skink/frontier"
)

// Get fetches one page that a person named, and follows its redirects. It is for looking at a page,
// not for crawling: robots.txt is not asked, and nothing is tried again. What went wrong is in the
// page's Problem.
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

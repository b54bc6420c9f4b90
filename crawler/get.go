package crawler

import (
	"context"

	"skink/crawler/wire"
	"skink/frontier"
)

// Get fetches one page that a user named, and follows its redirects. It is for looking at a page,
// not for crawling: it ignores robots.txt and does not retry. A failed fetch is not an error: it
// sets the page's Problem.
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

// Replay returns the page that a crawl with opt would make from a stored answer: it decodes the
// body up to opt.MaxSize, and sets the status, redirect or problem.
func Replay(item frontier.Item, a wire.Answer, opt Options) (page *Page) {
	page = &Page{Item: item, FetchedAt: a.At}
	defer func() {
		if v := recover(); v != nil {
			page = &Page{Item: item, FetchedAt: a.At}
			page.fail(&panicError{item.URL, v})
		}
	}()
	opt = opt.orDefaults()
	page.fill(wire.Replay(a, opt.MaxSize, opt.Timeout))
	return page
}

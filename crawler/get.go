package crawler

import (
	"context"

	"skink/crawler/wire"
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

// Replay makes of an answer the page that a crawl would make of it by opt: its content coding is
// taken away, within opt.MaxSize, and what it says of the URL is understood.
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

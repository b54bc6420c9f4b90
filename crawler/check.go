package crawler

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"skink/crawler/wire"
	"skink/frontier"
)

// # What is only checked
//
// A page names more than is fetched: its pictures, style sheets and scripts, and pages of other
// sites. Whether these answer can be asked without fetching them, by HEAD. They are items of the
// frontier as all others are, so they are asked for as politely, and robots.txt is obeyed. Where
// they lead to is not followed. A server that refuses HEAD is asked again by GET, when its host may
// be asked again, and little of the answer is read.
//
// A file of a page may turn out to be a page of the crawl. Then it is fetched as one, because a URL
// is known to the frontier once, and a link to it that comes later would not fetch it.

// checkLimit is how much is read of an answer to a GET that was to be a HEAD.
const checkLimit = 4 << 10

// check asks whether a URL is there.
func (f *fetcher) check(ctx context.Context, item frontier.Item) *Page {
	page := f.ask(ctx, item, http.MethodHead)
	if refusesHead(page.Status) && f.again(ctx, item) {
		page = f.ask(ctx, item, http.MethodGet)
	}
	if f.isPage(page) && f.again(ctx, item) {
		item.Kind = frontier.Page
		return f.fetch(ctx, item)
	}
	return page
}

// again waits until the host of an item may be asked again, and says whether that time came.
func (f *fetcher) again(ctx context.Context, item frontier.Item) bool {
	return f.hop == nil || f.hop(ctx, frontier.HostOf(item.URL)) == nil
}

// refusesHead says whether a server may have an answer to GET although it gave none to HEAD.
func refusesHead(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}

// isPage says whether what was checked is a page of the crawl.
func (f *fetcher) isPage(page *Page) bool {
	o := &f.opt
	return page.Problem == "" && page.Location == "" && o.Scope != nil && o.Scope.Contains(page.Item.URL) &&
		(o.MaxDepth == 0 || page.Item.Depth <= o.MaxDepth) &&
		isHTML(page.Header.Get("Content-Type"))
}

// ask asks for a URL by a method, and keeps nothing of what it answers but how.
func (f *fetcher) ask(ctx context.Context, item frontier.Item, method string) *Page {
	page := &Page{Item: item, FetchedAt: time.Now()}
	ctx, clock, cancel := wire.StartClock(ctx, f.opt.Timeout, f.opt.Timeout)
	defer cancel()
	request, err := wire.NewRequest(ctx, item.URL, f.pageHeader)
	if err != nil {
		page.fail(err)
		return page
	}
	request.Method = method
	x := &wire.Exchange{Request: request, Limit: checkLimit, Clock: clock}
	err = f.wire.Do(x)
	page.Took = clock.Used()
	if err != nil {
		page.fail(err)
		return page
	}
	x.Body, x.BodyErr, x.Raw = nil, nil, nil
	page.fill(x)
	page.Promised = promised(page)
	return page
}

// promised is how many bytes an answer says that its body has; 0: it does not say. Those of a
// packed body are not those of the file.
func promised(page *Page) int64 {
	if page.Status != http.StatusOK || page.Header.Get("Content-Encoding") != "" {
		return 0
	}
	n, err := strconv.ParseInt(page.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// isHTML says whether a Content-Type is that of a page with links.
func isHTML(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

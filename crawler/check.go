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

// # Links that are only checked
//
// A page links to more than the crawl fetches: pictures, style sheets, scripts, and pages of other
// sites. A HEAD request finds out whether these exist without fetching them. They are items of the
// frontier like all others, so the same delays and robots.txt apply. Redirects are not followed. If
// a server refuses HEAD, the URL is requested by GET after the host's rest, and only the beginning
// of the answer is read.
//
// A checked file may turn out to be a page of the crawl. It is then fetched as one: the frontier
// keeps each URL only once, so a later link to it would not fetch it.

// checkLimit is how many bytes of a body are read if a URL is checked by GET, because the server
// refuses HEAD.
const checkLimit = 4 << 10

// check requests a URL by HEAD, then by GET if the server refuses HEAD or the URL is a page of the
// crawl.
func (f *fetcher) check(ctx context.Context, item frontier.Item) *Page {
	page := f.ask(ctx, item, http.MethodHead)
	if refusesHead(page.Status) && f.waitFor(ctx, item.URL) == nil {
		page = f.ask(ctx, item, http.MethodGet)
	}
	if f.isPage(page) && f.waitFor(ctx, item.URL) == nil {
		item.Kind = frontier.Page
		return f.fetch(ctx, item)
	}
	return page
}

// refusesHead reports whether a server that answers HEAD with this status may answer GET with
// another.
func refusesHead(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}

// isPage reports whether a URL that was only checked, or fetched as a requisite, is a page of the
// crawl.
func (f *fetcher) isPage(page *Page) bool {
	o := &f.opt
	return page.Problem == "" && page.Location == "" && o.Scope != nil && o.Scope.Contains(page.Item.URL) &&
		(o.MaxDepth == 0 || page.Item.Depth <= o.MaxDepth) &&
		isHTML(page.Header.Get("Content-Type"))
}

// ask makes one request for a URL, and records the status and header of the answer. The body is
// dropped.
func (f *fetcher) ask(ctx context.Context, item frontier.Item, method string) *Page {
	page := &Page{Item: item, FetchedAt: time.Now()}
	ctx, clock, cancel := wire.StartClock(ctx, f.opt.Timeout, f.opt.Timeout)
	defer cancel()
	request, err := f.request(ctx, method, item.URL, f.pageHeader)
	if err != nil {
		page.fail(err)
		return page
	}
	x := &wire.Exchange{Request: request, Limit: checkLimit, Clock: clock}
	err = f.do(x)
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

// promised returns the Content-Length of a successful answer, or 0 if it has none. The length of a
// compressed body is not that of the file, so it counts as none.
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

// isHTML reports whether a Content-Type is HTML or XHTML.
func isHTML(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

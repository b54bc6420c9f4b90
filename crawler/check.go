package crawler

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"skink/frontier"
)

// # Links that are only checked
//
// A page also links to URLs that the crawl does not fetch: images, style sheets, scripts, and
// pages of other sites. A HEAD request shows whether such a URL exists. These URLs are items of the
// frontier like all others, so delays and robots.txt apply to them too. Redirects are not followed.
// If a server refuses HEAD, the URL is requested with GET after its host's delay, and only the
// beginning of the response is read.
//
// If a checked URL turns out to be a page of the crawl, it is fetched as a page at once. A later
// link could not queue it again, because the frontier keeps each URL only once.

// checkLimit is the maximum number of bytes read from a body when a URL is checked with GET because
// the server refuses HEAD.
const checkLimit = 4 << 10

// check requests a URL with HEAD, and then with GET if the server refuses HEAD. If the URL is a
// page of the crawl, check fetches the page.
func (f *fetcher) check(ctx context.Context, item frontier.Item) *Page {
	page := f.checkBy(ctx, item, http.MethodHead)
	// A server that answers HEAD with one of these may answer GET with another status.
	if slices.Contains([]int{http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}, page.Status) {
		page = f.again(page, f.checkBy(ctx, item, http.MethodGet))
	}
	if f.isPage(page) {
		item.Kind = frontier.Page
		return f.again(page, f.fetch(ctx, item))
	}
	return page
}

// isPage reports whether a URL that was only checked, or fetched as a requisite, is a page of the
// crawl.
func (f *fetcher) isPage(page *Page) bool {
	url := page.Item.URL
	return page.Problem == "" && page.Location == "" && f.opt.Scope != nil && isHTML(page.Header.Get("Content-Type")) &&
		f.opt.refuse(url, forPage, url, page.Item.Depth) == ""
}

// checkBy makes one request for a URL, and returns a page with the status and header of the
// response, without the body.
func (f *fetcher) checkBy(ctx context.Context, item frontier.Item, method string) *Page {
	page := &Page{Item: item, FetchedAt: time.Now()}
	x, err := f.send(ctx, ask{url: item.URL, purpose: forCheck, method: method, limit: checkLimit})
	if !page.sent(x, err) {
		return page
	}
	x.Body, x.BodyErr, x.Raw = nil, nil, nil
	page.fill(x, false)
	page.Promised = promised(page)
	return page
}

// promised returns the Content-Length of a successful response, or 0 if it has none. It returns 0
// for a compressed body too, because the length of such a body is not the length of the file.
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

func isHTML(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/html" || media == "application/xhtml+xml"
}

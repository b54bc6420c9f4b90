package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skink/crawler/sitemap"
	"skink/crawler/wire"
	"skink/frontier"
)

// # Sitemaps
//
// If a seed is the home page of a host, the crawl looks for the host's sitemaps after it has
// fetched the seed. It uses the sitemaps in robots.txt, and /sitemap.xml. It first reads only a few
// kilobytes of /sitemap.xml, so nothing is recorded if that file is not a sitemap. Sitemaps are
// items of the frontier, so a restarted crawl resumes them. The URLs of a sitemap are queued while
// it is read, and the sitemap is marked as done last. If the crawl is killed before that, the
// sitemap is read again, and the frontier ignores the URLs that it already has.
//
// A sitemap may list URLs of any host. URLs outside the crawl are counted and ignored. An index
// file lists sitemaps, which may be index files again, up to maxSitemapDepth.
const (
	maxSitemapDepth = 3    // maximum depth of nested index files
	maxSitemaps     = 1000 // maximum number of sitemaps read from one host in one run; enough for 50 million pages
	listedAtOnce    = 1000 // maximum number of URLs queued in one call to the frontier
	guessed         = "/sitemap.xml"
)

// Listed counts the URLs that a sitemap lists.
type Listed struct {
	Pages    int   // number of pages that belong to the crawl
	Sitemaps int   // number of sitemaps that belong to the crawl
	New      int   // number of these pages and sitemaps that were not in the frontier
	Outside  int   // number of entries that are outside the scope or are not valid URLs
	Cut      error // reason why the sitemap was not read to the end; nil if it was read to the end

	URLs []string // canonical URLs of the pages that belong to the crawl, in sitemap order

	on map[string]bool // hosts of the new URLs
}

func (l *Listed) hosts() []string {
	if l == nil {
		return nil
	}
	return slices.Collect(maps.Keys(l.on))
}

// String returns the counts in one line.
func (l *Listed) String() string {
	text := fmt.Sprintf("lists %d pages", l.Pages)
	if l.Sitemaps > 0 {
		text += fmt.Sprintf(" and %d sitemaps", l.Sitemaps)
	}
	text += fmt.Sprintf(", %d of them new", l.New)
	if l.Outside > 0 {
		text += fmt.Sprintf("; %d outside the crawl", l.Outside)
	}
	if l.Cut != nil {
		text += "; " + l.Cut.Error()
	}
	return text
}

// findSitemaps looks for a host's sitemaps if the page is a seed and the host's home page, and
// stores their URLs in the page.
func (c *Crawl) findSitemaps(ctx context.Context, t *turn, page *Page) {
	item := t.item
	if !c.opt.Sitemaps || c.opt.Scope == nil || t.host.folder || item.Depth > 0 || item.Kind != frontier.Page || page.Status == 0 || pause(page.Status, page.Header) > 0 || !frontier.IsRoot(item.URL) {
		return
	}
	base, err := frontier.NewBase(item.URL, "", "")
	if err != nil {
		return
	}
	add := func(named string) {
		if url, err := base.Resolve(named); err == nil && c.opt.refuse(url, forSitemap, item.URL, 0) == "" && !slices.Contains(page.Sitemaps, url) && c.roomForSitemap(t.host.name) {
			page.Sitemaps = append(page.Sitemaps, url)
		}
	}
	if !c.opt.IgnoreRobots {
		rules, err := c.robots.get(ctx, item.URL)
		if err != nil {
			return
		}
		for _, named := range rules.Sitemaps() {
			add(named)
		}
	}
	guess, err := base.Resolve(guessed)
	if err != nil || slices.Contains(page.Sitemaps, guess) || c.peek == nil {
		return
	}
	if c.peek(ctx, guess) {
		add(guess)
	}
}

// roomForSitemap counts a sitemap of a host. It returns false if the host already has maxSitemaps.
func (c *Crawl) roomForSitemap(host string) bool {
	c.sitemapsMu.Lock()
	defer c.sitemapsMu.Unlock()
	if c.sitemaps[host] >= maxSitemaps {
		return false
	}
	c.sitemaps[host]++
	return true
}

const peekAt = 4 << 10

// peek requests a URL, and reports whether the response begins like a sitemap, or redirects to a
// URL that contains "sitemap".
func (f *fetcher) peek(ctx context.Context, url string) bool {
	x, err := f.send(ctx, ask{url: url, purpose: forGuess, limit: peekAt})
	if err != nil {
		return false
	}
	if isRedirect(x.Status) {
		to, err := location(url, x.Header)
		return err == nil && to != url && strings.Contains(strings.ToLower(to), "sitemap")
	}
	return wire.IsPage(x.Status) && isSitemap(x.Body)
}

func isSitemap(head []byte) bool {
	for _, err := range sitemap.Read(bytes.NewReader(head)) {
		return err == nil || !errors.Is(err, sitemap.ErrNone)
	}
	return len(head) > 0
}

func (c *Crawl) readSitemap(ctx context.Context, page *Page) error {
	item := page.Item
	switch {
	case c.opt.Scope == nil, page.Location != "", page.Problem != "" && page.Problem != ProblemSize:
		return nil
	case item.Kind == frontier.Sitemap:
	case item.Kind == frontier.Page && item.Depth == 0 && c.opt.Sitemaps && page.Problem == "" && sitemap.Begins(page.Body):
	default:
		return nil
	}
	base, err := frontier.NewBase(item.URL, "", "")
	if err != nil {
		return err
	}
	l := &Listed{on: map[string]bool{}}
	var batch []frontier.Item
	for e, err := range sitemap.Read(bytes.NewReader(page.Body)) {
		if err != nil {
			if errors.Is(err, sitemap.ErrNone) {
				page.Problem, page.Detail = ProblemSitemap, cut(err.Error())
				return nil
			}
			l.Cut = err
			break
		}
		if next, ok := c.listed(base, item, &e, l); ok {
			batch = append(batch, next)
		}
		if len(batch) == listedAtOnce {
			if err := c.queue(ctx, l, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	page.Listed = l
	return c.queue(ctx, l, batch)
}

// listed counts an entry of a sitemap, and returns the item to queue for it. It returns false if
// the entry must not be queued.
func (c *Crawl) listed(base *frontier.Base, from frontier.Item, e *sitemap.Entry, l *Listed) (frontier.Item, bool) {
	url, err := base.Resolve(e.URL)
	if err == nil && c.opt.Learned != nil && !e.Index {
		url = c.opt.Learned.Clean(url)
	}
	purpose := forPage
	if e.Index {
		purpose = forSitemap
	}
	switch {
	case err != nil, c.opt.refuse(url, purpose, from.URL, 0) != "":
		l.Outside++
		return frontier.Item{}, false
	case !e.Index:
		l.Pages++
		l.URLs = append(l.URLs, url)
		return frontier.Item{URL: url, From: c.opt.referrer(from.URL), Depth: 1, Priority: c.opt.Scope.Priority(url)}, true
	case from.Depth+1 >= maxSitemapDepth:
		l.Cut = fmt.Errorf("sitemap index files are nested more than %d levels deep: deeper ones were not read", maxSitemapDepth)
		return frontier.Item{}, false
	case !c.roomForSitemap(frontier.HostOf(from.URL)):
		l.Cut = fmt.Errorf("the host lists more than %d sitemaps: the others were not read", maxSitemaps)
		return frontier.Item{}, false
	}
	l.Sitemaps++
	return frontier.Item{URL: url, From: c.opt.referrer(from.URL), Depth: from.Depth + 1, Kind: frontier.Sitemap, Priority: from.Priority}, true
}

// queue adds items from a sitemap to the frontier.
func (c *Crawl) queue(ctx context.Context, l *Listed, items []frontier.Item) error {
	if len(items) == 0 {
		return nil
	}
	n, err := c.front.Discover(ctx, items)
	if err != nil {
		return fmt.Errorf("queue the URLs of a sitemap: %w", err)
	}
	if l.New += n; n > 0 {
		for _, it := range items {
			l.on[frontier.HostOf(it.URL)] = true
		}
	}
	return nil
}

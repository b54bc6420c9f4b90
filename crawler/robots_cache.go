package crawler

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"skink/base/lru"
	"skink/crawler/robots"
	"skink/frontier"
)

// These constants define how long a robots.txt response is valid (RFC 9309, sections 2.4 and
// 2.3.1.4), and limit the cache. The RFC also allows a crawler to use Cache-Control, and to treat a
// file as missing after it has been unreachable for thirty days. This cache does neither: nothing
// is fetched from the site until the file can be read.
const (
	robotsLifetime = 24 * time.Hour      // how long the response from a site is valid
	robotsRetry    = 10 * time.Minute    // time after which the file is requested again from a site that did not answer
	robotsLongest  = 30 * 24 * time.Hour // how long the last robots.txt of a site is used while the site does not answer
	robotsMemory   = 160 << 20           // total size of the cached rules in bytes; if a crawl has more, it fetches robots.txt more often
)

// A robotsFetch is a function that fetches a robots.txt. It follows up to five redirects, and has
// its own timeout. It reads up to robots.MaxBytes+1 bytes of a body, so that [robots.Parse] can
// detect that the last line was cut.
type robotsFetch func(ctx context.Context, robotsURL string) (status int, body []byte, err error)

// A robotsUnreachableError means that the rules of a site are unknown, because its robots.txt could
// not be fetched. No page of the site may be fetched until that file has been fetched. The site's
// URLs are tried again later.
type robotsUnreachableError struct {
	origin string // such as "https://example.com"
	err    error
}

func (e *robotsUnreachableError) Error() string {
	return fmt.Sprintf("fetch robots.txt of %s: %v", e.origin, e.err)
}

func (e *robotsUnreachableError) Unwrap() error { return e.err }

// robotsFor returns the rules that follow from a robots.txt response (RFC 9309, section 2.3.1). The
// result found reports whether the site has a robots.txt. An error means that the rules are
// unknown, and nothing is allowed.
//
//   - 2xx: The body is parsed, whatever it contains.
//   - 3xx: A redirect cannot be followed, or there were more than five. That counts as no file, so
//     everything is allowed.
//   - 4xx: There is no file, so everything is allowed. This includes 401 and 403: a server that
//     protects robots.txt protects its pages too. But 429 means that the server is overloaded, so
//     nothing is allowed.
//   - Any other status, or no response: The rules are unknown.
func robotsFor(status int, body []byte, err error) (rules *robots.Rules, found bool, _ error) {
	switch {
	case err != nil:
		return nil, false, err
	case status >= 200 && status < 300:
		return robots.Parse(body), true, nil
	case status >= 300 && status < 500 && status != 429:
		return &robots.Rules{}, false, nil
	}
	return nil, false, robotsStatus{status, nil}
}

// robotsStatus means that the robots.txt response has a status that leaves the rules unknown.
type robotsStatus struct {
	status int
	header http.Header // with the field Retry-After, if the response has it
}

func (e robotsStatus) Error() string {
	if e.header == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return fmt.Sprintf("status %d, Retry-After %s", e.status, cut(e.header.Get("Retry-After")))
}

// A robotsCache caches the rules of recently used sites. If several calls to get need the same
// robots.txt at the same time, only one of them fetches the file.
type robotsCache struct {
	fetch robotsFetch
	now   func() time.Time

	asking fetches                          // its mutex guards kept
	kept   *lru.Cache[string, *robotsEntry] // by origin, such as "https://example.com"
}

// A robotsEntry does not change once it is in the cache.
type robotsEntry struct {
	until  time.Time     // when rules or err expire
	rules  *robots.Rules // nil if err is set
	err    error         // reason why the rules are unknown
	copied time.Time     // when the robots.txt with these rules was fetched; zero if the rules are not from a file
}

func newRobotsCache(fetch robotsFetch, now func() time.Time, bytes int) *robotsCache {
	return &robotsCache{fetch: fetch, now: now, kept: lru.New[string](bytes, (*robotsEntry).weigh)}
}

// weigh returns the size of an entry in bytes.
func (e *robotsEntry) weigh() int { return 500 + 100*e.rules.Size() }

// A robotsAnswer is what the robots.txt of a host says about one URL.
type robotsAnswer struct {
	used      bool          // whether there was a robots.txt to ask; all else is zero otherwise
	forbidden bool          // whether this crawler must not fetch the URL
	hidden    bool          // whether search engines must not fetch it
	delay     time.Duration // Crawl-delay for this crawler
	signals   string        // see [robots.Rules.Signals]
}

// about returns what robots.txt says about a URL. If the crawl ignores the file for the URL's host, with
// a reason, nothing is forbidden, and the file need not be there.
func (c *robotsCache) about(ctx context.Context, o *Options, url string) (a robotsAnswer, err error) {
	if c == nil || o.IgnoreRobots {
		return a, nil
	}
	host := frontier.HostOf(url)
	overridden := o.Hosts.For(host).Robots != ""
	rules, err := c.get(ctx, url)
	switch {
	case err != nil && overridden && ctx.Err() == nil:
		return a, nil
	case err != nil:
		return a, err
	}
	agent := o.AgentFor(host)
	return robotsAnswer{
		used: true, forbidden: !overridden && !rules.Allowed(agent, url), hidden: !rules.Allowed(searchEngine, url),
		delay: rules.CrawlDelay(agent), signals: rules.Signals(agent),
	}, nil
}

// get returns the rules for a canonical URL, and fetches them if they are missing or expired. It
// fails with a [robotsUnreachableError] if they cannot be fetched, or if ctx ends.
func (c *robotsCache) get(ctx context.Context, url string) (rules *robots.Rules, err error) {
	origin := strings.Clone(frontier.Origin(url))
	known := func() bool {
		e, ok := c.kept.Get(origin)
		if ok = ok && c.now().Before(e.until); ok {
			rules, err = e.rules, e.err
		}
		return ok
	}
	if c.asking.once(ctx, origin, known, func() { rules, err = c.refresh(ctx, origin) }) != nil {
		return nil, fmt.Errorf("fetch robots.txt of %s: %w", origin, ctx.Err())
	}
	return rules, err
}

// refresh fetches the rules of a site. If the fetch failed because ctx ended, nothing is stored.
func (c *robotsCache) refresh(ctx context.Context, origin string) (*robots.Rules, error) {
	status, body, err := c.fetch(ctx, origin+"/robots.txt")
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("fetch robots.txt of %s: %w", origin, ctx.Err())
	}
	rules, found, err := robotsFor(status, body, err)
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	before, known := c.kept.Take(origin)
	now := c.now()
	e := &robotsEntry{until: now.Add(robotsLifetime), rules: rules}
	switch {
	case err != nil && known && !before.copied.IsZero() && now.Sub(before.copied) <= robotsLongest: // the older copy stays in use
		*e = *before
		e.until = now.Add(robotsRetry)
	case err != nil:
		e.until, e.err = now.Add(robotsRetry), &robotsUnreachableError{origin, err}
	case found:
		e.copied = now
	}
	c.kept.Put(origin, e)
	return e.rules, e.err
}

// forget makes the next get fetch the robots.txt of a site again, if the last fetch failed.
func (c *robotsCache) forget(url string) {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	if e, ok := c.kept.Get(frontier.Origin(url)); ok && e.err != nil {
		c.kept.Take(frontier.Origin(url))
	}
}

// fetches makes several calls that need the same value fetch it only once.
type fetches struct {
	mu   sync.Mutex
	open map[string]chan struct{} // guarded by mu: closed when the fetch under way for the key ends
}

// once calls fetch, unless known reports that the value of the key is known by then. The mutex is
// locked during the call to known. If another call is fetching the value, once waits for it, and then
// asks known again. So no call fails because another one was canceled. once fails only if ctx ends
// while it waits.
func (f *fetches) once(ctx context.Context, key string, known func() bool, fetch func()) error {
	for {
		f.mu.Lock()
		if known() {
			f.mu.Unlock()
			return nil
		}
		pending := f.open[key]
		if pending == nil {
			if f.open == nil {
				f.open = map[string]chan struct{}{}
			}
			f.open[key] = make(chan struct{})
		}
		f.mu.Unlock()
		if pending == nil {
			defer f.end(key)
			fetch()
			return nil
		}
		select {
		case <-pending:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *fetches) end(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.open[key])
	delete(f.open, key)
}

package crawler

import (
	"container/list"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"skink/crawler/robots"
)

// These constants define how long a robots.txt response is valid (RFC 9309, sections 2.4 and
// 2.3.1.4), and limit the cache. The RFC also allows a crawler to use Cache-Control, and to treat a
// file as missing after it has been unreachable for thirty days. This cache does neither: nothing
// is fetched from the site until the file can be read.
const (
	robotsLifetime  = 24 * time.Hour      // how long the response from a site is valid
	robotsRetry     = 10 * time.Minute    // time after which the file is requested again from a site that did not answer
	robotsLongest   = 30 * 24 * time.Hour // how long the last robots.txt of a site is used while the site does not answer
	robotsMostHosts = 1 << 17             // maximum number of cached sites, at some 500 bytes each; if a crawl has more sites, it fetches robots.txt more often
	robotsMostRules = 1_000_000           // maximum number of rules in all cached files together; they take some 100 MB
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
	return nil, false, robotsStatus(status)
}

// robotsStatus means that the robots.txt response has a status that leaves the rules unknown.
type robotsStatus int

func (s robotsStatus) Error() string { return fmt.Sprintf("status %d", int(s)) }

// A robotsCache caches the rules of recently used sites. If several calls to get need the same
// robots.txt at the same time, only one of them fetches the file.
//
// The fetch runs in that call, with its context. If this context ends, one of the waiting calls
// fetches the file instead. So no call fails because another call was canceled, and no goroutine
// leaks.
type robotsCache struct {
	fetch    robotsFetch
	now      func() time.Time
	maxHosts int
	maxRules int

	mu     sync.Mutex               // guards the fields below and all entries
	hosts  map[string]*list.Element // elements of recent, by origin
	recent *list.List               // values are *robotsEntry, the most recently used first
	rules  int                      // number of rules in all entries
}

type robotsEntry struct {
	origin  string
	until   time.Time     // when rules or err expire; the zero value means that they have not been fetched yet
	rules   *robots.Rules // nil if err is set
	err     error         // reason why the rules are unknown
	copied  time.Time     // when the robots.txt with these rules was fetched; zero if the rules are not from a file
	pending chan struct{} // closed when the fetch under way ends; nil if no fetch is under way
}

func newRobotsCache(fetch robotsFetch, now func() time.Time) *robotsCache {
	return &robotsCache{
		fetch: fetch, now: now, maxHosts: robotsMostHosts, maxRules: robotsMostRules,
		hosts: make(map[string]*list.Element), recent: list.New(),
	}
}

// get returns the rules for a canonical URL, and fetches them if they are missing or expired. It
// fails with a [robotsUnreachableError] if they cannot be fetched, or if ctx ends.
func (c *robotsCache) get(ctx context.Context, rawURL string) (*robots.Rules, error) {
	origin, err := robotsOrigin(rawURL)
	if err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("fetch robots.txt of %s: %w", origin, err)
		}
		entry, pending, known := c.look(origin)
		switch {
		case known:
			return c.answer(entry)
		case pending == nil:
			return c.refresh(ctx, entry)
		}
		select {
		case <-pending:
		case <-ctx.Done():
		}
	}
}

// look returns the cache entry of an origin, and creates it if there is none. The result known is
// true if the entry is valid. Otherwise, if another call is fetching the file, pending will be
// closed when that call ends. If pending is nil, the caller must call refresh.
func (c *robotsCache) look(origin string) (entry *robotsEntry, pending chan struct{}, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.hosts[origin]; ok {
		c.recent.MoveToFront(element)
		entry = element.Value.(*robotsEntry)
	} else {
		entry = &robotsEntry{origin: origin}
		c.hosts[origin] = c.recent.PushFront(entry)
	}
	switch {
	case c.now().Before(entry.until):
		return entry, nil, true
	case entry.pending != nil:
		return entry, entry.pending, false
	}
	entry.pending = make(chan struct{})
	c.shrink()
	return entry, nil, false
}

func (c *robotsCache) answer(entry *robotsEntry) (*robots.Rules, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return entry.rules, entry.err
}

// refresh updates a cache entry. If the fetch failed because ctx ended, nothing is stored.
func (c *robotsCache) refresh(ctx context.Context, entry *robotsEntry) (*robots.Rules, error) {
	defer c.release(entry)
	status, body, err := c.fetch(ctx, entry.origin+"/robots.txt")
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("fetch robots.txt of %s: %w", entry.origin, ctx.Err())
	}
	rules, found, err := robotsFor(status, body, err)
	c.keep(entry, rules, found, err)
	return c.answer(entry)
}

// release records that the fetch for an entry has ended, and wakes the calls waiting for it.
func (c *robotsCache) release(entry *robotsEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(entry.pending)
	entry.pending = nil
}

// keep stores the result of a fetch. If the fetch failed, an older copy of the file stays in use,
// unless it is older than robotsLongest.
func (c *robotsCache) keep(entry *robotsEntry, rules *robots.Rules, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if err != nil {
		entry.until = now.Add(robotsRetry)
		if !entry.copied.IsZero() && now.Sub(entry.copied) <= robotsLongest {
			return
		}
		err = &robotsUnreachableError{entry.origin, err}
	} else {
		entry.until = now.Add(robotsLifetime)
	}
	entry.copied = time.Time{}
	if found {
		entry.copied = now
	}
	c.rules += rules.Size() - entry.rules.Size()
	entry.rules, entry.err = rules, err
	c.shrink()
}

// shrink removes the least recently used entries until the cache is within its limits. It keeps
// entries whose files are being fetched.
func (c *robotsCache) shrink() {
	element := c.recent.Back()
	for element != nil && (len(c.hosts) > c.maxHosts || c.rules > c.maxRules) {
		entry, before := element.Value.(*robotsEntry), element.Prev()
		if entry.pending == nil {
			c.recent.Remove(element)
			delete(c.hosts, entry.origin)
			c.rules -= entry.rules.Size()
		}
		element = before
	}
}

// robotsOrigin returns the part of a canonical URL to which one robots.txt applies: scheme, host
// and port (RFC 9309, 2.3).
func robotsOrigin(rawURL string) (string, error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok || scheme == "" {
		return "", fmt.Errorf("find robots.txt for %q: not an absolute URL", rawURL)
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if rest == "" {
		return "", fmt.Errorf("find robots.txt for %q: the URL has no host", rawURL)
	}
	return strings.Clone(scheme + "://" + rest), nil
}

// forget makes the next get fetch the robots.txt of a site again, if the last fetch failed.
func (c *robotsCache) forget(rawURL string) {
	origin, err := robotsOrigin(rawURL)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if element, ok := c.hosts[origin]; ok {
		if entry := element.Value.(*robotsEntry); entry.err != nil {
			entry.until = time.Time{}
		}
	}
}

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

// These constants say how long an answer to the request for robots.txt is valid (RFC 9309, 2.4 and
// 2.3.1.4), and bound the cache. The RFC permits using Cache-Control, and treating a file as
// missing after it was unreachable for thirty days. This cache does neither: nothing is fetched
// until the file can be read.
const (
	robotsLifetime  = 24 * time.Hour      // how long the answer of a site is valid
	robotsRetry     = 10 * time.Minute    // a site that did not answer is asked again after this time
	robotsLongest   = 30 * 24 * time.Hour // how long the last robots.txt of a site is used while the site does not answer
	robotsMostHosts = 1 << 17             // some 500 bytes each; with more hosts in rotation each file would be fetched again and again
	robotsMostRules = 1_000_000           // in all cached files together; about 100 MB
)

// A robotsFetch fetches one robots.txt. It follows up to five redirects, and has its own timeout.
// It reads robots.MaxBytes of a body plus one byte, which tells [robots.Parse] that the last line
// was cut.
type robotsFetch func(ctx context.Context, robotsURL string) (status int, body []byte, err error)

// A robotsUnreachableError means that the rules of a site are unknown, because its robots.txt could
// not be fetched. No page of the site may be fetched until that succeeds. The site's URLs are tried
// again later.
type robotsUnreachableError struct {
	origin string // "https://example.com"
	err    error
}

func (e *robotsUnreachableError) Error() string {
	return fmt.Sprintf("fetch robots.txt of %s: %v", e.origin, e.err)
}

func (e *robotsUnreachableError) Unwrap() error { return e.err }

// robotsFor returns the rules that follow from an answer to the request for robots.txt (RFC 9309,
// 2.3.1). found reports whether the site has a robots.txt. An error means that the rules are
// unknown, and nothing is allowed.
//
//   - 2xx: the file is parsed, whatever it contains.
//   - 3xx: a redirect that could not be followed, or more than five. That counts as no file.
//   - 4xx: there is no file, everything is allowed. This includes 401 and 403: they protect
//     robots.txt, and will protect the pages. But 429 means an overloaded server, so nothing is
//     allowed.
//   - Anything else, and no answer: unreachable.
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

// A robotsStatus is the error for an answer to the request for robots.txt whose status leaves the
// rules unknown.
type robotsStatus int

func (s robotsStatus) Error() string { return fmt.Sprintf("status %d", int(s)) }

// A robotsCache keeps the rules of recently used hosts. If many pages of a host wait for its
// robots.txt, one of them fetches it.
//
// The fetch runs in the call for that page, under its context. If the context ends, the next
// waiting page fetches instead. So no call fails because another was cancelled, and no goroutine
// leaks.
type robotsCache struct {
	fetch     robotsFetch
	now       func() time.Time
	mostHosts int
	mostRules int

	mu     sync.Mutex               // guards what follows, and all entries
	hosts  map[string]*list.Element // by origin
	recent *list.List               // of *robotsEntry, the most recently used first
	rules  int                      // sum of the entries' sizes
}

// robotsEntry holds the rules of one origin.
type robotsEntry struct {
	origin  string
	until   time.Time     // when rules or err expire; zero: not fetched yet
	rules   *robots.Rules // nil if err is set
	err     error         // why the rules are unknown
	copied  time.Time     // when the robots.txt in rules was fetched; zero: rules do not come from a file
	pending chan struct{} // closed when the fetch under way ends; nil: no fetch is under way
}

func newRobotsCache(fetch robotsFetch, now func() time.Time) *robotsCache {
	return &robotsCache{
		fetch: fetch, now: now, mostHosts: robotsMostHosts, mostRules: robotsMostRules,
		hosts: make(map[string]*list.Element), recent: list.New(),
	}
}

// get returns the rules for a canonical URL, and fetches them if they are missing or expired. The
// error is a [robotsUnreachableError] if they cannot be fetched, or that of ctx.
func (c *robotsCache) get(ctx context.Context, rawURL string) (*robots.Rules, error) {
	origin, err := robotsOrigin(rawURL)
	if err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("robots.txt of %s: %w", origin, err)
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

// look returns the cache entry of an origin, and creates it if there is none. known is true if the
// entry is valid. Otherwise pending is the channel to wait on if another call fetches the file; if
// pending is nil, the caller must call refresh.
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

// refresh fetches the robots.txt of a cache entry, and stores the result in the entry. If the fetch
// failed because ctx ended, nothing is stored.
func (c *robotsCache) refresh(ctx context.Context, entry *robotsEntry) (*robots.Rules, error) {
	defer c.release(entry)
	status, body, err := c.fetch(ctx, entry.origin+"/robots.txt")
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("robots.txt of %s: %w", entry.origin, ctx.Err())
	}
	rules, found, err := robotsFor(status, body, err)
	c.keep(entry, rules, found, err)
	return c.answer(entry)
}

// release ends the pending state of an entry and wakes the calls that wait for it.
func (c *robotsCache) release(entry *robotsEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(entry.pending)
	entry.pending = nil
}

// keep stores the result of a fetch. If the site did not answer, an older copy stays in use unless
// it is older than robotsLongest.
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

// shrink removes the least recently used entries until the cache is within its bounds. It keeps
// entries that are being fetched.
func (c *robotsCache) shrink() {
	element := c.recent.Back()
	for element != nil && (len(c.hosts) > c.mostHosts || c.rules > c.mostRules) {
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
		return "", fmt.Errorf("robots.txt of %q: not an absolute URL", rawURL)
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if rest == "" {
		return "", fmt.Errorf("robots.txt of %q: no host", rawURL)
	}
	return strings.Clone(scheme + "://" + rest), nil
}

// forget removes the failure of a site from the cache, if its last fetch of robots.txt failed, so
// that the next get fetches again.
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

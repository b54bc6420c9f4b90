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

// How long an answer to the request for robots.txt holds (RFC 9309, 2.4 and 2.3.1.4). The RFC
// permits to go by Cache-Control, and to take a file for missing that was out of reach for thirty
// days. Neither is done here: nothing is fetched until the file can be had.
const (
	robotsLifetime  = 24 * time.Hour      // of what the site answered
	robotsRetry     = 10 * time.Minute    // after which a site that did not answer is asked again
	robotsLongest   = 30 * 24 * time.Hour // of an older copy, while the site does not answer
	robotsMostHosts = 1 << 17             // with some 500 bytes each; more hosts in turn would ask for each file again and again
	robotsMostRules = 1_000_000           // in all files that are kept; about 100 MB
)

// A robotsFetch asks for one robots.txt. It follows up to five redirects, and has its own time
// limit. It reads robots.MaxBytes of a body and one byte more, by which [robots.Parse] knows that a
// line was cut.
type robotsFetch func(ctx context.Context, robotsURL string) (status int, body []byte, err error)

// A robotsUnreachableError says that nobody knows what a site wants, because its robots.txt could
// not be had. Nothing may be fetched from there until it can; its pages are to be tried again, not
// given up.
type robotsUnreachableError struct {
	origin string    // "https://example.com"
	until  time.Time // before which robots.txt is not asked for again; zero: unknown
	err    error
}

func (e *robotsUnreachableError) Error() string {
	return fmt.Sprintf("robots.txt of %s is out of reach: %v", e.origin, e.err)
}

func (e *robotsUnreachableError) Unwrap() error { return e.err }

// robotsFor says what an answer to the request for robots.txt means (RFC 9309, 2.3.1). found says
// whether they are the site's own words. An error means that nothing is known, and nothing allowed.
//
//   - 2xx: the file counts, whatever is in it.
//   - 3xx: there were more than five redirects, which counts as if there were no file.
//   - 4xx: there is no file, all is allowed. 401 and 403 too: they guard robots.txt, and will guard
//     the pages. But 429 is a server under load, and means the opposite of "all is allowed".
//   - Anything else, and no answer: out of reach.
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

// A robotsStatus is an answer to the request for robots.txt that says nothing about the rules.
type robotsStatus int

func (s robotsStatus) Error() string { return fmt.Sprintf("status %d", int(s)) }

// A robotsCache knows the rules of the hosts that were asked for lately. However many pages of a
// host wait for its robots.txt, one of them fetches it.
//
// The fetch runs in the call of that page, under its context. If that ends, the next page that
// waits fetches in its place. So no call fails because another was stopped, and no goroutine is
// left behind.
type robotsCache struct {
	fetch     robotsFetch
	now       func() time.Time
	mostHosts int
	mostRules int

	mu     sync.Mutex               // guards what follows, and all entries
	hosts  map[string]*list.Element // by origin
	recent *list.List               // of *robotsEntry, the last used first
	rules  int                      // sum of the entries' sizes
}

// robotsEntry is what is known of one origin.
type robotsEntry struct {
	origin  string
	until   time.Time     // when rules or err are out of date; zero: nothing known yet
	rules   *robots.Rules // nil if err is not
	err     error         // why there are no rules
	copied  time.Time     // when rules were fetched, if they are the site's own; zero: not
	pending chan struct{} // closed when the fetch under way ends; nil: none is
}

func newRobotsCache(fetch robotsFetch, now func() time.Time) *robotsCache {
	return &robotsCache{
		fetch: fetch, now: now, mostHosts: robotsMostHosts, mostRules: robotsMostRules,
		hosts: make(map[string]*list.Element), recent: list.New(),
	}
}

// get returns the rules for a canonical URL, fetching them if they are not known or out of date.
// The error is a [robotsUnreachableError] where nothing is known, or that of ctx.
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

// look finds the entry of an origin, or makes it. If it is neither known nor pending, it is now
// pending by the caller, who has to refresh it.
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

// refresh fetches the robots.txt of an entry that is pending by the caller. A fetch that failed
// because ctx ended says nothing about the site.
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

// release lets those who wait look again, whatever came of the fetch.
func (c *robotsCache) release(entry *robotsEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(entry.pending)
	entry.pending = nil
}

// keep writes down what a fetch has brought. The site's own words stay when it does not answer, as
// long as they are not too old.
func (c *robotsCache) keep(entry *robotsEntry, rules *robots.Rules, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if err != nil {
		entry.until = now.Add(robotsRetry)
		if !entry.copied.IsZero() && now.Sub(entry.copied) <= robotsLongest {
			return
		}
		err = &robotsUnreachableError{entry.origin, entry.until, err}
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

// shrink forgets the entries that were used longest ago until the cache is within its bounds, but
// for those that are being fetched.
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

// robotsOrigin is the part of a canonical URL that one robots.txt is for: scheme, host and port
// (RFC 9309, 2.3).
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

// forget makes the next get fetch, if all that is known is that there were no rules to be had.
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

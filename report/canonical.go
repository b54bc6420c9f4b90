package report

import (
	"context"
	"fmt"
	"strings"

	"skink/dedup"
	"skink/internal/harmless"
	"skink/store"
)

// # Canonicals
//
// A page may name its preferred URL (rel=canonical, RFC 6596). Many pages name a wrong one:
// templates put the home page there, or a page that moved. So the report compares each page with
// the crawled page at its canonical URL, and tells the owner of the site where the two do not
// match. A canonical URL that was not crawled is never reported as wrong.

// A Canonical counts the pages whose canonical URL is wrong in one way, such as naming a redirect.
type Canonical struct {
	Why    string `json:"why"`
	Pages  int64  `json:"pages"`
	URL    string `json:"url"`    // an example: the first such page that was read
	Target string `json:"target"` // the canonical URL of the page at URL
}

// Says returns Why with its verb in the number that fits Pages: "names …" for one page, else "name
// …".
func (c Canonical) Says() string {
	if c.Pages == 1 {
		return strings.Replace(c.Why, "name ", "names ", 1)
	}
	return c.Why
}

// sentence returns the end of a sentence whose beginning, such as "3 pages", the caller writes. It
// contains the example.
func (c Canonical) sentence() string {
	example := harmless.Line(c.URL) + " names " + harmless.Line(c.Target)
	if c.Pages == 1 {
		return c.Says() + ": " + example
	}
	return c.Says() + "; for example, " + example
}

// These are the values of Canonical.Why, in the order in which they are reported.
const (
	canonicalOther    = "name a page with another text"
	canonicalError    = "name a URL without a page"
	canonicalRedirect = "name a URL that redirects"
	canonicalChain    = "name a page that names another"
)

var canonicalWays = []string{canonicalOther, canonicalError, canonicalRedirect, canonicalChain}

// namedAtOnce is how many canonical URLs are looked up in the store with one call.
const namedAtOnce = 256

// canonicals compares the canonical URLs of pages with the records of these URLs in a store.
type canonicals struct {
	s       store.Reader
	waiting []*store.Record
	found   map[string]*Canonical // by Canonical.Why
}

// add queues r for [canonicals.check] if r is a page whose canonical URL is not its own URL.
func (c *canonicals) add(ctx context.Context, r *store.Record) error {
	if r.Kind != store.Page || r.CanonicalURL == "" || r.CanonicalURL == r.URL {
		return nil
	}
	kept := *r
	if c.waiting = append(c.waiting, &kept); len(c.waiting) < namedAtOnce {
		return nil
	}
	return c.check(ctx)
}

// check looks up the canonical URLs of all queued pages, and counts the wrong ones in found.
func (c *canonicals) check(ctx context.Context) error {
	if len(c.waiting) == 0 {
		return nil
	}
	ids := make([]dedup.Hash, len(c.waiting))
	for i, r := range c.waiting {
		ids[i] = dedup.HashOf([]byte(r.CanonicalURL))
	}
	targets, err := c.s.Pages(ctx, ids, store.WantRecord)
	if err != nil {
		return fmt.Errorf("look up canonicals: %w", err)
	}
	for i, r := range c.waiting {
		why := falseCanonical(r, targets[i])
		if why == "" {
			continue
		}
		if c.found[why] == nil {
			c.found[why] = &Canonical{Why: why, URL: r.URL, Target: r.CanonicalURL}
		}
		c.found[why].Pages++
	}
	c.waiting = c.waiting[:0]
	return nil
}

// Canonicals returns the kinds of wrong canonical URLs, with their counts, among the records that
// Hosts has read.
func (src stored) Canonicals(ctx context.Context) (all []Canonical, err error) {
	if err := src.named.check(ctx); err != nil {
		return nil, err
	}
	for _, why := range canonicalWays {
		if c := src.named.found[why]; c != nil {
			all = append(all, *c)
		}
	}
	return all, nil
}

// falseCanonical returns in which way the canonical URL of r is wrong. target is the page at that
// URL; nil: it was not crawled. The result is "" if the URL is right, or if that cannot be known.
func falseCanonical(r *store.Record, target *store.Content) string {
	switch {
	case target == nil:
		return ""
	case target.Record.Kind == store.Redirect:
		return canonicalRedirect
	case target.Record.Kind == store.Error || target.Record.Kind == store.Other:
		return canonicalError
	case target.Record.Kind != store.Page:
		return ""
	case clusterOf(r) != clusterOf(&target.Record):
		return canonicalOther
	case target.Record.CanonicalURL != "" && target.Record.CanonicalURL != target.Record.URL:
		return canonicalChain
	}
	return ""
}

// clusterOf returns the ID of the page that leads r's cluster, which is r's own ID unless r is a
// duplicate.
func clusterOf(r *store.Record) dedup.Hash {
	if r.Follows() {
		return r.Leader
	}
	return r.ID
}

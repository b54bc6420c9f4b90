package report

import (
	"context"
	"fmt"
	"strings"

	"skink/base/harmless"
	"skink/dedup"
	"skink/store"
)

// # Canonicals
//
// A page may name its preferred URL (rel=canonical, RFC 6596). Many pages name a wrong URL, for
// example the home page because of a faulty template, or a page that has moved. So the report
// compares each page with the crawled page at its canonical URL, and lists the pages where the two
// do not match. A canonical URL that was not crawled is never reported as wrong.

// A Canonical counts the pages whose canonical URL is wrong for the same reason, for example
// because it redirects.
type Canonical struct {
	Why    string `json:"why"`
	Pages  int64  `json:"pages"`
	URL    string `json:"url"`    // an example: the first of these pages
	Target string `json:"target"` // the canonical URL of the page at URL
}

// Says returns Why with a singular or plural verb, to match the number of pages.
func (c Canonical) Says() string {
	if c.Pages == 1 {
		return strings.Replace(c.Why, "have ", "has ", 1)
	}
	return c.Why
}

func (c Canonical) sentence() string {
	example := harmless.Line(c.URL) + " names " + harmless.Line(c.Target)
	if c.Pages == 1 {
		return c.Says() + ": " + example
	}
	return c.Says() + "; for example, " + example
}

// These are the values of [Canonical.Why], in report order.
const (
	canonicalOther    = "have a canonical URL whose page has different text"
	canonicalError    = "have a canonical URL that is not a page"
	canonicalRedirect = "have a canonical URL that redirects"
	canonicalChain    = "have a canonical URL whose page has a different canonical URL"
)

var canonicalWays = []string{canonicalOther, canonicalError, canonicalRedirect, canonicalChain}

// namedAtOnce is the number of canonical URLs to look up with one call to the store.
const namedAtOnce = 256

// canonicals finds wrong canonical URLs. It collects records, and then looks up their canonical
// URLs in batches.
type canonicals struct {
	s       store.Reader
	waiting []*store.Record
	found   map[string]*Canonical // by Canonical.Why
}

// add adds a record whose canonical URL must be checked. It ignores a record that has no canonical
// URL, or whose canonical URL is its own URL.
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

// check looks up the canonical URLs of all waiting records, and adds the wrong ones to found.
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

// list checks the records that are still waiting, and returns the wrong canonical URLs.
func (c *canonicals) list(ctx context.Context) (all []Canonical, err error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	for _, why := range canonicalWays {
		if c := c.found[why]; c != nil {
			all = append(all, *c)
		}
	}
	return all, nil
}

// falseCanonical returns what is wrong with the canonical URL of r, as one of the constants above.
// The argument target is the crawled page at that URL. The result is "" if the URL is right, or if
// target is nil because the URL was not crawled.
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
	case r.Cluster() != target.Record.Cluster():
		return canonicalOther
	case target.Record.CanonicalURL != "" && target.Record.CanonicalURL != target.Record.URL:
		return canonicalChain
	}
	return ""
}

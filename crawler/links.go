package crawler

import (
	"fmt"
	"iter"

	"skink/frontier"
)

// # How links become URLs to fetch
//
// A page says where it leads in two ways: a redirect names one target, which [LeadsOf] takes up,
// and a document has links, which its reader hands to [Leads.Follow] as they stand there. Each is
// resolved to its canonical URL, and then either belongs to the crawl, as an item of the frontier,
// or is noted as beyond it: outside its scope, or too many links from a seed. So whoever reads
// pages knows nothing of scopes, and whoever decides on scopes reads no pages.

// Leads is what one page leads to. It is written with the page: in a store by its Commit, in a
// [frontier.Memory] by its End. One goroutine at a time uses it.
type Leads struct {
	Items  []frontier.Item // URLs of the crawl, each once
	Beyond []string        // canonical URLs outside the crawl, each once
	Cut    bool            // the page has more links than are followed

	from frontier.Item
	opt  *Options // nil: no links are followed
}

// Links is what a document leads to, as found in it.
type Links struct {
	Base  string                  // href of its <base>; "": it has none
	Hrefs iter.Seq2[string, bool] // in its order, each with whether it says rel=nofollow; nil: none
}

// LeadsOf begins what a page leads to by opt. Of a redirect that is all; of a document it is
// nothing yet. The error is that of opt.OnSeed.
func LeadsOf(p *Page, opt *Options) (*Leads, error) {
	l := &Leads{from: p.Item}
	if opt.Scope == nil {
		return l, nil
	}
	for _, url := range p.Sitemaps {
		l.Items = append(l.Items, frontier.Item{URL: url, Kind: frontier.Sitemap})
	}
	switch {
	case p.Instead != "":
		l.Items = append(l.Items, frontier.Item{URL: p.Instead, Depth: p.Item.Depth})
		return l, nil
	case p.Location != "":
		return l, l.redirect(p.Location, opt)
	}
	l.opt = opt
	return l, nil
}

// redirect takes up the target of a redirect. A seed's own site is its scope.
func (l *Leads) redirect(target string, opt *Options) error {
	scope, from := opt.Scope, l.from
	if from.Depth == 0 && !scope.Contains(target) && scope.Moved(from.URL, target) && !opt.trespasses(from.URL, target) {
		scope.AddSeed(target)
		if opt.OnSeed != nil {
			if err := opt.OnSeed(target); err != nil {
				return fmt.Errorf("remember that %s moved: %w", from.URL, err)
			}
		}
	}
	if !opt.leads(from.URL, target) {
		l.Beyond = append(l.Beyond, target)
		return nil
	}
	via := from.Via
	if via == "" {
		via = from.URL
	}
	l.Items = append(l.Items, frontier.Item{URL: target, Via: via, Depth: from.Depth, Hops: from.Hops + 1, Kind: from.Kind})
	return nil
}

// How much is looked at of a page's links. The longest lists of honest sites have some ten
// thousand; a page of 10 MB has room for a million, and with a long <base> each of them is a URL of
// kilobytes.
const (
	MaxLinks     = 100_000
	MaxLinkBytes = 8 << 20 // of the URLs that they lead to, resolved
)

// Follow takes up the links of the page's document. What cannot be resolved, and the page itself,
// are left out. The errors are those of [frontier.Canonical] for the page's URL.
func (l *Leads) Follow(links Links) error {
	if l.opt == nil || links.Hrefs == nil {
		return nil
	}
	base, err := frontier.NewBase(l.from.URL, links.Base)
	if err != nil {
		return err
	}
	seen := make(map[string]bool, 64) // as many as most pages have
	seen[l.from.URL] = true
	left, leftBytes := MaxLinks, MaxLinkBytes
	for href, nofollow := range links.Hrefs {
		if left == 0 {
			l.Cut = true
			break
		}
		left--
		if nofollow && l.opt.ObeyNoFollow {
			continue
		}
		url, err := base.Resolve(href)
		if err != nil {
			continue
		}
		if l.opt.Learned != nil {
			url = l.opt.Learned.Clean(url)
		}
		if seen[url] {
			continue
		}
		if leftBytes -= len(url); leftBytes < 0 {
			l.Cut = true
			break
		}
		seen[url] = true
		l.link(url)
	}
	return nil
}

// link takes up one link, which was not met before.
func (l *Leads) link(url string) {
	deepest := l.opt.MaxDepth > 0 && l.from.Depth >= l.opt.MaxDepth
	if !deepest && l.opt.leads(l.from.URL, url) {
		l.Items = append(l.Items, frontier.Item{URL: url, Depth: l.from.Depth + 1})
	} else {
		l.Beyond = append(l.Beyond, url)
	}
}

// depth is that of the items.
func (l *Leads) depth() int {
	if len(l.Items) > 0 {
		return l.Items[0].Depth
	}
	return l.from.Depth
}

// hosts lists the hosts of the items, each once: a page can lead to 100,000.
func (l *Leads) hosts() (hosts []string) {
	seen := map[string]bool{}
	for _, it := range l.Items {
		if h := frontier.HostOf(it.URL); !seen[h] {
			seen[h] = true
			hosts = append(hosts, h)
		}
	}
	return hosts
}

package crawler

import (
	"cmp"
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
	Asked  bool            // the page has links and asks to follow none, and that is obeyed

	// Targets is where the links lead, if [Links] asks for that: of each href in its turn, and then of
	// each file. It may end early, see Cut.
	Targets []Target

	from frontier.Item
	opt  *Options // nil: no links are looked at; without a Scope none is followed
}

// A Target is where a link leads.
type Target struct {
	URL   string // canonical; "": the link has none
	First int    // place in the list of the first target with this URL; -1: the page itself, or no URL
}

// Links is what a document leads to, as found in it.
type Links struct {
	Base  string                  // href of its <base>; "": it has none
	Hrefs iter.Seq2[string, bool] // in its order, each with whether it says rel=nofollow; nil: none
	Files iter.Seq[string]        // hrefs of what it is made of, which are not followed; nil: none

	NoFollow bool // the page asks everyone to follow nothing, which only Options.IgnoreNoFollow disobeys
	Targets  bool // fill [Leads.Targets]
}

// LeadsOf begins what a page leads to by opt. Of a redirect that is all; of a document it is
// nothing yet. The error is that of opt.OnSeed.
func LeadsOf(p *Page, opt *Options) (*Leads, error) {
	l := &Leads{from: p.Item}
	if p.Item.Kind == frontier.Check {
		return l, nil // it was asked for its own sake
	}
	if opt.Scope == nil {
		l.opt = opt
		return l, nil
	}
	for _, url := range p.Sitemaps {
		l.Items = append(l.Items, frontier.Item{URL: url, Kind: frontier.Sitemap})
	}
	if p.Location != "" {
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
			if err := opt.OnSeed(cmp.Or(from.Via, from.URL), target); err != nil {
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
	if l.opt == nil || links.Hrefs == nil && links.Files == nil {
		return nil
	}
	base, err := frontier.NewBase(l.from.URL, links.Base)
	if err != nil {
		return err
	}
	f := &following{
		Leads: l, base: base, targets: links.Targets,
		seen: make(map[string]seenURL, 64), // as many as most pages have
		left: MaxLinks, leftBytes: MaxLinkBytes,
	}
	f.seen[l.from.URL] = seenURL{first: -1, taken: true}
	if links.Targets {
		l.Targets = make([]Target, 0, 64) // likewise
	}
	obeyed := links.NoFollow && !l.opt.IgnoreNoFollow
	none := obeyed || l.opt.Scope == nil
	if links.Hrefs != nil {
		for href, nofollow := range links.Hrefs {
			l.Asked = obeyed
			how := followed
			if none || nofollow && l.opt.ObeyNoFollow {
				how = told
			}
			if !f.href(href, how) {
				return nil
			}
		}
	}
	if links.Files != nil && links.Targets {
		for href := range links.Files {
			if !f.href(href, asset) {
				return nil
			}
		}
	}
	return nil
}

// A use is what becomes of a link.
type use int

const (
	followed use = iota // it leads into the crawl, or beyond it
	told                // it is only told where it leads
	asset               // it is a file of the page, which may be checked
)

// A following is the links of one page on their way into its leads.
type following struct {
	*Leads
	base      *frontier.Base
	targets   bool
	seen      map[string]seenURL
	left      int // links that are still looked at
	leftBytes int
}

// A seenURL is what is known of a URL that was met.
type seenURL struct {
	first int  // place in Targets
	taken bool // it was taken up, or is not to be
}

// href takes up one link. It says whether to go on.
func (f *following) href(href string, how use) bool {
	if f.left--; f.left < 0 {
		f.Cut = true
		return false
	}
	if how == told && !f.targets {
		return true
	}
	url := f.resolve(href)
	if url == "" {
		f.tell(Target{First: -1})
		return true
	}
	before, known := f.seen[url]
	now := before
	if !known {
		if f.leftBytes -= len(url); f.leftBytes < 0 {
			f.Cut = true
			return false
		}
		now.first = len(f.Targets)
	} else if f.targets && before.first >= 0 {
		url = f.Targets[before.first].URL // a page may repeat a long URL very often
	}
	f.tell(Target{url, now.first})
	switch {
	case before.taken || how == told:
	case how == followed:
		now.taken = true
		f.link(url)
	case f.opt.CheckAssets && f.opt.Scope != nil && !f.opt.Scope.excludes(url):
		now.taken = true
		f.check(url)
	}
	if now != before || !known {
		f.seen[url] = now
	}
	return true
}

// tell notes where a link leads.
func (f *following) tell(t Target) {
	if f.targets {
		f.Targets = append(f.Targets, t)
	}
}

// resolve returns the canonical URL that a link leads to, "" if it has none.
func (f *following) resolve(href string) string {
	url, err := f.base.Resolve(href)
	if err != nil {
		return ""
	}
	if f.opt.Learned != nil {
		url = f.opt.Learned.Clean(url)
	}
	return url
}

// link takes up one link, which was not met before.
func (l *Leads) link(url string) {
	deepest := l.opt.MaxDepth > 0 && l.from.Depth >= l.opt.MaxDepth
	switch leads := l.opt.leads(l.from.URL, url); {
	case leads && !deepest:
		l.Items = append(l.Items, frontier.Item{URL: url, Depth: l.from.Depth + 1})
	case !leads && l.opt.CheckOthers && frontier.HostOf(url) != frontier.HostOf(l.from.URL) && !l.opt.Scope.excludes(url):
		l.check(url)
	default:
		l.Beyond = append(l.Beyond, url)
	}
}

// check lets it be asked whether a URL is there, wherever it is.
func (l *Leads) check(url string) {
	if !l.opt.trespasses(l.from.URL, url) {
		l.Items = append(l.Items, frontier.Item{URL: url, Depth: l.from.Depth + 1, Kind: frontier.Check})
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

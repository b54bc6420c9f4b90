package crawler

import (
	"cmp"
	"fmt"
	"iter"
	"strings"

	"skink/frontier"
)

// # From links to URLs to fetch
//
// A page leads to other URLs in two ways. A redirect has one target, which [LeadsOf] records. A
// document has links, which the caller passes to [Leads.Follow] as they are written. Each URL is
// resolved to its canonical form. If it belongs to the crawl, it becomes an item of the frontier.
// Otherwise it is listed in Beyond, because it is outside the scope, or too many links away from a
// seed. So code that parses pages need not know the scope, and the scope need not know how to parse
// pages.

// Leads holds the URLs that one page leads to. A store's Commit method stores them together with the
// page. Leads is not safe for concurrent use.
type Leads struct {
	Items  []frontier.Item // URLs that belong to the crawl, without duplicates
	Beyond []string        // URLs outside the crawl, without duplicates; see [frontier.Leave]
	Cut    bool            // the page has more links than are followed
	Asked  bool            // the page asks crawlers not to follow its links, so none are followed

	// Targets holds the target of each href in order, followed by the target of each file, if
	// [Links] asks for it. It may be incomplete; see Cut.
	Targets []Target

	from frontier.Item
	via  string   // see Options.referrer
	opt  *Options // if nil, links are ignored; if opt.Scope is nil, no links are followed
}

// A Target is the URL that a link leads to.
type Target struct {
	URL   string // canonical; "" means that the link cannot be resolved
	First int    // index in Targets of the first target with the same URL; -1 if the URL is empty or the page's own
}

// Links holds the links of a document, as written in the document.
type Links struct {
	Base    string                  // href of the document's <base>; "" means none
	Charset string                  // WHATWG name of the document's encoding, in which browsers write the queries of its links; "" means UTF-8
	Hrefs   iter.Seq2[string, bool] // hrefs in document order, each with a value that is true if the link has rel=nofollow; nil means none
	Files   iter.Seq[string]        // URLs of the document's images, scripts and style sheets, which are not followed as links; nil means none
	Frames  iter.Seq[string]        // those among Hrefs that the document shows in frames; nil means none
	Names   []string                // the canonical URLs that the document names; fetched if Options.CheckAssets is set

	NoFollow bool // the page asks crawlers not to follow its links; ignored if Options.IgnoreNoFollow is set
	Targets  bool // fill [Leads.Targets]
}

// LeadsOf returns the URLs that a page leads to apart from its links: the target of a redirect, and
// the sitemaps of its host. Call [Leads.Follow] to add the links of its document. LeadsOf fails
// only if opt.OnSeed does.
func LeadsOf(p *Page, opt *Options) (*Leads, error) {
	l := &Leads{from: p.Item, via: opt.referrer(p.Item.URL)}
	if p.Item.Kind == frontier.Check || p.Item.Kind == Probing {
		return l, nil // redirects of URLs that are only checked are not followed
	}
	for _, url := range p.Sitemaps {
		l.Items = append(l.Items, frontier.Item{URL: url, From: l.via, Kind: frontier.Sitemap, Priority: opt.Scope.Priority(url)})
	}
	if p.Location != "" && opt.Scope != nil {
		return l, l.redirect(p.Location, opt)
	}
	l.opt = opt
	return l, nil
}

// referrer returns what the items found at a URL have as From.
func (opt *Options) referrer(url string) (kept string) {
	if opt.Referrers {
		kept = url
	}
	return kept
}

// redirect adds the target of a redirect. If a seed redirects within its own site, the target
// becomes a seed.
func (l *Leads) redirect(target string, opt *Options) error {
	from := l.from
	refused := opt.refuse(target, purposeOf(from), from.URL, from.Depth)
	if from.Depth == 0 && refused.elsewhere() && opt.Scope.Moved(from.URL, target) {
		refused = ""
		opt.Scope.AddMoved(cmp.Or(from.Via, from.URL), target)
		if opt.OnSeed != nil {
			if err := opt.OnSeed(cmp.Or(from.Via, from.URL), target); err != nil {
				return fmt.Errorf("record the redirect of %s: %w", from.URL, err)
			}
		}
	}
	if from.Kind == frontier.Requisite {
		l.opt = opt
		l.require(target)
		return nil
	}
	if refused != "" {
		l.Beyond = append(l.Beyond, frontier.Leave(target, string(refused)))
		return nil
	}
	l.Items = append(l.Items, frontier.Item{URL: target, From: l.via, Via: cmp.Or(from.Via, from.URL), Depth: from.Depth, Hops: from.Hops + 1, Kind: from.Kind, Priority: opt.Scope.Priority(target)})
	return nil
}

// These limits bound how many links of one page are read. The longest lists on honest sites have
// about ten thousand links. A page of 10 MB may have a million links, and with a long <base>, each
// of them becomes a URL of several kilobytes.
const (
	MaxLinks     = 100_000
	MaxLinkBytes = 8 << 20 // maximum total length of the resolved URLs
)

// Follow adds the links of the page's document. It skips links that cannot be resolved, and links
// to the page itself. It fails if the page's URL is not a canonical URL.
func (l *Leads) Follow(links Links) error {
	if l.opt == nil || links.Hrefs == nil && links.Files == nil {
		return nil
	}
	base, err := frontier.NewBase(l.from.URL, links.Base, links.Charset)
	if err != nil {
		return err
	}
	f := &following{
		Leads: l, base: base, targets: links.Targets,
		seen: make(map[string]seenURL, 64), // most pages have fewer links
		left: MaxLinks, leftBytes: MaxLinkBytes,
	}
	f.seen[l.from.URL] = seenURL{first: -1, taken: true, required: true}
	if links.Targets {
		l.Targets = make([]Target, 0, 64) // most pages have fewer links
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
	if l.opt.CheckAssets && !none {
		f.named(links.Names)
	}
	if links.Files != nil && (links.Targets || l.opt.Requisites) {
		for href := range links.Files {
			if !f.href(href, asset) {
				return nil
			}
		}
	}
	if l.opt.Requisites {
		f.shown(links.Frames)
	}
	return nil
}

// shown adds the requisites of a document that are not among its files: its frames, unless they are
// pages of the crawl, and the icon that a browser requests for every site.
func (f *following) shown(frames iter.Seq[string]) {
	if frames == nil || f.opt.Scope == nil {
		return
	}
	if f.from.Kind == frontier.Page {
		scheme, _, _ := strings.Cut(f.from.URL, "://")
		f.requireOnce(scheme + "://" + frontier.HostOf(f.from.URL) + "/favicon.ico")
	}
	for href := range frames {
		url := f.resolve(href, asset)
		if f.left--; f.left < 0 {
			return
		}
		if url != "" && f.opt.refuse(url, forPage, f.from.URL, f.from.Depth+1) != "" {
			f.requireOnce(url)
		}
	}
}

// named follows hrefs that are no links, and so have no target.
func (f *following) named(hrefs []string) {
	for _, href := range hrefs {
		if url := f.resolve(href, followed); url != "" && !f.seen[url].taken {
			f.link(url)
		}
	}
}

func (f *following) requireOnce(url string) {
	if !f.seen[url].required {
		f.seen[url] = seenURL{required: true}
		f.require(url)
	}
}

type use int

const (
	followed use = iota // add the URL to Items or to Beyond
	told                // the link is only listed in Targets
	asset               // record the URL of an image, script or style sheet, and perhaps fetch it for the archive or check that it exists
)

type following struct {
	*Leads
	base      *frontier.Base
	targets   bool
	seen      map[string]seenURL
	left      int // number of links that may still be read
	leftBytes int
}

type seenURL struct {
	first int  // index in Targets of the first link with this URL
	taken bool // the URL was added to the leads, or must not be added

	required bool // the URL was added as a requisite, or must not be added
}

// href adds one link. It returns false when a limit has been reached.
func (f *following) href(href string, how use) bool {
	if f.left--; f.left < 0 {
		f.Cut = true
		return false
	}
	if how == told && !f.targets {
		return true
	}
	url := f.resolve(href, how)
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
		url = f.Targets[before.first].URL // use the same string for all links to a URL, because a page may repeat a long URL many times
	}
	f.tell(Target{url, now.first})
	switch {
	case before.taken || how == told:
	case how == followed:
		now.taken = true
		f.link(url)
	case f.opt.Scope == nil:
	case f.opt.Requisites:
		now.taken, now.required = true, true
		f.require(url)
	case f.opt.CheckAssets:
		now.taken = true
		f.check(url)
	}
	if now != before || !known {
		f.seen[url] = now
	}
	return true
}

func (f *following) tell(t Target) {
	if f.targets {
		f.Targets = append(f.Targets, t)
	}
}

// resolve returns the canonical URL of a link, or "" if the link cannot be resolved. The URL of a
// requisite keeps all its query parameters, because software that replays archives looks up the URL
// as it is written in the page.
func (f *following) resolve(href string, how use) string {
	url, err := f.base.Resolve(href)
	if err != nil {
		return ""
	}
	if f.opt.Learned != nil && !(how == asset && f.opt.Requisites) {
		url = f.opt.Learned.Clean(url)
	}
	return url
}

func (l *Leads) link(url string) {
	switch refused := l.opt.refuse(url, forPage, l.from.URL, l.from.Depth+1); {
	case refused == "":
		l.Items = append(l.Items, frontier.Item{URL: url, From: l.via, Depth: l.from.Depth + 1, Priority: l.opt.Scope.Priority(url)})
	case refused.elsewhere() && l.opt.CheckOthers && frontier.HostOf(url) != frontier.HostOf(l.from.URL):
		l.check(url)
	default:
		l.Beyond = append(l.Beyond, frontier.Leave(url, string(refused)))
	}
}

// check adds a URL to Items to be checked for existence. The URL may be outside the scope.
func (l *Leads) check(url string) {
	if l.opt.refuse(url, forCheck, l.from.URL, 0) == "" {
		l.Items = append(l.Items, frontier.Item{URL: url, From: l.via, Depth: l.from.Depth + 1, Kind: frontier.Check})
	}
}

// depth returns the smallest depth of the URLs in Items, which is that of the first.
func (l *Leads) depth() int {
	if len(l.Items) > 0 {
		return l.Items[0].Depth
	}
	return l.from.Depth
}

// hosts returns the hosts of the items for which match returns true, without duplicates. If match
// is nil, it returns the hosts of all items.
func (l *Leads) hosts(match func(*frontier.Item) bool) (hosts []string) {
	seen := map[string]bool{}
	for _, it := range l.Items {
		if match != nil && !match(&it) {
			continue
		}
		if h := frontier.HostOf(it.URL); !seen[h] {
			seen[h] = true
			hosts = append(hosts, h)
		}
	}
	return hosts
}

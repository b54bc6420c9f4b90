package audit

import (
	"context"

	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A site holds what an audit keeps in memory of all URLs. A place is the index of a URL in pages.
type site struct {
	pages []page
	at    map[dedup.Hash]int32 // page ID → place
	named map[int32]dedup.Hash // place → ID of the URL that it redirects to or names as canonical; nil after resolve
	from  map[int32][]inLink   // place of an error, redirect or blocked URL → some of the pages that link to it
	links int                  // total number of links in from

	unfinished map[string]bool // names of hosts with URLs that the crawl knows and has not fetched
}

// A page holds what an audit keeps in memory of one URL.
type page struct {
	id      dedup.Hash
	cluster dedup.Hash // ID of the page that leads its cluster; its own ID unless it is a duplicate
	kind    store.RecordKind
	to      int32 // place of the URL that it redirects to or names as canonical; nobody: none, or one that was not crawled
	links   int32 // number of pages that link to it
	last    int32 // place of the last page that was seen to link to it
	out     int32 // number of its links
	ways    int32 // of out, the links that a visitor can click
	// HTTP status
	status  int16
	noIndex bool
	names   bool // whether it names another page as canonical
	reached bool // whether a redirect leads here to which some page links
}

// follows reports whether the page is a duplicate of another.
func (p *page) follows() bool { return p.cluster != p.id }

// aside reports whether the page asks not to be indexed, or names another page as canonical.
func (p *page) aside() bool { return p.noIndex || p.names }

func (p *page) apart() string {
	switch {
	case p.noIndex:
		return "noindex"
	case p.names:
		return "canonical URL is another page"
	}
	return ""
}

// An inLink is a link to a URL.
type inLink struct {
	// place of the page with the link
	from int32
	kind store.LinkKind
	text string
}

// These limit how many links site.from keeps.
const (
	mostFrom  = 100     // pages kept that link to one URL
	mostLinks = 1 << 20 // links kept of all URLs, which need some hundred megabytes
)

func newSite() *site {
	return &site{at: map[dedup.Hash]int32{}, named: map[int32]dedup.Hash{}, from: map[int32][]inLink{}, unfinished: map[string]bool{}}
}

// add adds a record. It returns the place of its URL, and whether this is the first record of that
// URL.
func (s *site) add(r *store.Record) (at int32, isNew bool) {
	if at, known := s.at[r.ID]; known {
		return at, false
	}
	p := page{id: r.ID, cluster: clusterOf(r), kind: kindOf(r.Kind), to: nobody, last: nobody, status: int16(r.Status), noIndex: r.NoIndex}
	p.names = r.Kind == store.Page && namesAnother(r)
	at = int32(len(s.pages))
	s.pages = append(s.pages, p)
	s.at[r.ID] = at
	switch {
	case r.Kind == store.Redirect && r.Location != "":
		s.named[at] = dedup.HashOf([]byte(r.Location))
	case p.names:
		s.named[at] = dedup.HashOf([]byte(r.CanonicalURL))
	}
	if r.Kind == store.Later || r.NoText {
		s.unfinished[store.HostOf(r.URL)] = true
	}
	return at, true
}

// kindOf returns the constant that equals k. The string of each record has memory of its own, which
// would be kept.
func kindOf(k store.RecordKind) store.RecordKind {
	for _, known := range []store.RecordKind{store.Page, store.Other, store.Redirect, store.Error, store.Blocked, store.Skipped, store.Sitemap, store.Later} {
		if k == known {
			return known
		}
	}
	return k
}

// clusterOf returns the ID of the page that leads r's cluster, which is r's own ID unless r is a
// duplicate.
func clusterOf(r *store.Record) dedup.Hash {
	if r.Follows() {
		return r.Leader
	}
	return r.ID
}

func namesAnother(r *store.Record) bool { return r.CanonicalURL != "" && r.CanonicalURL != r.URL }

// resolve sets page.to from named, now that the places of all URLs are known.
func (s *site) resolve() {
	for at, id := range s.named {
		if to, known := s.at[id]; known {
			s.pages[at].to = to
		}
	}
	s.named = nil
}

// link counts the links of the page at a place. It needs the places of all URLs.
func (s *site) link(at int32, links []store.Link) {
	s.pages[at].out = int32(len(links))
	for _, l := range links {
		if l.Kind != store.LinkScript && !l.Kind.Asset() {
			s.pages[at].ways++
		}
		to, known := s.at[dedup.HashOf([]byte(l.URL))]
		if !known || to == at || s.pages[to].last == at {
			continue
		}
		p := &s.pages[to]
		p.links, p.last = p.links+1, at
		switch p.kind {
		case store.Error, store.Redirect, store.Blocked:
			if len(s.from[to]) < mostFrom && s.links < mostLinks {
				s.from[to] = append(s.from[to], inLink{at, l.Kind, l.Text})
				s.links++
			}
		}
	}
}

// way returns the places that a redirect leads to, one for each hop, without the redirect itself.
// loops reports whether the last of them was passed before.
func (s *site) way(at int32) (hops []int32, loops bool) {
	been := map[int32]bool{at: true}
	for s.pages[at].kind == store.Redirect && s.pages[at].to != nobody {
		at = s.pages[at].to
		hops = append(hops, at)
		if been[at] {
			return hops, true
		}
		been[at] = true
	}
	return hops, false
}

// findBounds finds the hosts that have URLs which the crawl did not fetch.
func (s *site) findBounds(ctx context.Context, r store.Reader) error {
	for h, err := range r.Hosts(ctx) {
		if err != nil {
			return err
		}
		s.unfinished[h.Name] = true
	}
	for url, err := range r.URLs(ctx, frontier.Outside) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		s.unfinished[store.HostOf(url)] = true
	}
	return nil
}

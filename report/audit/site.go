package audit

import (
	"context"
	"strings"
	"unique"

	"skink/dedup"
	"skink/store"
)

// A site holds what an audit needs to know about all URLs of a store. The other types of this
// package refer to a URL by its index in pages.
type site struct {
	pages []page
	at    map[dedup.Hash]int32 // maps the id of a URL to its index in pages
	named map[int32]dedup.Hash // maps the index of a page to the id of its redirect target or canonical URL; resolve turns it into page.to
	from  map[int32][]inLink   // maps the index of each URL without a page, such as a broken one, to some of the links to it
	links int

	images bool // whether a page shows images

	ways [][]int32 // the URLs to which each page links, by the index of the page; with nofollow their complement; count sets it to nil
	kept int       // number of links in ways

	scored bool               // whether scores and said are set
	scores []float32          // link score of each URL; see score.go
	said   map[int32][]phrase // anchor texts of each URL

	unfinished map[string]bool // hosts with URLs still to fetch, or with duplicates whose links were not followed

	areas *areas // nil unless Options.Areas is set

	allFrom bool // whether from may contain more than maxFrom links to a URL
}

// A page holds what an audit needs to know about one URL, which may also be a redirect, an error or
// a file.
type page struct {
	id      dedup.Hash
	cluster dedup.Hash // id of the leader of the page's cluster, which may be this page
	kind    store.RecordKind
	to      int32 // index in site.pages of the redirect target or canonical URL; nobody if there is none, or if it was not crawled
	links   int32 // number of pages with a link to it
	last    int32 // index in site.pages of the last page read that links to it
	out     int32 // number of links in the page
	ways    int32 // number of links in the page that a visitor can click
	status  int16
	listed  int32 // number of sitemaps that list it
	by      int32 // index in site.pages of a sitemap that lists it; nobody if there is none
	noIndex bool
	names   bool // names another page as canonical
	start   bool // seed or requisite, which the crawl fetches even if no page links to it
	target  bool // target of a redirect
	hidden  bool // robots.txt forbids search engines to fetch it
	scripts bool
	reached bool // can be reached through a redirect that another page links to
	linked  bool // a page has a link to it that a visitor can follow
	obeyed  bool // such a link asks no crawler not to follow it
	shown   bool // a page shows it as an image
	loaded  bool // a page loads it as a style sheet, script or medium
	seed    bool
	clicks  int32 // number of clicks from a seed; see [site.count]

	// If the audit is compared with an earlier crawl: whether the URL was requested again after
	// that crawl, and whether the response shows the current state of the page.
	again, answered bool

	area int32 // index in site.areas.all, if Options.Areas is set
}

func (p *page) follows() bool { return p.cluster != p.id }

// aside reports whether search engines do not list the page because it has noindex, names another
// page as canonical, or is forbidden by robots.txt.
func (p *page) aside() bool { return p.noIndex || p.names || p.hidden }

// apart returns why a page is not counted.
func (p *page) apart() string {
	switch {
	case p.noIndex:
		return "noindex"
	case p.names:
		return "canonical URL is another page"
	case p.hidden:
		return "robots.txt forbids search engines from fetching the URL"
	}
	return "no page links to it"
}

type inLink struct {
	from int32 // index in site.pages of the page that contains the link
	kind store.LinkKind
	text string
}

// These are the maximum numbers of links that a site keeps in memory.
const (
	maxFrom  = 100     // for one URL, unless Options.AllFrom is set
	maxLinks = 1 << 20 // for all URLs together; these links take about a hundred megabytes
)

func newSite(allFrom bool) *site {
	return &site{allFrom: allFrom, at: map[dedup.Hash]int32{}, named: map[int32]dedup.Hash{}, from: map[int32][]inLink{}, unfinished: map[string]bool{}}
}

// add adds the URL of a record, and returns its index in pages. If the URL is already there, add
// changes nothing and isNew is false.
func (s *site) add(r *store.Record) (at int32, isNew bool) {
	if at, known := s.at[r.ID]; known {
		return at, false
	}
	p := page{id: r.ID, cluster: r.Cluster(), kind: kindOf(r.Kind), to: nobody, last: nobody, by: nobody, status: int16(r.Status), noIndex: r.NoIndex, hidden: r.Hidden}
	p.names = r.Kind == store.Page && namesAnother(r)
	p.start = r.Depth == 0 || r.Requisite && !strings.HasSuffix(r.URL, "/favicon.ico") // browsers request this one without a link
	p.clicks, p.seed = int32(r.Depth), r.Depth == 0 && !r.Requisite && !r.Sitemap
	at = int32(len(s.pages))
	s.pages = append(s.pages, p)
	s.at[r.ID] = at
	switch {
	case r.Kind == store.Redirect && r.Location != "":
		s.named[at] = dedup.HashOf([]byte(r.Location))
	case p.names:
		s.named[at] = dedup.HashOf([]byte(r.CanonicalURL))
	}
	if r.NoText {
		s.unfinished[store.HostOf(r.URL)] = true
	}
	return at, true
}

// kindOf returns k in a string that all records share. The string in a record has its own memory, which
// the audit would otherwise keep in use.
func kindOf(k store.RecordKind) store.RecordKind { return unique.Make(k).Value() }

func namesAnother(r *store.Record) bool { return r.CanonicalURL != "" && r.CanonicalURL != r.URL }

// resolve sets page.to of each URL that redirects or has another page as its canonical URL. All
// records must already have been added.
func (s *site) resolve() {
	for at, id := range s.named {
		if to, known := s.at[id]; known {
			s.pages[at].to = to
			s.pages[to].target = s.pages[to].target || !s.pages[at].names
		}
	}
	s.named = nil
	s.ways = make([][]int32, len(s.pages))
}

// link counts the links of the page at the given index, both for that page and for each linked URL.
func (s *site) link(at int32, links []store.Link) {
	s.pages[at].out = int32(len(links))
	var ways []int32
	for _, l := range links {
		if l.Kind == store.LinkListed {
			if to, known := s.index(l.URL); known {
				s.pages[to].listed++
				s.pages[to].by = at
			}
			continue
		}
		switch {
		case l.Kind == store.LinkScript:
			s.pages[at].scripts = true
		case l.Kind == store.LinkImage:
			s.images = true
		case !l.Kind.Asset():
			s.pages[at].ways++
		}
		to, known := s.index(l.URL)
		if !known || to == at {
			continue
		}
		p := &s.pages[to]
		if way := to; clicked(l.Kind) {
			if l.NoFollow {
				way = ^to
			}
			ways = append(ways, way)
		}
		if s.scored && l.Kind == store.LinkAnchor {
			for text := range strings.SplitSeq(l.Text, "\n") {
				s.say(to, text)
			}
		}
		if p.use(&l); p.last == at {
			continue
		}
		p.links, p.last = p.links+1, at
		switch p.kind {
		case store.Error, store.Redirect, store.Blocked:
			if (s.allFrom || len(s.from[to]) < maxFrom) && s.links < maxLinks {
				s.from[to] = append(s.from[to], inLink{at, l.Kind, l.Said()})
				s.links++
			}
		}
	}
	s.keepWays(at, ways)
}

// use records that a page links to p or loads it.
func (p *page) use(l *store.Link) {
	switch {
	case l.Kind == store.LinkImage:
		p.shown = true
	case l.Kind.Asset():
		p.loaded = true
	default:
		p.linked, p.obeyed = true, p.obeyed || !l.NoFollow
	}
}

func (s *site) index(url string) (at int32, known bool) {
	at, known = s.at[dedup.HashOf([]byte(url))]
	return at, known
}

// way returns the URLs that the redirect with index at leads to, in order, not including the
// redirect itself. The result loops is true if the redirects lead back to an earlier URL.
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

func (s *site) findBounds(ctx context.Context, r store.Reader) error {
	for h, err := range r.Hosts(ctx) {
		if err != nil {
			return err
		}
		s.unfinished[h.Name] = true
	}
	return nil
}

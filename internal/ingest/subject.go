package ingest

import (
	"slices"
	"sync"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/dedup"
	"skink/extract"
	"skink/frontier"
	"skink/internal/memory"
	"skink/store"
)

// A subject is a page while it is being judged: the data read from it, and its verdict. It is read
// once, and judged again if the verdict is stale.
type subject struct {
	record store.Record
	claim  frontier.Claim // on its host, when it was fetched
	state  frontier.State // how its URL ends
	known  bool           // it has a record from before a crash; only its end is written

	// These fields are for pages that were visited before.
	item        frontier.Item
	notModified bool          // the server says that the page was not modified
	read        store.Record  // the record by this visit alone
	before      *store.Record // the stored record; nil: this is its first visit
	touch       bool          // the visit found no change
	carried     bool          // its text is unchanged, but something else is not: the verdict stays
	turned      bool          // the visit failed because the page has turned, see hour.go
	missedBy    int           // failed visits in a row, if the page has turned

	// These fields were read from the page, and do not change afterwards.
	text   []byte // main text, with its Markdown if that is kept, compressed; nil: none
	sketch *dedup.Sketch
	hash   dedup.Hash // hash under which it is posted
	keys   []uint64   // keys under which it looks for leaders, and is posted if it leads
	links  []frontier.Item
	beyond []string
	out    []byte     // its links, packed; nil: none are kept
	tokens int        // of its canonical text
	said   learn.Text // its text as the book compares it

	heldAgainst string // the URL that cannot exist whose answer it was compared with; "": none
	saysMissing bool   // it is equal to that answer, see soft.go

	shingles []uint64 // of its canonical text, in order
	set      dedup.Set

	basis store.Basis // of the verdict in record
	over  takeover    // the leader that it replaces, see elect.go
	alone bool        // it holds the right to change leaders
	asks  bool        // it is judged without that right, to find out whether it needs it
	wants bool        // it may have to change a leader, but was judged without the right

	reelect []dedup.Hash  // leaders of clusters in which another page may have to lead now
	left    dedup.Hash    // such a leader, to which the subject passed the lead before it changed; zero: none
	share   *memory.Share // of memory, until it is stored; nil: none
}

// changesLeaders reports whether other pages must be judged again because of the subject's verdict
// or its canonical URL.
func (s *subject) changesLeaders() bool {
	return !s.over.leader.IsZero() || !s.left.IsZero() || len(s.reelect) > 0
}

// wanted reports whether the subject needs a verdict.
func (s *subject) wanted() bool {
	return s.record.Kind == store.Page && !s.known && !s.touch && !s.carried
}

// shingleSet returns the subject's set of shingles. It is computed at the first call, because most
// pages have no candidates.
func (s *subject) shingleSet() dedup.Set {
	if s.set == nil {
		s.set, s.shingles = dedup.NewSet(s.shingles), nil
	}
	return s.set
}

// leadTo copies the leads of a page.
func (s *subject) leadTo(leads *crawler.Leads) {
	s.links, s.beyond = leads.Items, leads.Beyond
	if leads.Cut {
		s.bound(store.BoundLinks)
	}
}

// describe copies the metadata of a document.
func (s *subject) describe(doc *extract.Document) {
	r := &s.record
	r.Title, r.Description, r.Lang, r.Root = cut(doc.Title, maxTitle), cut(doc.Description, maxDescription), cut(doc.Lang, maxLang), doc.Root
	r.Author, r.SiteName = cut(doc.Author, maxName), cut(doc.SiteName, maxName)
	r.PublishedAt, r.ModifiedAt = dateOf(doc.Published), dateOf(doc.Modified)
	r.NoIndex = doc.NoIndex
	r.OtherLang = doc.DeclaredLang != "" && doc.DeclaredLang != r.Lang
	r.TitleFrom, r.SharedOnly = doc.TitleFrom, doc.SharedOnly
	for _, h := range doc.H1[:min(len(doc.H1), store.MostHeadings)] {
		r.H1 = append(r.H1, cut(h, maxName))
	}
	if doc.Bound != "" {
		s.bound(doc.Bound)
	}
}

// relate copies the canonical URL and the alternates of a document into the subject's record. It
// skips URLs that cannot be resolved.
func (s *subject) relate(doc *extract.Document, base *frontier.Base) {
	r := &s.record
	if doc.Canonical != "" {
		r.CanonicalURL, _ = base.Resolve(doc.Canonical)
	}
	var all []string
	for _, href := range doc.Canonicals {
		if url, err := base.Resolve(href); err == nil && !slices.Contains(all, url) && len(all) < store.MostCanonicals {
			all = append(all, url)
		}
	}
	if len(all) > 1 {
		r.Canonicals = all
	}
	for _, a := range doc.Alternates {
		if a.Hreflang == "" || len(r.Alternates) == store.MostAlternates {
			continue
		}
		if url, err := base.Resolve(a.Href); err == nil {
			r.Alternates = append(r.Alternates, store.Alternate{Lang: cut(a.Hreflang, maxLang), URL: url})
		}
	}
}

// bound records which limit the page exceeded.
func (s *subject) bound(what string) {
	r := &s.record
	if r.Bounds != "" {
		what = r.Bounds + "," + what
	}
	r.Bounds = what
}

// Pages with noindex are posted in a separate index, under keys that no other page has. They search
// both indexes, so that copies of public pages are found. None of them ever leads a page that may
// be exported.
const asideBits = 0x5A5A5A5A5A5A5A5A

func asideKeys(keys []uint64) []uint64 {
	aside := make([]uint64, len(keys))
	for i, k := range keys {
		aside[i] = k ^ asideBits
	}
	return aside
}

func asideHash(h dedup.Hash) dedup.Hash {
	for i := range h {
		h[i] ^= 0x5A
	}
	return h
}

// ownKeys returns the keys under which the subject may be posted.
func (s *subject) ownKeys() []uint64 {
	if s.record.NoIndex {
		return s.keys[len(s.keys)/2:]
	}
	return s.keys
}

// hashes returns the text hashes under which the subject looks for copies.
func (s *subject) hashes() []dedup.Hash {
	if s.record.NoIndex {
		return []dedup.Hash{s.record.Hash, asideHash(s.record.Hash)}
	}
	return []dedup.Hash{s.record.Hash}
}

// giveBack returns the memory of a canonical text to the pool, unless it is too large to keep.
func giveBack(texts *sync.Pool, canon *dedup.Text) {
	const large = 1 << 16 // tokens
	if canon.Len() <= large {
		texts.Put(canon)
	}
}

// release releases the subject's share of memory. Call it when the subject is stored or dropped.
func (s *subject) release() { s.share.Release() }

// sketch computes from a subject's text everything that judging needs.
func (p *Pipeline) sketch(s *subject, text string) {
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)

	r := &s.record
	p.opt.Rule.Read(canon, text, r.Lang)
	s.tokens = canon.Len()
	r.Words, r.Hash = s.tokens, canon.Hash()
	if p.opt.Learn != nil {
		s.said = learn.TextOf(text, canon.Numbers())
	}
	if s.tokens > 0 {
		s.shingles = p.opt.Rule.Shingles(canon)
		sketch := dedup.NewSketch(s.shingles)
		s.sketch = &sketch
		s.hash = r.Hash
		s.keys = p.opt.Rule.Scheme.Keys(nil, &sketch)
		if r.NoIndex {
			s.hash = asideHash(r.Hash)
			s.keys = append(s.keys, asideKeys(s.keys)...)
		}
	}
}

// leftOut records what the extraction removed from a subject's text. That explains wrong verdicts:
// two pages may be equal only because their own words were removed.
func (p *Pipeline) leftOut(s *subject, text string) {
	if text == "" {
		return
	}
	canon := p.texts.Get().(*dedup.Text)
	defer giveBack(&p.texts, canon)
	p.opt.Rule.Read(canon, text, s.record.Lang)
	if s.record.LeftWords = canon.Len(); canon.Len() > 0 {
		s.record.LeftHash = canon.Hash()
	}
}

// pack compresses and keeps a subject's text, and its Markdown if it has one.
func (s *subject) pack(text, markdown string) {
	if text != "" {
		s.text = store.PackMarked([]byte(text), []byte(markdown))
	}
}

// entry returns the entry of a judged subject for the store. For a skipped duplicate it is little
// more than the record.
func (p *Pipeline) entry(s *subject) *store.Entry {
	e := &store.Entry{
		Record: s.record, Claim: s.claim, State: s.state, Basis: s.basis,
		Text: s.text, Sketch: s.sketch, Hash: s.hash, Out: s.out, Links: s.links, Beyond: s.beyond,
	}
	if s.before != nil && !s.known {
		e.Touch, e.Revisit, e.Replaces = s.touch, !s.touch, s.before.Began()
	}
	switch s.record.Verdict {
	case dedup.Unique:
		e.Keys = s.ownKeys()
	case dedup.Exact, dedup.Near:
		if !s.record.NoText {
			break
		}
		e.Text = nil
		if !p.opt.Rule.Short(s.tokens) && !leadsOn(&s.record) {
			e.Links, e.Beyond, e.Out = nil, nil, nil
		}
	}
	return e
}

// leadsOn reports whether the links of a skipped duplicate are followed. Its leader has the same
// links only if both are on one host: on another host, the links of a copy lead to copies of other
// pages. Links of seeds, of their redirect targets and of home pages are always followed, because
// they lead to the pages of a site. So are the links of a page too short to compare: it may be a
// list of links, and another page with the same few words may be another list.
func leadsOn(r *store.Record) bool {
	return r.Depth == 0 || frontier.IsRoot(r.URL) || store.HostOf(r.URL) != store.HostOf(r.DuplicateOf)
}

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

// A subject is a page on its way to a verdict: what was read of it, and what it
// was found to be. Reading happens once, judging again if the verdict is stale.
type subject struct {
	record store.Record
	claim  frontier.Claim // under which it was fetched
	state  frontier.State // how its URL ends
	known  bool           // it has a record, from before a crash; only its end is written

	// Of a page that was visited before.
	item        frontier.Item
	notModified bool          // the server says that the page was not modified
	read        store.Record  // the record as this visit has it
	before      *store.Record // what is known of it; nil: this is its first visit
	touch       bool          // the visit found no change
	carried     bool          // its text is what it was, something else is not: the verdict stays
	turned      bool          // the visit failed because the page has turned, see hour.go
	missedBy    int           // visits in a row that failed by now, if the page has turned

	// What was read. Nothing changes it afterwards.
	text   []byte // main text, with its Markdown if that is kept, packed; nil: none
	sketch *dedup.Sketch
	hash   dedup.Hash // under which it is posted
	keys   []uint64   // under which it looks for leaders, and may become one
	links  []frontier.Item
	beyond []string
	out    []byte     // its links, packed; nil: none are kept
	tokens int        // of its canonical text
	said   learn.Text // what the book compares

	heldAgainst string // the URL that cannot exist whose answer it was compared with; "": none
	saysMissing bool   // it says the same, see soft.go

	shingles []uint64 // of its canonical text, in order
	set      dedup.Set

	basis store.Basis // of the verdict in record
	over  takeover    // whose place it takes, see elect.go
	alone bool        // it holds the right to change who leads
	asks  bool        // it is judged without that right, and only says whether it needs it
	wants bool        // it may have to change who leads, and asked only

	reelect []dedup.Hash  // leaders of clusters in which another page may have to lead by now
	left    dedup.Hash    // the same, because the subject gave it the lead and is another page now; zero: it did not
	share   *memory.Share // of memory, until it is stored; nil: none
}

// changesLeaders says whether other pages are to be judged again because of the subject's verdict, or
// of what it says of its canonical URL.
func (s *subject) changesLeaders() bool {
	return !s.over.leader.IsZero() || !s.left.IsZero() || len(s.reelect) > 0
}

// wanted says whether the subject is to have a verdict.
func (s *subject) wanted() bool {
	return s.record.Kind == store.Page && !s.known && !s.touch && !s.carried
}

// shingleSet is the subject's set, made when first needed: most pages meet no candidate.
func (s *subject) shingleSet() dedup.Set {
	if s.set == nil {
		s.set, s.shingles = dedup.NewSet(s.shingles), nil
	}
	return s.set
}

// leadTo writes down what a page leads to.
func (s *subject) leadTo(leads *crawler.Leads) {
	s.links, s.beyond = leads.Items, leads.Beyond
	if leads.Cut {
		s.bound(store.BoundLinks)
	}
}

// describe copies what a document says of itself.
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

// relate notes in the subject's record what other pages a document says to be the same. What cannot
// be resolved names nothing.
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

// bound notes in the subject's record what the page had too much of.
func (s *subject) bound(what string) {
	r := &s.record
	if r.Bounds != "" {
		what = r.Bounds + "," + what
	}
	r.Bounds = what
}

// Pages that must not be indexed are posted in an index of their own, under keys that no other page
// has. They look in both indexes, so that a copy of a public page is found to be one. None of them
// ever leads a page that may be fed.
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

// ownKeys are the keys under which the subject may be posted.
func (s *subject) ownKeys() []uint64 {
	if s.record.NoIndex {
		return s.keys[len(s.keys)/2:]
	}
	return s.keys
}

// hashes are the hashes of texts under which the subject looks for copies.
func (s *subject) hashes() []dedup.Hash {
	if s.record.NoIndex {
		return []dedup.Hash{s.record.Hash, asideHash(s.record.Hash)}
	}
	return []dedup.Hash{s.record.Hash}
}

// giveBack keeps the memory of a canonical text for the next subject, unless it is so large that
// keeping it would be a waste.
func giveBack(texts *sync.Pool, canon *dedup.Text) {
	const large = 1 << 16 // tokens
	if canon.Len() <= large {
		texts.Put(canon)
	}
}

// release gives back the memory of a subject that is stored, or never will be.
func (s *subject) release() { s.share.Release() }

// sketch computes from a subject's text all that judging it needs.
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

// leftOut notes what the extraction left out of a subject's text, so that a wrong verdict can be
// seen: two pages may be the same only because their own words were left out.
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

// pack keeps a subject's text, and its Markdown if it has one.
func (s *subject) pack(text, markdown string) {
	if text != "" {
		s.text = store.PackMarked([]byte(text), []byte(markdown))
	}
}

// entry is what the store gets of a subject as it was judged. For a duplicate that is skipped it is
// little more than the record.
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

// leadsOn says whether the links of a duplicate are followed although it is skipped. Its leader has
// the same links only if both are on one host: elsewhere, the links of a copy lead to the copies of
// other pages. Seeds, redirect targets of seeds and home pages are where the pages of a site are
// found, so their links are always followed. The links of a page that is too short to compare are
// followed as well: it may be a list of links, and the page with the same few words another list.
func leadsOn(r *store.Record) bool {
	return r.Depth == 0 || frontier.IsRoot(r.URL) || store.HostOf(r.URL) != store.HostOf(r.DuplicateOf)
}

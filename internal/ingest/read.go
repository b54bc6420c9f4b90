package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"skink/crawler"
	"skink/crawler/learn"
	"skink/crawler/robots"
	"skink/crawler/sitemap"
	"skink/dedup"
	"skink/dedup/language"
	"skink/document"
	"skink/extract"
	"skink/extract/selector"
	"skink/extract/stylesheet"
	"skink/frontier"
	"skink/internal/memory"
	"skink/store"
	"skink/store/precedence"
)

// A reading is the result of reading a page. It does not change after it is returned, with two
// exceptions: its shingles become a set when the set is first needed, and a file gets its name.
type reading struct {
	seen      store.Record   // record of this visit, without a verdict
	claim     frontier.Claim // claim on the host under which the page was fetched; zero for files and for pages of archives
	confirmed bool           // the response shows that the page is unchanged, so it was not read
	sorry     bool           // the visit counts as failed, because the host may show an error page with status 200; see hour.go
	missedBy  int            // number of failed visits in a row, if sorry is set

	text     []byte        // compressed main text with its headings and, if kept, its Markdown; nil if there is no text
	sketch   *dedup.Sketch // nil if there is no text
	hash     dedup.Hash    // text hash by which later copies find the page in the store
	hashes   []dedup.Hash  // text hashes by which earlier copies of the page are found
	keys     []uint64      // see [dedup.Rule.Keys]; excludes those for the other indexes
	aside    int           // number of the index that has the keys of the page, from 0; see asideBits
	tokens   int           // number of words of the canonical text
	shingles shingles      // of the canonical text
	said     learn.Text    // text hashes for the book of evidence
	links    []frontier.Item
	beyond   []string // linked URLs that the crawl does not fetch
	listed   []string // canonical URLs of the pages that a sitemap lists
	missed   []string // selectors that found nothing in the page
	out      []byte   // all links in the store's format; nil if the store keeps none
}

// shingles is a list in text order until the set is first needed. Most pages never need the set.
type shingles struct {
	list []uint64
	set  dedup.Set
}

// The first call replaces the list with the set.
func (s *shingles) asSet() dedup.Set {
	if s.set == nil {
		s.set, s.list = dedup.NewSet(s.list), nil
	}
	return s.set
}

type reader struct {
	opt    Options
	memory *memory.Pool // for the pages that are being read
	flight *flight

	documents chan struct{} // semaphore for PDF and other documents
}

// read reads a page. If the page cannot be read, its record gives the reason, and read returns no
// error. It fails only if ctx ends, or with [crawler.ErrRender] if the page must be rendered first.
// The caller must release the share once the page is stored or dropped, even after an error.
func (r *reader) read(ctx context.Context, page *crawler.Page, leads *crawler.Leads) (*reading, *memory.Share, error) {
	if err := leads.Follow(crawler.Links{Files: parts(page)}); err != nil {
		return nil, nil, err
	}
	got := unread(page, leads)
	if page.Listed != nil {
		got.listed = page.Listed.URLs
		if !r.opt.NoLinks {
			got.out = listed(got.seen.URL, got.listed)
		}
	}
	if page.Confirmed() || got.seen.Kind != store.Page && !isFrame(page) {
		return got, nil, nil
	}
	if n := r.flight.suspect(page.Item.URL); n >= maxDeaths {
		r.flight.end(page.Item.URL)
		return got.deadly(n), nil, nil
	}
	got, share, err := r.readWithin(ctx, page, leads)
	var unreadable *document.Error
	switch {
	case ctx.Err() != nil:
		return nil, share, ctx.Err()
	case errors.Is(err, crawler.ErrRender):
		return nil, share, err
	case errors.Is(err, extract.ErrNotText): // a feed, which still has links
		got = got.notText(page.Body)
	case errors.As(err, &unreadable):
		got = got.notText(page.Body)
		got.seen.Detail = unreadable.Error()
	case err != nil:
		got = broken(recordOf(page), page.Claim, err)
	}
	share.Keep(got.weighs())
	return got, share, nil
}

// parts returns the addresses of the files that the archive needs because of a style sheet or a
// manifest. It returns nil for other pages.
func parts(page *crawler.Page) iter.Seq[string] {
	switch media := requisiteType(page); {
	case media == "text/css":
		return stylesheet.References(page.Body)
	case strings.HasSuffix(media, "json"), media != "" && strings.HasSuffix(page.Item.URL, ".webmanifest"): // many servers do not know the type
		return slices.Values(extract.ManifestFiles(page.Body))
	}
	return nil
}

// isFrame reports whether a page was fetched only because another page shows it in a frame.
func isFrame(page *crawler.Page) bool {
	media := requisiteType(page)
	return media == "text/html" || media == "application/xhtml+xml"
}

// requisiteType returns the media type of a page that was fetched only for the archive. It returns
// "" for other pages, and if there is no body.
func requisiteType(page *crawler.Page) string {
	if page.Item.Kind != frontier.Requisite || page.Problem != "" || page.Confirmed() || page.Location != "" {
		return ""
	}
	return extract.MediaType(page.Body, page.Header.Get("Content-Type"))
}

// unread returns the reading of a page before its body is read.
func unread(page *crawler.Page, leads *crawler.Leads) *reading {
	got := &reading{seen: recordOf(page), claim: page.Claim, confirmed: page.Confirmed()}
	if !page.Confirmed() {
		got.leadTo(leads)
	}
	return got
}

// Pages can contain anything, and one that makes the code panic must not end the crawl.
func guard(read func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return read()
}

func broken(r store.Record, claim frontier.Claim, err error) *reading {
	r.Kind, r.Problem, r.Detail = store.Error, string(crawler.ProblemInternal), err.Error()
	return &reading{seen: r, claim: claim}
}

func (got *reading) notText(body []byte) *reading {
	other := *got
	other.seen.Kind, other.seen.Hash = store.Other, dedup.HashOf(body)
	if sitemap.Begins(body) { // a sitemap from an archive, or one that a page links to
		other.seen.Kind = store.Sitemap
	}
	return &other
}

// failed returns the reading of a visit that counts as failed even though the server sent a page.
// It keeps the links of that page.
func (got *reading) failed(problem crawler.Problem, detail string) *reading {
	r := &got.seen
	return &reading{
		seen: store.Record{
			ID: r.ID, URL: r.URL, Via: r.Via, Kind: store.Error, Status: r.Status, ContentType: r.ContentType,
			Fetch: store.Fetch{Problem: string(problem), Detail: detail, FetchedAt: r.FetchedAt, Took: r.Took, Depth: r.Depth, Hops: r.Hops, From: r.From, Size: r.Size},
		},
		claim: got.claim, links: got.links, beyond: got.beyond,
	}
}

func (opt *Options) isDocument(page *crawler.Page) bool {
	return opt.Documents.Reads(page.Document())
}

// read extracts the text, the metadata and the links of a page. The parsed tree may have at most
// tree bytes. If the page is not text, read returns both the links and an error.
func (opt *Options) read(ctx context.Context, page *crawler.Page, leads *crawler.Leads, tree int64) (*reading, error) {
	got := unread(page, leads)
	body, contentType := page.Document()
	as := opt.extracting(tree, page.Item.URL)
	doc, notText := opt.Documents.Parse(ctx, as, body, contentType)
	if doc == nil {
		doc = feedOf(body)
	}
	switch {
	case doc == nil:
		return got, notText
	case doc.Bound == extract.BoundTree && tree < most(len(body)):
		return nil, errOutgrown
	}
	if d := page.Drawing; d != nil {
		doc.Charset = extract.Charset(page.Body, page.Header.Get("Content-Type"))
		if d.Goes != "" {
			doc.Links = append(doc.Links, extract.Link{Href: d.Goes, By: extract.ByRefresh})
		}
	}
	base, err := frontier.NewBase(got.seen.URL, doc.Base, doc.Charset)
	if err != nil {
		return nil, err
	}
	deadEnd := doc.Root != extract.RootDocument && hasScript(body) && endsHere(got.seen.URL, base, doc.Links)
	if page.MayRender && (doc.Needs != "" || deadEnd) {
		return nil, crawler.ErrRender
	}
	if isFrame(page) {
		err := leads.Follow(outgoing{doc: doc}.parts())
		got.leadTo(leads)
		return got, err
	}
	opt.obey(page.Item.URL, doc, page.Header)
	obeyLinks(doc, page.Header, page.Item.URL)
	out := outgoing{doc, !opt.NoLinks, opt.Anchors}
	if err := leads.Follow(out.links()); err != nil {
		return nil, err
	}
	got.leadTo(leads)
	if out.keep { // the targets are the URLs as the crawler resolved them
		got.out = store.PackLinks(page.Item.URL, out.kept(leads.Targets))
	}
	switch {
	case leads.Asked:
		got.seen.DeadEnd = store.DeadEndNoFollow
	case deadEnd:
		got.seen.DeadEnd = store.DeadEndScripts
	}
	if notText != nil {
		return got, notText
	}
	got.describe(doc)
	got.seen.Fields, got.seen.Selectors, got.missed = doc.Fields, as.Select.ID(), doc.Missed
	got.faults(doc, page)
	got.relate(doc, base)
	if page.Drawing != nil {
		got.seen.Source = opt.source(ctx, page, base, tree)
		got.seen.Source.LinksAfter = len(doc.Links)
	}
	got.measure(doc.Text, opt)
	got.leftOut(doc.Left)
	got.pack(opt, doc.Text, opt.markdown(doc, base), headingsOf(doc))
	return got, nil
}

// source describes the response of a rendered page. It is empty if the response cannot be read.
func (opt *Options) source(ctx context.Context, page *crawler.Page, base *frontier.Base, tree int64) (s store.Source) {
	doc, err := opt.Documents.Parse(ctx, extract.Options{Tree: tree}, page.Body, page.Header.Get("Content-Type"))
	if err != nil {
		return s
	}
	opt.obey(page.Item.URL, doc, page.Header)
	s = store.Source{Read: true, Title: cut(doc.Title, maxTitle), NoIndex: doc.NoIndex, NoFollow: doc.NoFollow, Headings: min(len(doc.H1), store.MaxHeadings), Links: len(doc.Links)}
	if doc.Canonical != "" {
		s.CanonicalURL, _ = base.Resolve(doc.Canonical)
	}
	canon, done := canonical(doc.Text)
	defer done()
	s.Words = canon.Len()
	return s
}

func (opt *Options) reread(c *store.Content) *reading {
	got := &reading{seen: c.Record}
	got.measure(c.Text, opt)
	got.pack(opt, c.Text, c.Markdown, c.Headings)
	if len(c.Links) > 0 {
		got.out = store.PackLinks(c.Record.URL, c.Links)
	}
	return got
}

// feedOf returns a document with the links to the entries of a feed, or nil if the body is not one.
// The text of an entry is not read, because it repeats the text of the linked page.
func feedOf(body []byte) *extract.Document {
	urls, is := sitemap.Feed(body)
	if !is {
		return nil
	}
	doc := &extract.Document{Root: extract.RootNone}
	for _, url := range urls {
		doc.Links = append(doc.Links, extract.Link{Href: url, By: extract.ByAnchor})
	}
	return doc
}

var scriptTag = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>`)

// hasScript reports whether a page has a script that is not only data.
func hasScript(body []byte) bool {
	return slices.ContainsFunc(scriptTag.FindAll(body, -1), func(tag []byte) bool { return !bytes.Contains(tag, []byte("json")) })
}

// maxStrays is the largest number of links to other hosts on a page whose menus scripts may draw.
const maxStrays = 100

// endsHere reports whether no link of a page leads to another page of its host. A page with very many
// links counts as having one, because each must be resolved.
func endsHere(url string, base *frontier.Base, links []extract.Link) bool {
	if len(links) > maxStrays {
		return false
	}
	for _, l := range links {
		if to, err := base.Resolve(l.Href); err == nil && to != url && frontier.HostOf(to) == frontier.HostOf(url) {
			return false
		}
	}
	return true
}

// obey adds the directives for this crawler to those for all crawlers. It looks for them in the
// document and in the response header.
func (opt *Options) obey(url string, doc *extract.Document, header http.Header) {
	if len(doc.Asks) == 0 && len(header["X-Robots-Tag"]) == 0 {
		return
	}
	name := robots.ProductToken(opt.Agent(frontier.HostOf(url)))
	ask, tag := doc.Asks[name], robotsTag(header, name)
	doc.NoIndex = doc.NoIndex || ask.NoIndex || tag.NoIndex
	doc.NoFollow = doc.NoFollow || ask.NoFollow || tag.NoFollow
}

func (got *reading) leadTo(leads *crawler.Leads) {
	got.links, got.beyond = leads.Items, leads.Beyond
	if leads.Cut {
		got.bound(store.BoundLinks)
	}
}

func (got *reading) describe(doc *extract.Document) {
	r := &got.seen
	r.Title, r.Description, r.Lang, r.Root = cut(doc.Title, maxTitle), cut(doc.Description, maxDescription), cut(doc.Lang, maxLang), doc.Root
	r.Author, r.SiteName = cut(doc.Author, maxName), cut(doc.SiteName, maxName)
	r.PublishedAt, r.ModifiedAt = dateOf(doc.Published), dateOf(doc.Modified)
	r.NoIndex = doc.NoIndex
	if !r.Rendered && doc.Needs != "" {
		r.NeedsScripts, r.Validators = doc.Needs, frontier.Validators{} // without validators, a later crawl fetches the page again and may render it
	}
	r.OtherLang = language.Detects(doc.DeclaredLang) && doc.DeclaredLang != r.Lang
	r.TitleFrom, r.SharedOnly = doc.TitleFrom, doc.SharedOnly
	r.H1, r.Breadcrumbs = names(doc.H1), names(doc.Breadcrumbs)
	if doc.Missing > 0 {
		r.Detail = document.Incomplete(doc)
	}
	if doc.Bound != "" {
		got.bound(doc.Bound)
	}
}

// names cuts a list of names of a page, and each of them.
func names(list []string) (all []string) {
	for _, name := range list[:min(len(list), store.MaxHeadings)] {
		all = append(all, cut(name, maxName))
	}
	return all
}

// relate skips URLs that cannot be resolved.
func (got *reading) relate(doc *extract.Document, base *frontier.Base) {
	r := &got.seen
	if doc.Canonical != "" {
		r.CanonicalURL, _ = base.Resolve(doc.Canonical)
	}
	var all []string
	for _, href := range doc.Canonicals {
		if url, err := base.Resolve(href); err == nil && !slices.Contains(all, url) && len(all) < store.MaxCanonicals {
			all = append(all, url)
		}
	}
	if len(all) > 1 {
		r.Canonicals = all
	}
	for _, a := range doc.Alternates {
		if a.Hreflang == "" || len(r.Alternates) == store.MaxAlternates {
			continue
		}
		if url, err := base.Resolve(a.Href); err == nil {
			r.Alternates = append(r.Alternates, store.Alternate{Lang: cut(a.Hreflang, maxLang), URL: url})
		}
	}
}

func (got *reading) bound(what string) {
	r := &got.seen
	if r.Bounds != "" {
		what = r.Bounds + "," + what
	}
	r.Bounds = what
}

// measure computes what is needed to judge a page: the number of words, and the hashes, shingles,
// sketch and keys of its text.
func (got *reading) measure(text string, opt *Options) {
	r := &got.seen
	canon, done := canonical(text)
	defer done()
	got.tokens = canon.Len()
	r.Words, r.Hash = got.tokens, canon.Hash()
	if opt.Learn != nil {
		got.said = learn.TextOf(text, canon.Numbers())
	}
	if got.tokens > 0 {
		got.shingles.list = opt.Rule.Shingles(canon)
		sketch := dedup.NewSketch(got.shingles.list)
		got.sketch = &sketch
		got.keys = opt.Rule.Keys(nil, canon, &sketch)
		got.hashes, got.hash = []dedup.Hash{r.Hash}, r.Hash
		withheld := precedence.Withheld(r)
		for i := 1; opt.Order == nil && i <= withheld; i++ {
			got.hash = asideHash(r.Hash, i)
			got.hashes = append(got.hashes, got.hash)
		}
		if opt.Order == nil || opt.Rule.Contained > 0 {
			got.aside = withheld
		}
	}
}

// leftOut records the number and the hash of the words that the extraction removed from a page.
// They help to explain wrong verdicts: two pages may be equal only because the words in which they
// differ were removed.
func (got *reading) leftOut(text string) {
	if text == "" {
		return
	}
	canon, done := canonical(text)
	defer done()
	if got.seen.LeftWords = canon.Len(); canon.Len() > 0 {
		got.seen.LeftHash = canon.Hash()
	}
}

// pack keeps a page's text in compressed form, with its Markdown and headings, if any.
func (got *reading) pack(opt *Options, text, markdown string, headings []store.Heading) {
	switch {
	case text == "":
	case opt.Temporary:
		got.text = store.PackFast(text, []byte(markdown), headings)
	default:
		got.text = store.PackMarked([]byte(text), []byte(markdown), headings)
	}
}

func headingsOf(doc *extract.Document) []store.Heading {
	all := make([]store.Heading, len(doc.Headings))
	for i, h := range doc.Headings {
		all[i] = store.Heading(h)
	}
	return all
}

func (got *reading) plainText() (string, error) {
	text, _, err := got.unpack()
	return text, err
}

func (got *reading) unpack() (text, markdown string, err error) {
	if got.text == nil {
		return "", "", nil
	}
	t, m, _, err := store.UnpackMarked(got.text)
	return string(t), string(m), err
}

var texts = sync.Pool{New: func() any { return new(dedup.Text) }}

// canonical returns the words of a text. Call done when it is no longer needed.
func canonical(text string) (canon *dedup.Text, done func()) {
	canon = texts.Get().(*dedup.Text)
	canon.ReadString(text)
	return canon, func() { giveBack(canon) }
}

// giveBack returns a canonical text to the pool, unless it is too large to keep.
func giveBack(canon *dedup.Text) {
	const large = 1 << 16 // in tokens
	if canon.Len() <= large {
		texts.Put(canon)
	}
}

// A page must not lead a page that is withheld less; see [precedence.Withheld]. In a crawl, the other
// page takes the lead from it; see elect.go. Files never take the lead, and with the rule containment
// a page takes it only if both texts are equal. In these cases, each degree of being withheld has an
// index of its own: the keys, and without elections also the hashes, are combined with asideBits. A
// page is looked up in the index of its own degree and in those of lower degrees.
const asideBits = 0x5A5A5A5A5A5A5A5A

func asideKeys(keys []uint64, degree int) []uint64 {
	aside := make([]uint64, len(keys))
	for i, k := range keys {
		aside[i] = k ^ uint64(degree)*asideBits
	}
	return aside
}

func asideHash(h dedup.Hash, degree int) dedup.Hash {
	for i := range h {
		h[i] ^= byte(0x5A * degree)
	}
	return h
}

// askedKeys returns the keys by which leaders for the page are looked up, and the minimum number of
// them that a leader must have.
func (got *reading) askedKeys(rule *dedup.Rule) (keys []uint64, meet int) {
	keys, meet = rule.Asked(got.keys)
	own := keys
	for i := 1; i <= got.aside; i++ {
		keys = slices.Concat(keys, asideKeys(own, i))
	}
	return keys, meet
}

// keysAbove returns the keys of the page in the indexes of higher degrees, with the rule containment.
func (got *reading) keysAbove(rule *dedup.Rule) (keys []uint64) {
	own, _ := rule.Asked(got.keys)
	for i := got.aside + 1; rule.Contained > 0 && i <= precedence.MostWithheld; i++ {
		keys = append(keys, asideKeys(own, i)...)
	}
	return keys
}

func (got *reading) runs() (dedup.Set, error) {
	text, err := got.plainText()
	if err != nil {
		return nil, err
	}
	canon := texts.Get().(*dedup.Text)
	defer giveBack(canon)
	return dedup.Runs(canon, text), nil
}

// extracting returns the options for extracting a page. The argument tree limits the size of the
// parsed tree in bytes; 0 means no limit. The language of plain text is not detected if it would be
// used only in a temporary record.
func (opt *Options) extracting(tree int64, url string) extract.Options {
	var rules selector.Rules
	if opt.Select != nil {
		rules = opt.Select(frontier.HostOf(url))
	}
	return extract.Options{
		Select: rules,
		Tree:   tree, Markdown: opt.Markdown != store.NoMarkdown, Embeds: !opt.NoLinks || opt.Requisites, Requisites: opt.Requisites,
		Markup: true, Anchors: opt.Anchors && !opt.NoLinks, SkipLang: opt.Temporary,
	}
}

// markdown returns the main text of a document as Markdown, or "" if Markdown is not kept. Its URLs
// are absolute, unless base is nil.
func (opt *Options) markdown(doc *extract.Document, base *frontier.Base) string {
	if opt.Markdown == store.NoMarkdown {
		return ""
	}
	as := extract.MarkdownOptions{Images: opt.Markdown == store.WithImages}
	if base != nil {
		as.Resolve = base.Absolute
	}
	defer doc.Release()
	return doc.Markdown(as)
}

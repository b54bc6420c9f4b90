package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"skink/frontier"
	"skink/internal/archive"
	"skink/internal/ingest"
	"skink/report/audit"
	"skink/store"
	"skink/store/precedence"
)

// # Deleting pages
//
// Pages are deleted in two steps. Each can be repeated if the process is killed. First the pipeline
// replaces the record of each page, as if the page was gone. So other pages become leaders, and feeds
// and indexes learn of the deletion. But the files of the store keep old values, and other values name
// the page. So the store is then written again from its dump, without all of that.
//
// Evidence about a host contains excerpts and URLs of its pages, and findings contain titles. They are
// left out as a whole, because the next crawl or audit finds them again.

// An Erasure deletes pages from a store, with the files that only they need.
type Erasure struct {
	Match  func(url string) bool // selects the URLs to delete
	Warc   *archive.Erasure      // deletes the same pages from web archives; nil means none
	Pages  int                   // records to delete
	Places []string              // file and offset of the deleted records in archives, with their URLs
	Links  int                   // links from other pages to deleted URLs
	Queued int                   // URLs to delete that have no record

	urls  []string        // of the records in the order in which they are deleted
	taken map[string]bool // the same URLs
	hosts map[string]bool // their hosts

	id, ids string // of this erasure in web archives, and of all
}

// Erases reports whether a URL is deleted, also that of a file which only deleted pages need.
func (e *Erasure) Erases(url string) bool { return e.taken[url] || e.Match(url) }

// Find finds what is to be deleted. It changes nothing.
func (e *Erasure) Find(ctx context.Context, s store.Store) error {
	e.taken, e.hosts = map[string]bool{}, map[string]bool{}
	needed, others := map[string]bool{}, map[string]bool{}
	for c, err := range s.Changes(ctx, "", store.WantLinks) {
		if err != nil {
			return err
		}
		by := others
		if e.Match(c.Record.URL) {
			by, e.taken[c.Record.URL] = needed, true
		}
		for i := range c.Links {
			if c.Links[i].Kind.Asset() {
				by[c.Links[i].URL] = true
			}
		}
	}
	var pages []string
	for c, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return err
		}
		switch r := &c.Record; {
		case e.taken[r.URL]:
			pages = append(pages, r.URL)
		case r.Requisite && (needed[r.URL] && !others[r.URL] || ingest.Erased(r)):
			e.urls, e.taken[r.URL] = append(e.urls, r.URL), true
		}
	}
	e.urls = append(e.urls, pages...) // the files first, because they are found by the links of their pages
	for _, url := range e.urls {
		e.hosts[frontier.HostOf(url)] = true
	}
	if err := e.Warc.Find(ctx); err != nil {
		return err
	}
	for _, err := range e.From(s).Dump(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// erasureName is the name of the value with the IDs of the erasures of web archives; see [archive.Erasure].
const erasureName = "erasures"

// Begin completes what a killed process has left in web archives, and reserves them until end is called.
func (e *Erasure) Begin(ctx context.Context, s *NamedStore) (end func(), err error) {
	ids, err := s.Meta(ctx, erasureName)
	if err != nil {
		return nil, err
	}
	e.id = rand.Text()
	e.ids = string(ids) + " " + e.id
	if end, err = e.Warc.Begin(string(ids)); err != nil {
		return nil, err
	}
	for _, dir := range e.Warc.Dirs {
		left, err := Adopt(ctx, s, dir, s.Requeue, func(format string, args ...any) { e.Warc.Note(fmt.Sprintf(format, args...)) })
		for name, why := range left {
			err = fmt.Errorf("%s: %s", name, why)
		}
		if err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// Mark replaces the records to delete, and judges the pages again that followed them. It also writes the
// web archives again, beside their places.
func (e *Erasure) Mark(ctx context.Context, s *NamedStore) error {
	set, err := store.ReadSettings(ctx, s)
	if err != nil || set == nil {
		return err
	}
	rule, err := StoredRule(*set, s.Name)
	if err != nil {
		return err
	}
	order, err := precedence.Read(ctx, s)
	if err != nil {
		return err
	}
	pipeline, err := ingest.New(ctx, s, ingest.Options{Rule: rule, Order: order, Markdown: set.Markdown, NoLinks: set.NoLinks, SkipDuplicates: set.SkipTexts})
	if err != nil {
		return err
	}
	for _, url := range e.urls {
		r, readErr := recordOf(ctx, s, url)
		if err = cmp.Or(err, readErr); err == nil && r != nil {
			err = pipeline.Erase(ctx, r)
		}
	}
	if err = cmp.Or(err, pipeline.Close()); err != nil {
		return err
	}
	return e.Warc.Write(ctx, e.id)
}

// Copy copies what stays of a store to an empty one.
func (e *Erasure) Copy(ctx context.Context, to, from store.Store, progress func(pages int64)) error {
	err := store.Copy(ctx, to, e.From(from), progress)
	if err == nil && len(e.Warc.Dirs) > 0 {
		err = to.SetMeta(ctx, erasureName, []byte(e.ids))
	}
	return err
}

// Complete puts the web archives in place. The copy must be in place.
func (e *Erasure) Complete() error { return e.Warc.Complete(e.ids) }

// From returns the store without what is to be deleted.
func (e *Erasure) From(s store.Dumper) store.Dumper { return remaining{e, s} }

type remaining struct {
	*Erasure
	from store.Dumper
}

// Dump implements [store.Dumper]. It counts what it leaves out.
func (r remaining) Dump(ctx context.Context) iter.Seq2[*store.Part, error] {
	return func(yield func(*store.Part, error) bool) {
		r.Pages, r.Links, r.Queued, r.Places = 0, 0, 0, nil
		for part, err := range r.from.Dump(ctx) {
			keep := true
			if err == nil {
				keep, err = r.keeps(part)
			}
			if keep && !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// keeps removes what is to be deleted from a part, and reports whether anything of the part is left.
func (e *Erasure) keeps(p *store.Part) (bool, error) {
	switch {
	case p.Value != nil:
		return e.keepsValue(p.Value)
	case p.Page != nil:
		return e.keepsPage(p.Page)
	case p.Outside != "":
		url, _ := frontier.Left(p.Outside)
		return !e.Match(url), nil
	case p.Item != nil:
		if e.Erases(p.Item.URL) {
			e.Queued++
			return false, nil
		}
		e.forget(&p.Item.Via, &p.Item.From)
	}
	return true, nil
}

func (e *Erasure) keepsValue(v *store.NamedValue) (keep bool, err error) {
	host, learned := strings.CutPrefix(v.Name, store.Learned)
	switch {
	case strings.HasPrefix(v.Name, archive.PostedName):
		var at store.Archived
		if err = json.Unmarshal(v.Value, &at); err == nil {
			at = e.Warc.Place(at)
			v.Value, err = json.Marshal(at)
		}
		return at.File != "", err
	case learned:
		return !e.hosts[host] && !strings.HasPrefix(host, "payload"), nil
	case v.Name == seedsName:
		var all Seeds
		if err = json.Unmarshal(v.Value, &all); err == nil {
			all.URLs, all.Moved = slices.DeleteFunc(all.URLs, e.Match), slices.DeleteFunc(all.Moved, e.Match)
			maps.DeleteFunc(all.From, func(to, from string) bool { return e.Match(to) || e.Match(from) })
			v.Value, err = json.Marshal(all)
		}
		return true, err
	}
	return !audit.IsKept(v.Name) && v.Name != ingest.InFlight, nil
}

func (e *Erasure) keepsPage(p *store.Placed) (bool, error) {
	r, err := store.UnpackRecord(p.Record)
	if err != nil {
		return false, err
	}
	if e.taken[r.URL] {
		e.Pages++
		for _, at := range []store.Archived{r.Archive, r.Answered} {
			if at.File != "" && !e.Warc.Searches(at.File) {
				e.Places = append(e.Places, fmt.Sprintf("%s:%d %s", at.File, at.Offset, r.URL))
			}
		}
		if p.State != frontier.Unknown {
			p.State = frontier.Outside
		}
		r.Archive, r.Answered = store.Archived{}, store.Archived{}
		p.Record, err = json.Marshal(r)
		return !r.Requisite, err
	}
	links, err := store.UnpackLinks(r.URL, p.Links)
	if err != nil {
		return false, err
	}
	n := len(links)
	if links = slices.DeleteFunc(links, func(l store.Link) bool { return e.Match(l.URL) }); len(links) < n {
		e.Links += n - len(links)
		p.Links = store.PackLinks(r.URL, links)
	}
	e.forget(&r.Via, &r.From, &r.Location, &r.CanonicalURL, &r.Source.CanonicalURL)
	r.Canonicals = slices.DeleteFunc(r.Canonicals, e.Match)
	r.Alternates = slices.DeleteFunc(r.Alternates, func(a store.Alternate) bool { return e.Match(a.URL) })
	if r.Archive, r.Answered = e.Warc.Place(r.Archive), e.Warc.Place(r.Answered); r.Answered == r.Archive { // the response has the payload now
		r.Answered = store.Archived{}
	}
	p.Record, err = json.Marshal(r)
	return true, err
}

// forget empties URLs that are deleted.
func (e *Erasure) forget(urls ...*string) {
	for _, url := range urls {
		if *url != "" && e.Match(*url) {
			*url = ""
		}
	}
}

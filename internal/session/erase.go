package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"skink/frontier"
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
	Pages  int                   // records to delete
	Places []string              // file and offset of the deleted records in archives, with their URLs
	Links  int                   // links from other pages to deleted URLs
	Queued int                   // URLs to delete that have no record

	urls  []string        // of the records in the order in which they are deleted
	taken map[string]bool // the same URLs
	hosts map[string]bool // their hosts
}

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
	for _, err := range e.From(s).Dump(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Mark replaces the records to delete, and judges the pages again that followed them.
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
	return cmp.Or(err, pipeline.Close())
}

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
		return e.keepsValue(p.Value.Name), nil
	case p.Page != nil:
		return e.keepsPage(p.Page)
	case p.Outside != "":
		url, _ := frontier.Left(p.Outside)
		return !e.Match(url), nil
	case p.Item != nil:
		if e.Match(p.Item.URL) || e.taken[p.Item.URL] {
			e.Queued++
			return false, nil
		}
		e.forget(&p.Item.Via, &p.Item.From)
	}
	return true, nil
}

func (e *Erasure) keepsValue(name string) bool {
	if host, learned := strings.CutPrefix(name, store.Learned); learned {
		return !e.hosts[host] && !strings.HasPrefix(host, "payload")
	}
	return !audit.IsKept(name) && name != ingest.InFlight
}

func (e *Erasure) keepsPage(p *store.Placed) (bool, error) {
	r, err := store.UnpackRecord(p.Record)
	if err != nil {
		return false, err
	}
	if e.taken[r.URL] {
		e.Pages++
		for _, at := range []store.Archived{r.Archive, r.Answered} {
			if at.File != "" {
				e.Places = append(e.Places, fmt.Sprintf("%s:%d %s", at.File, at.Offset, r.URL))
			}
		}
		if p.State != frontier.Unknown {
			p.State = frontier.Outside
		}
		return !r.Requisite, nil
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
	if e.forget(&r.Via, &r.From) {
		p.Record, err = json.Marshal(r)
	}
	return true, err
}

// forget empties URLs that are deleted, and reports whether there are any.
func (e *Erasure) forget(urls ...*string) (any bool) {
	for _, url := range urls {
		if *url != "" && e.Match(*url) {
			*url, any = "", true
		}
	}
	return any
}

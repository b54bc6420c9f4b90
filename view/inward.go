package view

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"skink/dedup"
	"skink/store"
)

// # Incoming links
//
// A store keeps the links of a page with the page, so outgoing links can be looked up directly, but
// incoming links cannot. So the view reads the links of all pages once. For each page, it records
// how many pages link to it, and the first of these pages. The text of a link is read from the
// linking page when the link is shown.
//
// The result takes 28 bytes per record, and 4 to 8 per recorded link. It is computed in the background
// when a user views a page for the first time, and is kept until a user requests a new result with a
// form. While a crawl in this process is writing to the store, only the form starts the computation,
// because viewing a page must not slow down a crawl.

// These are the maximum numbers of linking pages that are recorded: maxInward for one URL, and
// maxNoted for all URLs, which takes up to 512 MB. Further linking pages are only counted.
const (
	maxInward = 100
	maxNoted  = 1 << 26
)

// An inward contains the incoming links of all pages. It identifies a page by the number of the page's
// first row.
type inward struct {
	rows  *rows      // the rows that the numbers in the other fields refer to
	count []uint32   // for each page, how many other pages link to it
	from  [][]uint32 // for each page, the first pages that link to it
	noted int        // total number of elements in from
	tree  *tree      // folders, and the links between them
}

// linking returns the recorded pages that link to a page, and the total number of pages that do.
func (in *inward) linking(page uint32) (first []uint32, all int) {
	if int(page) >= len(in.count) {
		return nil, 0
	}
	return in.from[page], int(in.count[page])
}

// add records the links from a page to the other pages in linked. It reorders linked.
func (in *inward) add(from uint32, linked []uint32) {
	slices.Sort(linked)
	for _, page := range slices.Compact(linked) {
		if page == from {
			continue
		}
		in.tree.add(from, page)
		if more := int(page) + 1 - len(in.count); more > 0 {
			in.count, in.from = append(in.count, make([]uint32, more)...), append(in.from, make([][]uint32, more)...)
		}
		if in.count[page]++; in.count[page] <= maxInward && in.noted < maxNoted {
			in.from[page] = append(in.from[page], from)
			in.noted++
		}
	}
}

// readLinks reads the links of all pages, and returns when it has read them. It returns at once if
// another call is reading them.
func (v *View) readLinks() { v.incoming.renew(v.life, v.readInward) }

// readInward reads the links of all pages that have a row in the index, and returns them as
// incoming links.
func (v *View) readInward(ctx context.Context) (*inward, error) {
	for { // wait until the index is complete, because links to pages without a row would be lost
		v.index.fresh(ctx)
		p := v.index.progress()
		if !p.Reading {
			break
		}
		if p.Failed != "" {
			return nil, errors.New(p.Failed)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(patience):
		}
	}
	type named struct {
		page dedup.Hash
		to   []dedup.Hash
	}
	var some []named
	in := &inward{tree: v.index.newTree()}
	take := func() {
		v.index.look(func(t *rows) {
			if in.rows != nil && in.rows != t { // start again, because the rows have been dropped and read again, with new numbers
				in = &inward{tree: &tree{}}
			}
			in.rows = t
			var pages []uint32
			for _, n := range some {
				from, ok := t.find(n.page)
				if !ok {
					continue
				}
				pages = pages[:0]
				for _, id := range n.to {
					if to, ok := t.find(id); ok {
						pages = append(pages, t.at(to).first)
					}
				}
				in.add(t.at(from).first, pages)
			}
		})
		some = some[:0]
	}
	err := v.opt.Store.Read(ctx, func(s store.Reader) error {
		for c, err := range s.Changes(ctx, "", store.WantLinks) {
			if err != nil {
				return err
			}
			if len(c.Links) == 0 {
				continue
			}
			n := named{page: c.Record.ID, to: make([]dedup.Hash, len(c.Links))}
			for i, l := range c.Links {
				n.to[i] = dedup.HashOf([]byte(l.URL))
			}
			if some = append(some, n); len(some) == batch {
				take()
			}
		}
		return nil
	})
	take()
	in.tree.draw()
	return in, err
}

type inView struct {
	state
	None  bool // whether the links have not been read yet
	All   int
	Links []inLink
}

type inLink struct {
	*store.Record
	Text     string // texts of the links, on one line
	Kind     store.LinkKind
	NoFollow bool
}

// linkTime is how long a request may spend looking up the text of links. The lookup is slow for a
// linking page with thousands of links.
const linkTime = 60 * time.Millisecond

// inwardOf returns the pages that link to page, or nil if the store keeps no links.
func (v *View) inwardOf(ctx context.Context, s store.Reader, page *store.Record) (*inView, error) {
	if v.opt.About.Settings.NoLinks {
		return nil, nil
	}
	known := wanted(v, &v.incoming, v.readLinks)
	shown := &inView{state: known.state, None: known.result == nil}
	if known.result == nil {
		return shown, nil
	}
	var ids []dedup.Hash
	v.index.look(func(t *rows) {
		row, ok := t.find(page.ID)
		if shown.None = t != known.result.rows; shown.None || !ok {
			return
		}
		first, all := known.result.linking(t.at(row).first)
		shown.All = all
		for _, from := range first {
			ids = append(ids, t.at(int(from)).id)
		}
	})
	until := time.Now().Add(linkTime)
	const atOnce = 10
	for some := range slices.Chunk(ids, atOnce) {
		want := store.WantLinks
		if time.Now().After(until) {
			want = store.WantRecord
		}
		pages, err := s.Pages(ctx, some, want)
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			if p != nil {
				shown.Links = append(shown.Links, linkTo(p, page.URL))
			}
		}
	}
	return shown, nil
}

func linkTo(c *store.Content, url string) inLink {
	in := inLink{Record: &c.Record}
	if i := slices.IndexFunc(c.Links, func(l store.Link) bool { return l.URL == url }); i >= 0 {
		in.Text, in.Kind, in.NoFollow = c.Links[i].Said(), c.Links[i].Kind, c.Links[i].NoFollow
	}
	return in
}

// recountLinks starts a new count of all links, and returns the address of the page with its form.
func (v *View) recountLinks(r *http.Request) (next string) {
	var id dedup.Hash
	if id.UnmarshalText([]byte(r.PathValue("id"))) != nil {
		return ""
	}
	v.beside.Go(v.readLinks)
	return "/page/" + id.String() + "#in"
}

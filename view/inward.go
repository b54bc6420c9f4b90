package view

import (
	"cmp"
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
// A store keeps the links of a page with the page. So it finds outgoing links at once, but not
// incoming ones. The view reads the links of all pages once. For each row it records how many pages
// link to it, and which were the first. The text of such a link is read from the linking page when
// it is shown.
//
// That takes 8 bytes a record and 4 for each recorded link, and 12 more of each while it is made.
// It runs in the background, starting with the first view of a page, and the result is kept until a
// form asks for a new one. While a crawl of this process writes to the store, only the form starts
// it, as with the audit.

// These bound the recorded links: the pages that link to one URL, and such pages over all URLs,
// which take 256 MB. Further links are only counted.
const (
	mostInward = 100
	mostNoted  = 1 << 26
)

// An inward holds the incoming links of all pages. It never changes. A page is identified by the
// number of its first row.
type inward struct {
	of    *rows    // the rows to which all row numbers belong
	count []uint32 // count[p] is the number of other pages that link to page p
	begin []uint32 // from[begin[p]:begin[p+1]] are the first pages that link to page p
	from  []uint32 // linking pages, see begin
}

// linking returns the first pages that link to a page, and the number of all.
func (in *inward) linking(page uint32) (first []uint32, all int) {
	if int(page) >= len(in.count) {
		return nil, 0
	}
	return in.from[in.begin[page]:in.begin[page+1]], int(in.count[page])
}

// An inwardMaker collects the links of one page after the other.
type inwardMaker struct {
	count []uint32
	noted [][]edge // in pieces of notedAtOnce, so that more of them cost no copy
	all   int
}

// An edge is a link from one page to another.
type edge struct{ from, to uint32 }

const notedAtOnce = 1 << 16

// add adds the links of a page. It changes the order of to.
func (m *inwardMaker) add(from uint32, to []uint32) {
	slices.Sort(to)
	for _, page := range slices.Compact(to) {
		if page == from {
			continue
		}
		if int(page) >= len(m.count) {
			m.count = append(m.count, make([]uint32, int(page)+1-len(m.count))...)
		}
		m.count[page]++
		if m.count[page] > mostInward || m.all == mostNoted {
			continue
		}
		if m.all%notedAtOnce == 0 {
			m.noted = append(m.noted, make([]edge, 0, notedAtOnce))
		}
		last := &m.noted[len(m.noted)-1]
		*last = append(*last, edge{from, page})
		m.all++
	}
}

// made sorts the recorded links by the page they lead to.
func (m *inwardMaker) made(of *rows) *inward {
	in := &inward{of: of, count: m.count, begin: make([]uint32, len(m.count)+1), from: make([]uint32, m.all)}
	for _, some := range m.noted {
		for _, e := range some {
			in.begin[e.to+1]++
		}
	}
	for i := range m.count {
		in.begin[i+1] += in.begin[i]
	}
	next := slices.Clone(in.begin)
	for i, some := range m.noted {
		for _, e := range some {
			in.from[next[e.to]] = e.from
			next[e.to]++
		}
		m.noted[i] = nil
	}
	return in
}

// turn reads the links of all pages and keeps, for each page, which pages link to it. It does nothing if
// that is already running.
func (v *View) turn() { v.turning.renew(v.life, v.readInward) }

// readInward reads the links of all pages that have a row.
func (v *View) readInward(ctx context.Context) (*inward, error) {
	for { // links to pages without a row are lost
		v.index.fresh(ctx, &v.beside, v.life)
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
	var m inwardMaker
	var of *rows
	take := func() {
		v.index.look(func(t *rows) {
			if of != t { // also if the rows were restarted meanwhile, which changes their numbers
				of, m = t, inwardMaker{}
			}
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
				m.add(t.at(from).first, pages)
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
	return m.made(of), err
}

// An inView shows the pages that link to a page.
type inView struct {
	Form   string
	None   bool   // the links have not been counted yet
	At     string // when it was counted
	Making bool
	Failed string
	All    int // pages that link to it
	Links  []inLink
}

// An inLink is a page that links to another, and how.
type inLink struct {
	*store.Record
	Text     string // of the first such link that has one
	Kind     store.LinkKind
	NoFollow bool
}

// linkTime is the longest time for looking up the texts of links during a request. A page may have
// thousands of links.
const linkTime = 60 * time.Millisecond

// inwardOf returns the pages that link to a page.
func (v *View) inwardOf(ctx context.Context, s store.Reader, page *store.Record) (*inView, error) {
	if v.opt.About.Settings.NoLinks {
		return nil, nil
	}
	known := v.turning.now()
	if known.what == nil && known.failed == nil && !known.making && v.opt.Crawl == nil {
		v.beside.Go(v.turn)
		known.making = true
	}
	shown := &inView{Form: v.form, At: timeText(known.at), Making: known.making, None: known.what == nil}
	if known.failed != nil {
		shown.Failed = known.failed.Error()
	}
	if known.what == nil {
		return shown, nil
	}
	var ids []dedup.Hash
	v.index.look(func(t *rows) {
		row, ok := t.find(page.ID)
		if shown.None = t != known.what.of; shown.None || !ok {
			return
		}
		first, all := known.what.linking(t.at(row).first)
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

// linkTo returns how a page links to a URL.
func linkTo(c *store.Content, url string) inLink {
	in := inLink{Record: &c.Record}
	for _, l := range c.Links {
		if l.URL == url && (in.Kind == "" || in.Text == "") {
			in.Text, in.Kind, in.NoFollow = cmp.Or(in.Text, l.Text), cmp.Or(in.Kind, l.Kind), l.NoFollow
		}
	}
	return in
}

// turnAgain starts a new count of all links, and redirects to the page with the form.
func (v *View) turnAgain(w http.ResponseWriter, r *http.Request) {
	var id dedup.Hash
	switch {
	case id.UnmarshalText([]byte(r.PathValue("id"))) != nil:
		http.Error(w, "there is no such page", http.StatusNotFound)
	case !v.authentic(r):
		http.Error(w, "this form has expired: reload the page, and press the button again", http.StatusForbidden)
	default:
		v.beside.Go(v.turn)
		http.Redirect(w, r, "/page/"+id.String()+"#in", http.StatusSeeOther)
	}
}

package view

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"skink/store"
)

// A mapView is the data for the page that shows the folders and their links, and which hosts have duplicates of other
// hosts' pages. If all pages are on one host, the page shows which folders have them.
type mapView struct {
	Pairs []placePair // pairs in the shown part of the list
	Hosts bool        // whether the pages are on several hosts
	paging
	Tree  *tree // nil if the links have not been read, or if the page shows a later part of the list
	Links state // of the reading of the links
	Kept  bool  // whether the store keeps links
}

// A placePair is a pair of hosts or folders. Pages is the number of pages in Host that are duplicates of pages in Of.
type placePair struct {
	Host, Of string
	Pages    int64
	All      int64 // total number of pages in Host
}

func (v *View) mapPage(_ context.Context, r *http.Request) (*screen, error) {
	m := &mapView{Kept: !v.opt.About.Settings.NoLinks}
	if fromOf(r) == 0 {
		known := wanted(v, &v.incoming, v.readLinks)
		if m.Links = known.state; known.result != nil {
			m.Tree = known.result.tree
		}
	}
	v.index.look(func(t *rows) {
		m.Pairs, m.paging = partOf("/map", r, t.pairs())
		m.Hosts = t.severalHosts()
	})
	return &screen{name: "map", title: "Map", again: m.Links.Making && m.Tree == nil, Content: m}, nil
}

// redraw reads the folders and links again, and returns the address of the map.
func (v *View) redraw(*http.Request) (next string) {
	v.beside.Go(v.readLinks)
	return "/map"
}

// common returns the lowest folder that has both URLs, such as "https://a.example/docs/", or "//" if there is none.
func common(a, b string) string {
	for !strings.HasPrefix(b, a) || !strings.HasSuffix(a, "/") {
		a = a[:strings.LastIndexByte(strings.TrimRight(a, "/"), '/')+1]
		if a == "" || strings.HasSuffix(a, "//") {
			return "//"
		}
	}
	return a
}

// place returns the host of a row, or its folder in t.root if all pages are on one host.
func (t *rows) place(i int) string {
	if t.severalHosts() {
		return t.hosts[t.at(i).host].name
	}
	url, _ := t.strings(i)
	folder, _, below := strings.Cut(strings.TrimPrefix(string(url), strings.ToLower(t.root)), "/")
	if !below || strings.ContainsAny(folder, "?#") {
		return t.short(t.root)
	}
	return t.short(t.root + folder + "/")
}

// short returns a URL without its scheme and host if all pages are on that host.
func (t *rows) short(rawURL string) string {
	if host := store.HostOf(t.root); host != "" && store.HostOf(rawURL) == host {
		_, rawURL, _ = strings.Cut(rawURL, "://"+host)
	}
	return rawURL
}

func (t *rows) severalHosts() bool { return t.root == "//" }

// countPairs returns the pairs of places where one has duplicates of the other's pages, sorted by the number of these
// duplicates, largest first.
func (t *rows) countPairs() (all []placePair) {
	pages, between := map[string]int64{}, map[[2]string]int64{}
	for i := range t.n {
		r := t.at(i)
		if r.verdict == 0 || r.flags&dead != 0 {
			continue
		}
		at := t.place(i)
		pages[at]++
		if leader, known := t.find(t.clusters[r.cluster].leader); known {
			between[[2]string{at, t.place(leader)}]++
		}
	}
	for p, n := range between {
		if !t.severalHosts() || p[0] != p[1] {
			all = append(all, placePair{p[0], p[1], n, pages[p[0]]})
		}
	}
	slices.SortFunc(all, func(a, b placePair) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Of, b.Of))
	})
	return all
}

package view

import (
	"cmp"
	"context"
	"net/http"
	"slices"
)

// A mapView is the data for the page that shows which hosts have duplicates of other hosts' pages.
type mapView struct {
	Pairs []hostPair // pairs of hosts in the shown part of the list
	paging
}

// A hostPair is a pair of hosts. Pages is the number of pages on Host that are duplicates of pages
// on the host Of.
type hostPair struct {
	Host, Of string
	Pages    int64
	All      int64 // total number of pages on Host
}

func (v *View) mapPage(_ context.Context, r *http.Request) (*screen, error) {
	m := &mapView{}
	v.index.look(func(t *rows) { m.Pairs, m.paging = partOf("/map", r, t.pairs()) })
	return &screen{name: "map", title: "Map", Content: m}, nil
}

// pairs returns the pairs of different hosts where one host has duplicates of the other's pages,
// sorted by the number of these duplicates, largest first.
func (t *rows) pairs() (all []hostPair) {
	for p, n := range t.between {
		if n > 0 && p.member != p.leader {
			all = append(all, hostPair{t.hosts[p.member].name, t.hosts[p.leader].name, n, t.hosts[p.member].tally.Pages()})
		}
	}
	slices.SortFunc(all, func(a, b hostPair) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Of, b.Of))
	})
	return all
}

package view

import (
	"cmp"
	"context"
	"net/http"
	"slices"
)

// A mapView is the data for the page that shows which hosts have duplicates of other hosts' pages.
// The square is a table with the same hosts as rows and columns.
type mapView struct {
	Heads []string   // hosts in the square: those with the most duplicates of each other's pages
	Rows  []mapRow   // one row for each host in Heads, with one cell for each host in Heads
	Pairs []hostPair // pairs of hosts in the shown part of the list
	paging
}

// A mapRow is a row of the square. It compares one host with each host in the square.
type mapRow struct {
	Host  string
	Cells []mapCell
}

// A mapCell is the number of pages of the row's host that are duplicates of pages of the column's
// host.
type mapCell struct {
	Pages int64
	Heat  int // color, 0 to 5, for the share of these pages among all pages of the row's host
}

// A hostPair is a pair of hosts. Pages is the number of pages on Host that are duplicates of pages
// on the host Of.
type hostPair struct {
	Host, Of string
	Pages    int64
	All      int64 // total number of pages on Host
	place    shared
}

// squareSize is the maximum number of rows, and of columns, in the square.
const squareSize = 12

func (v *View) mapPage(_ context.Context, r *http.Request) (*screen, error) {
	m := &mapView{}
	v.index.look(func(t *rows) {
		all := t.pairs()
		m.Pairs, m.paging = partOf("/map", r, all)
		m.square(t, all)
	})
	return &screen{name: "map", title: "Map", Content: m}, nil
}

// pairs returns the pairs of different hosts where one host has duplicates of the other's pages,
// sorted by the number of these duplicates, largest first.
func (t *rows) pairs() (all []hostPair) {
	for p, n := range t.between {
		if n > 0 && p.member != p.leader {
			all = append(all, hostPair{t.hosts[p.member].name, t.hosts[p.leader].name, n, t.hosts[p.member].tally.Pages(), p})
		}
	}
	slices.SortFunc(all, func(a, b hostPair) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Of, b.Of))
	})
	return all
}

// square sets the rows of the square to the hosts that share the most pages. all lists the pairs of
// hosts, sorted by the number of shared pages, largest first.
func (m *mapView) square(t *rows, all []hostPair) {
	var hosts []uint32
	for _, p := range all {
		for _, h := range []uint32{p.place.member, p.place.leader} {
			if len(hosts) < squareSize && !slices.Contains(hosts, h) {
				hosts = append(hosts, h)
			}
		}
	}
	for _, a := range hosts {
		m.Heads = append(m.Heads, t.hosts[a].name)
		row := mapRow{Host: t.hosts[a].name}
		for _, b := range hosts {
			n := t.between[shared{a, b}]
			heat := 0
			if of := t.hosts[a].tally.Pages(); n > 0 && of > 0 {
				heat = int(min(1+5*n/of, 5))
			}
			row.Cells = append(row.Cells, mapCell{n, heat})
		}
		m.Rows = append(m.Rows, row)
	}
}

package view

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
)

// A mapView shows which hosts repeat pages of which others.
type mapView struct {
	Heads   []string   // names of the hosts with the most duplicates of each other's pages
	Rows    []mapRow   // one for each host in Heads
	Pairs   []hostPair // a part of the list of all pairs, from First to Last
	Total   int
	First   int
	Last    int
	Earlier string
	Later   string
}

// A mapRow says how many pages of one host duplicate pages of each other host.
type mapRow struct {
	Host  string
	Cells []mapCell
}

// A mapCell says how many pages of one host repeat pages of another.
type mapCell struct {
	Pages int64
	Heat  int // from 0 to 5: the share of the host's pages
}

// A hostPair is two hosts of which one repeats pages of the other.
type hostPair struct {
	Host, Of string
	Pages    int64
	All      int64 // number of all pages of Host
	place    shared
}

// mapped is the number of hosts in each direction of the table that mapPage shows.
const mapped = 12

// mapPage shows a table of hosts by hosts: how many pages of one duplicate pages of another.
func (v *View) mapPage(_ context.Context, r *http.Request) (*screen, error) {
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	m := &mapView{}
	v.index.look(func(t *rows) {
		all := t.pairs()
		m.Total = len(all)
		from = min(max(from, 0), len(all))
		m.Pairs = all[from:min(from+most, len(all))]
		m.square(t, all)
	})
	m.First, m.Last = from+1, from+len(m.Pairs)
	if from > 0 {
		m.Earlier = "/map?from=" + strconv.Itoa(max(from-most, 0))
	}
	if m.Last < m.Total {
		m.Later = "/map?from=" + strconv.Itoa(m.Last)
	}
	return &screen{name: "map", title: "Map", Content: m}, nil
}

// pairs returns the pairs of different hosts that share pages, those that share most first.
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

// square fills the square of the hosts that share the most.
func (m *mapView) square(t *rows, all []hostPair) {
	var hosts []uint32
	for _, p := range all {
		for _, h := range []uint32{p.place.member, p.place.leader} {
			if len(hosts) < mapped && !slices.Contains(hosts, h) {
				hosts = append(hosts, h)
			}
		}
	}
	for _, a := range hosts {
		m.Heads = append(m.Heads, hostText(t.hosts[a].name))
		row := mapRow{Host: hostText(t.hosts[a].name)}
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

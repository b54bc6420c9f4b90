package view

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

type clusterRow struct {
	ID             dedup.Hash // ID of the leader
	Leader         *store.Record
	Members, Exact int64   // number of duplicates, and of those with the same words as the leader
	Lowest         float64 // lowest resemblance of a duplicate
	Why            string  // why the leader leads; "" if that was not looked up

	others []dedup.Hash // the duplicates, if they are few enough to look them up
}

// Near returns the number of duplicates whose words differ from those of the leader.
func (c clusterRow) Near() int64 { return c.Members - c.Exact }

type patternRow struct {
	Shape      string
	Duplicates int64
	Link       string
}

type clusterList struct {
	Query    url.Values
	Hosts    []string
	Shape    string
	Clusters []clusterRow
	Patterns []patternRow
	paging
}

// clustersPage lists the clusters, largest first. The request may restrict the list to clusters
// that have a member on a given host, or a member whose URL has a given pattern.
func (v *View) clustersPage(ctx context.Context, r *http.Request) (*screen, error) {
	form := r.URL.Query()
	l := &clusterList{Query: form, Hosts: v.largestHosts(100), Shape: form.Get("shape")}
	v.index.look(func(t *rows) {
		var some []uint32
		some, l.paging = partOf("/clusters", r, t.clustersOf(form.Get("host"), form.Get("shape")))
		l.Clusters = t.rowsOf(some)
		if form.Get("shape") == "" {
			l.Patterns = t.patterns(form)
		}
	})
	return &screen{name: "clusters", title: "Clusters", Content: l}, v.opt.Store.Read(ctx, func(s store.Reader) error { return lead(ctx, s, l.Clusters) })
}

// clustersOf returns the indexes in t.clusters of the clusters that have members, largest first. If
// host or shape is not "", it returns only clusters with a member on that host, or with a URL of
// that pattern.
func (t *rows) clustersOf(host, shape string) (places []uint32) {
	var there rowSet
	if host != "" || shape != "" {
		there = make(rowSet, len(t.clusters)/64+1)
		matches := t.matching(query{host: host, shape: shape})
		for i := range t.n {
			if c := t.at(i).cluster; c != 0 && matches(i) {
				there.add(int(c))
			}
		}
	}
	for c := range t.clusters {
		if t.clusters[c].members > 0 && (there == nil || there.has(c)) {
			places = append(places, uint32(c))
		}
	}
	slices.SortFunc(places, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(t.clusters[b].members, t.clusters[a].members), cmp.Compare(a, b))
	})
	return places
}

const patternsShown = 20

// patterns returns the URL patterns with the most duplicates. If the list of clusters is restricted
// to a host, only the pages of that host count.
func (t *rows) patterns(form url.Values) (all []patternRow) {
	counts := make([]int64, len(t.shapes))
	matches := t.matching(query{host: form.Get("host")})
	for i := range t.n {
		if r := t.at(i); r.cluster != 0 && r.shape != 0 && matches(i) {
			counts[r.shape]++
		}
	}
	places := make([]int, 0, len(counts))
	for s, n := range counts {
		if n > 1 {
			places = append(places, s)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for _, s := range places[:min(len(places), patternsShown)] {
		all = append(all, patternRow{t.shapes[s], counts[s], with("/clusters", form, "shape", t.shapes[s])})
	}
	return all
}

type clusterView struct {
	ID      dedup.Hash
	Leader  *store.Record
	Why     string // as in clusterRow
	Members []*store.Record
	paging

	MinWords int // pages with fewer words count as thin
}

// clusterPage shows the members of a cluster, highest resemblance first. If the request names a
// member, its text is shown next to the leader's.
func (v *View) clusterPage(ctx context.Context, r *http.Request) (*screen, error) {
	c := &clusterView{MinWords: v.opt.Rule.MinWords}
	err := v.opt.Store.Read(ctx, func(s store.Reader) error {
		leader, err := content(ctx, s, r.PathValue("id"), store.WantRecord)
		if err != nil {
			return err
		}
		c.ID, c.Leader = leader.Record.ID, &leader.Record
		var ids []dedup.Hash
		row := []clusterRow{{Leader: c.Leader}}
		v.index.look(func(t *rows) {
			all := t.members(c.ID)
			var some []int
			some, c.paging = partOf("/cluster/"+c.ID.String(), r, all)
			if ids = t.ids(some); len(all) <= explained {
				row[0].others = t.ids(all)
			}
		})
		if c.Members, err = records(ctx, s, ids); err != nil {
			return err
		}
		err = v.explain(ctx, s, row)
		c.Why = row[0].Why
		return err
	})
	if err != nil {
		return nil, err
	}
	return &screen{name: "cluster", title: "Cluster of", subject: cmp.Or(strings.TrimSpace(report.Clip(c.Leader.Title, 200)), c.Leader.URL), Content: c}, nil
}

func (t *rows) ids(places []int) (ids []dedup.Hash) {
	for _, i := range places {
		ids = append(ids, t.at(i).id)
	}
	return ids
}

// members returns the rows of the members of the leader's cluster, highest resemblance first.
func (t *rows) members(leader dedup.Hash) (all []int) {
	c, ok := t.ledBy[leader]
	if !ok {
		return nil
	}
	for i := range t.n {
		if r := t.at(i); r.cluster == c && r.flags&dead == 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(t.at(b).resemblance, t.at(a).resemblance) })
	return all
}

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
	Members, Exact int64    // number of duplicates, and of those with the same words as the leader
	Lowest         float64  // lowest resemblance of a duplicate
	Where          []string // some of the places of the duplicates; see [rows.place]
	Why            string   // why the leader leads; "" if that was not looked up

	others []dedup.Hash // the duplicates, if they are few enough to look them up
	at     uint32       // index in rows.clusters
	listed bool         // whether a duplicate is selected
}

// Near returns the number of duplicates whose words differ from those of the leader.
func (c clusterRow) Near() int64 { return c.Members - c.Exact }

type patternRow struct {
	Shape      string
	Duplicates int64
}

type clusterList struct {
	Query    url.Values
	Hosts    []string
	Shape    string
	Segments []string
	Segment  string
	Sort     string // lowest, near or ""
	Clusters []clusterRow
	Patterns []patternRow
	paging
}

// clustersPage lists the clusters, by default largest first. The request may restrict the list to clusters
// that have a member on a given host, in a given segment, or a member whose URL has a given pattern.
func (v *View) clustersPage(ctx context.Context, r *http.Request) (*screen, error) {
	form := r.URL.Query()
	l := &clusterList{Query: form, Hosts: v.largestHosts(100), Shape: form.Get("shape"), Sort: form.Get("sort"), Segments: v.opt.Segments.Names(), Segment: form.Get("segment")}
	q := query{host: form.Get("host"), shape: l.Shape, segment: l.Segment}
	v.index.look(func(t *rows) {
		l.Clusters, l.paging = partOf("/clusters", r, t.clustersOf(q, l.Sort))
		t.locate(l.Clusters)
		if l.Shape == "" {
			l.Patterns = t.patterns(q)
		}
	})
	return &screen{name: "clusters", title: "Clusters", Content: l}, v.opt.Store.Read(ctx, func(s store.Reader) error { return v.lead(ctx, s, l.Clusters) })
}

// clustersOf returns the clusters that have a member that q selects, without their leaders. They are sorted by their
// lowest resemblance if by is lowest, by the number of near duplicates if it is near, and otherwise by the number of
// duplicates.
func (t *rows) clustersOf(q query, by string) []clusterRow {
	all := make([]clusterRow, len(t.clusters))
	matches := t.matching(q)
	for i := range t.n {
		r := t.at(i)
		if r.cluster == 0 || r.flags&dead != 0 {
			continue
		}
		c := &all[r.cluster]
		if c.Members == 0 {
			*c = clusterRow{ID: t.clusters[r.cluster].leader, Lowest: 1, at: r.cluster}
		}
		c.Members++
		c.Lowest = min(c.Lowest, float64(r.resemblance))
		if verdicts[r.verdict] == string(dedup.Exact) {
			c.Exact++
		}
		c.listed = c.listed || matches(i)
	}
	all = slices.DeleteFunc(all, func(c clusterRow) bool { return !c.listed })
	slices.SortFunc(all, func(a, b clusterRow) (first int) {
		switch by {
		case "lowest":
			first = cmp.Compare(a.Lowest, b.Lowest)
		case "near":
			first = cmp.Compare(b.Near(), a.Near())
		}
		return cmp.Or(first, cmp.Compare(b.Members, a.Members), cmp.Compare(a.at, b.at))
	})
	return all
}

// locate sets where the duplicates of clusters are, and which they are if they are few.
func (t *rows) locate(clusters []clusterRow) {
	at := map[uint32]*clusterRow{}
	for i := range clusters {
		at[clusters[i].at] = &clusters[i]
	}
	for i := range t.n {
		r := t.at(i)
		c := at[r.cluster]
		if c == nil || r.flags&dead != 0 {
			continue
		}
		if c.Members*int64(len(clusters)) <= overviewRows*explained {
			c.others = append(c.others, r.id)
		}
		if place := t.place(i); len(c.Where) < 5 && !slices.Contains(c.Where, place) {
			c.Where = append(c.Where, place)
		}
	}
}

const patternsShown = 20

// patterns returns the URL patterns with the most duplicates among the pages that q selects.
func (t *rows) patterns(q query) (all []patternRow) {
	counts := make([]int64, len(t.shapes.all))
	matches := t.matching(q)
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
		all = append(all, patternRow{t.shapes.all[s], counts[s]})
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

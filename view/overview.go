package view

import (
	"cmp"
	"context"
	"net/http"

	"skink/dedup"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

// An overview is the data for the first page of a view without a crawl. It says how good the site is,
// what to fix first, and which pages repeat others.
type overview struct {
	*auditView
	Tally    store.Tally
	Hosts    int    // number of hosts with pages
	Host     string // one of them
	Visited  string
	Tiles    []tile           // empty without an audit
	First    []*audit.Finding // findings to fix first
	Clusters []clusterRow     // largest clusters
	Mirrors  []placePair      // places most of whose pages duplicate pages of one other place
}

// A tile counts the findings of one weight.
type tile struct {
	Weight          audit.Weight
	Findings, Pages int
	New, Fixed      int // changes since the earlier crawl
}

const overviewRows = 5 // maximum length of a list on the page

func (v *View) overviewPage(ctx context.Context, r *http.Request) (*screen, error) {
	o := &overview{auditView: v.audited(r)}
	if a := v.auditing.now().result; a != nil {
		o.Tiles, o.First, o.Visited = tilesOf(a), a.First(overviewRows), timeText(a.Last)
	}
	v.index.look(func(t *rows) {
		for i := range t.hosts {
			if h := &t.hosts[i]; h.tally.Pages() > 0 {
				o.Hosts, o.Host = o.Hosts+1, h.name
			}
		}
		all := t.clustersOf(query{}, "")
		o.Clusters = all[:min(len(all), overviewRows)]
		t.locate(o.Clusters)
		for _, p := range t.pairs() {
			if len(o.Mirrors) < overviewRows && 2*p.Pages > p.All && p.Host != p.Of {
				o.Mirrors = append(o.Mirrors, p)
			}
		}
	})
	s := &screen{name: "site", title: "Overview", again: o.Making, Content: o}
	if o.Hosts == 1 {
		s.title, s.subject = "", cmp.Or(o.Host, "Files")
	}
	return s, v.opt.Store.Read(ctx, func(s store.Reader) (err error) {
		if o.Tally, err = s.Tally(ctx); err != nil {
			return err
		}
		return v.lead(ctx, s, o.Clusters)
	})
}

func tilesOf(a *compared) (all []tile) {
	for w := audit.Error; w <= audit.Note; w++ {
		all = append(all, tile{Weight: w})
	}
	for _, f := range a.Findings() {
		if f.Weight > audit.Note || f.Count() == 0 && f.Since() == nil {
			continue
		}
		t := &all[f.Weight-audit.Error]
		if t.Pages += f.Count(); f.Count() > 0 {
			t.Findings++
		}
		if since := f.Since(); since != nil {
			t.New, t.Fixed = t.New+since.New, t.Fixed+since.Fixed
		}
	}
	return all
}

// explained is the maximum number of duplicates in a cluster whose leader is explained. In a long list, it is less.
const explained = 200

// explain sets why the leaders of clusters lead, if it knows the duplicates.
func (v *View) explain(ctx context.Context, s store.Reader, clusters []clusterRow) error {
	why, err := report.WhyLeads(ctx, s, v.opt.Rule.Contained > 0)
	for i := range clusters {
		c := &clusters[i]
		if err != nil || c.Leader == nil || c.others == nil {
			continue
		}
		var others []*store.Record
		if others, err = records(ctx, s, c.others); err == nil {
			c.Why, err = why(c.Leader, others)
		}
	}
	return err
}

// lead sets the leaders of clusters, and why they lead.
func (v *View) lead(ctx context.Context, s store.Reader, clusters []clusterRow) error {
	ids := make([]dedup.Hash, len(clusters))
	for i, c := range clusters {
		ids[i] = c.ID
	}
	pages, err := s.Pages(ctx, ids, store.WantRecord)
	for i, p := range pages {
		if p != nil {
			clusters[i].Leader = &p.Record
		}
	}
	return cmp.Or(err, v.explain(ctx, s, clusters))
}

package report

import (
	"cmp"
	"context"
	"iter"

	"skink/dedup"
	"skink/store"
)

// A Source provides the data of a report. [FromStore] returns the usual source. Another Source may
// cluster the same pages differently.
type Source interface {
	// Head returns the report without its clusters. Its description has only the times of the
	// visits.
	Head(ctx context.Context) (Report, error)
	// Clusters yields all clusters that have at least one member besides the leader, largest first.
	// The argument shown is the number of clusters whose leader and members are needed; the others
	// need only Size.
	Clusters(ctx context.Context, shown int) iter.Seq2[Cluster, error]
}

// FromStore returns a source for a report on a store's verdicts. The reason why a page leads its
// cluster is the first criterion of package precedence that distinguishes it from the next member,
// unless the reader is an explainer.
func FromStore(s store.Reader) Source {
	why, _ := s.(explainer)
	return stored{s, why}
}

// An explainer is a reader with its own verdicts, which says why a page leads its cluster.
type explainer interface {
	WhyLeads(ctx context.Context, leader *store.Record) (string, error)
}

type stored struct {
	s   store.Reader
	why explainer // nil means that package precedence gives the reason
}

func (src stored) Head(ctx context.Context) (r Report, err error) {
	if r.Totals, err = src.totals(ctx); err != nil {
		return r, err
	}
	r.About, r.near = &About{}, histogram{}
	count := hostCount{map[string]*store.Tally{}, map[leading]int64{}}
	for page, err := range src.s.Changes(ctx, "", store.WantRecord) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return r, err
		}
		count.add(&page.Record)
		if page.Record.Verdict == dedup.Near {
			r.near[likeness(&page.Record)]++
		}
		r.About.See(&page.Record)
	}
	alone, err := store.LeftAlone(ctx, src.s)
	if err != nil {
		return r, err
	}
	r.Hosts = count.list()
	for i := range r.Hosts {
		r.Hosts[i].Alone = alone[r.Hosts[i].Host].Why
	}
	return r, nil
}

func (src stored) totals(ctx context.Context) (Totals, error) {
	t, err := src.s.Tally(ctx)
	if err != nil {
		return Totals{}, err
	}
	counts, err := src.s.Counts(ctx)
	if err != nil {
		return Totals{}, err
	}
	return Totals{t.Pages(), t, counts.Pending, counts.Outside}, nil
}

// translation returns the language of a page that declares its leader to be its version in another
// language (hreflang), and "" for any other page. Such a page exists on purpose, even if its text
// has not been translated yet.
func translation(r *store.Record) string {
	lang, named := r.Lang, false
	for _, a := range r.Alternates {
		switch {
		case a.Lang == "x-default":
		case a.URL == r.DuplicateOf:
			named = true
		case a.URL == r.URL:
			lang = a.Lang
		}
	}
	if !named {
		return ""
	}
	return cmp.Or(lang, "unknown")
}

package report

import (
	"cmp"
	"context"
	"iter"

	"skink/store"
)

// A Source provides the data of a report. [FromStore] returns the usual source. Another Source may
// cluster the same pages differently.
type Source interface {
	// Totals counts all records of the store by kind and verdict.
	Totals(ctx context.Context) (Totals, error)
	// Hosts counts the judged pages of each host, in any order.
	Hosts(ctx context.Context) ([]Host, error)
	// Clusters yields all clusters that have at least one member besides the leader, largest first.
	// The argument shown is the number of clusters whose leader and members are needed; the others
	// need only Size.
	Clusters(ctx context.Context, shown int) iter.Seq2[Cluster, error]
}

// A LeftOutSource is a Source whose texts may have been compared without recurring blocks.
type LeftOutSource interface {
	Source
	// LeftOut returns the blocks of each host that were left out, in any order. It returns nil if
	// whole texts were compared.
	LeftOut(ctx context.Context) ([]LeftOut, error)
}

// A LearnedSource is a Source that knows the postponed URLs and soft 404s of its crawl.
type LearnedSource interface {
	Source
	// Learned returns an element for each host with findings, in descending order of postponed
	// URLs.
	Learned(ctx context.Context, hosts []Host) ([]Learned, error)
}

// A CanonicalSource is a Source that knows the canonical URLs of its pages.
type CanonicalSource interface {
	Source
	// Canonicals returns the wrong canonical URLs. It must be called after Hosts, which reads the
	// records.
	Canonicals(ctx context.Context) ([]Canonical, error)
}

// FromStore returns a source for a report on a store's verdicts. The reason why a page leads its
// cluster is the first criterion of package precedence that distinguishes it from the next member.
func FromStore(s store.Reader) Source { return From(s, nil) }

// From returns a source for a report on a store's verdicts. The function why must return the reason
// why a page leads its cluster. If why is nil, From is like [FromStore].
func From(s store.Reader, why func(leader *store.Record) string) Source {
	return stored{s, why, &canonicals{}, &About{}, &postponedCount{}}
}

type stored struct {
	s     store.Reader
	why   func(leader *store.Record) string // nil means that package precedence gives the reason
	named *canonicals                       // wrong canonical URLs in the records that Hosts has read

	visits *About          // first and last visit in the records that Hosts has read
	later  *postponedCount // postponed URLs in the records that Hosts has read
}

func (src stored) Totals(ctx context.Context) (Totals, error) {
	t, err := src.s.Tally(ctx)
	if err != nil {
		return Totals{}, err
	}
	counts, err := src.s.Counts(ctx)
	if err != nil {
		return Totals{}, err
	}
	totals := TotalsOf(t)
	totals.Pending, totals.Outside = counts.Pending, counts.Outside
	return totals, nil
}

func (src stored) Hosts(ctx context.Context) ([]Host, error) {
	var count HostCount
	*src.visits, *src.later = About{}, postponedCount{}
	*src.named = canonicals{s: src.s, found: map[string]*Canonical{}}
	for page, err := range src.s.Changes(ctx, "", store.WantRecord) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		count.Add(&page.Record)
		src.visits.See(&page.Record)
		src.later.add(&page.Record)
		if err := src.named.add(ctx, &page.Record); err != nil {
			return nil, err
		}
	}
	alone, err := store.LeftAlone(ctx, src.s)
	if err != nil {
		return nil, err
	}
	hosts := count.Hosts()
	for i := range hosts {
		hosts[i].Alone = alone[hosts[i].Host].Why
	}
	return hosts, nil
}

// TotalsOf converts a store's tally to the totals of a report. It leaves out URLs that have no
// record.
func TotalsOf(t store.Tally) Totals {
	return Totals{
		Pages: t.Pages(), Unique: t.Unique, Exact: t.Exact, Near: t.Near, Thin: t.Thin,
		Other: t.Other, Redirects: t.Redirects, Errors: t.Errors,
		Skipped: t.Skipped, Unkept: t.Unkept, Capped: t.Capped, Scripts: t.Scripts, Unrendered: t.Unrendered, Blocked: t.Blocked, Sitemaps: t.Sitemaps, Later: t.Later,
		Problems: t.Problems, GivenUp: t.GivenUp,
	}
}

// leaderOf does not set Why.
func leaderOf(r *store.Record) Leader {
	return Leader{URL: r.URL, Title: r.Title, Private: r.Private, Verdict: string(r.Verdict)}
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

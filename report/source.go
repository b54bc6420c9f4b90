package report

import (
	"cmp"
	"context"
	"iter"

	"skink/store"
)

// A Source is what a report is written from. [FromStore] is the ordinary one; another may group the
// same pages differently.
type Source interface {
	// Totals counts all records.
	Totals(ctx context.Context) (Totals, error)
	// Hosts counts the judged pages of each host, in any order.
	Hosts(ctx context.Context) ([]Host, error)
	// Clusters yields every leader that has members, largest cluster first.
	Clusters(ctx context.Context) iter.Seq2[Cluster, error]
}

// A LeftOutSource is a source that did not compare all text.
type LeftOutSource interface {
	Source
	// LeftOut says what was left out on which host, in any order; nil if texts were compared whole.
	LeftOut(ctx context.Context) ([]LeftOut, error)
}

// A LearnedSource is a source that knows what its crawl learned.
type LearnedSource interface {
	Source
	// Learned says what was learned of which of the hosts, those with most postponed URLs first.
	Learned(ctx context.Context, hosts []Host) ([]Learned, error)
}

// A CanonicalSource is a source that knows what pages name as their URL.
type CanonicalSource interface {
	Source
	// Canonicals are those that do not hold. It is asked after Hosts.
	Canonicals(ctx context.Context) ([]Canonical, error)
}

// FromStore is the report of the verdicts given during the crawl. A leader leads for the reason by
// which it goes before the first of its members, see package precedence.
func FromStore(s store.Reader) Source { return From(s, nil) }

// From is the report of s's verdicts, in which the leader of a cluster leads for the reason that
// why says.
func From(s store.Reader, why func(leader *store.Record) string) Source {
	return stored{s, why, &canonicals{}, &About{}}
}

type stored struct {
	s     store.Reader
	why   func(leader *store.Record) string // nil: it follows from the members
	named *canonicals                       // of what Hosts has read

	visits *About // of the same
}

func (src stored) Totals(ctx context.Context) (Totals, error) {
	t, err := src.s.Tally(ctx)
	if err != nil {
		return Totals{}, err
	}
	return TotalsOf(t), nil
}

func (src stored) Hosts(ctx context.Context) ([]Host, error) {
	var count HostCount
	*src.visits = About{}
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

// TotalsOf is a store's tally in a report's names.
func TotalsOf(t store.Tally) Totals {
	return Totals{
		Pages: t.Pages(), Unique: t.Unique, Exact: t.Exact, Near: t.Near, Thin: t.Thin,
		Other: t.Other, Redirects: t.Redirects, Errors: t.Errors,
		Skipped: t.Skipped, Unkept: t.Unkept, Capped: t.Capped, Scripts: t.Scripts, Blocked: t.Blocked, Sitemaps: t.Sitemaps, Later: t.Later,
		Problems: t.Problems, GivenUp: t.GivenUp,
	}
}

// leaderOf is r as a leader.
func leaderOf(r *store.Record) Leader {
	return Leader{URL: r.URL, Title: r.Title, Verdict: string(r.Verdict)}
}

// translation is the language of a page that names its leader as the same page in another language
// (hreflang); "" for others. Such a page is meant to be there, though nobody has translated it yet.
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

package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skink/crawler/learn"
	"skink/store"
)

// Postponed counts the URLs of a host that have the same pattern and were not fetched, because URLs
// of this pattern kept returning duplicates, or were known to be useless.
type Postponed struct {
	Host    string `json:"host"`
	Rule    string `json:"rule"`
	Pattern string `json:"pattern"`
	URLs    int64  `json:"urls"`
	Example string `json:"example"` // first postponed URL
	New     int64  `json:"new"`     // fetched URLs of the pattern that returned a new text
	Copies  int64  `json:"copies"`  // fetched URLs of the pattern that returned a known text
}

// PostponedIn counts the postponed URLs of a store by pattern, in descending order of URLs. It reads all records of the
// store, unless no URLs are postponed.
func PostponedIn(ctx context.Context, s store.Reader) (all []Postponed, err error) {
	tally, err := s.Tally(ctx)
	if err != nil || tally.Later == 0 {
		return nil, err
	}
	type key struct{ host, detail string } // the Detail of a record names a rule and a pattern
	at := map[key]int{}
	for page, err := range s.Changes(ctx, "", store.WantRecord) {
		if err != nil {
			return nil, fmt.Errorf("count postponed URLs: %w", err)
		}
		r := &page.Record
		k := key{store.HostOf(r.URL), r.Detail}
		if r.Kind != store.Later {
			continue
		}
		i, known := at[k]
		if !known {
			a := learn.ParseAdvice(r.Detail)
			i, at[k] = len(all), len(all)
			all = append(all, Postponed{Host: k.host, Rule: string(a.Rule), Pattern: a.Pattern, Example: r.URL})
		}
		all[i].URLs++
	}
	slices.SortFunc(all, func(a, b Postponed) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Pattern, b.Pattern))
	})
	return all, addEvidence(ctx, s, all)
}

// addEvidence adds what the crawl learned about each pattern.
func addEvidence(ctx context.Context, s store.Reader, all []Postponed) (err error) {
	sites := map[string]*learn.Host{}
	for i := range all {
		p := &all[i]
		site, known := sites[p.Host]
		if !known {
			if site, err = learn.Read(ctx, s, p.Host); err != nil {
				return err
			}
			sites[p.Host] = site
		}
		if site != nil && site.Patterns[p.Pattern] != nil {
			p.New, p.Copies = site.Patterns[p.Pattern].New, site.Patterns[p.Pattern].Copies
		}
	}
	return nil
}

// Why says why the URLs of the pattern were postponed.
func (p *Postponed) Why() string {
	switch learn.Rule(p.Rule) {
	case learn.Copies:
		return fmt.Sprintf("URLs like %s kept returning duplicates: %s of %s fetched URLs", p.Pattern, Grouped(p.Copies), Grouped(p.New+p.Copies))
	case learn.View:
		return p.Pattern + ": the site's software offers this view for every page"
	case learn.Calendar, learn.Growing:
		return fmt.Sprintf("%s: %s", p.Rule, p.Pattern)
	}
	return p.Rule + " of " + p.Pattern
}

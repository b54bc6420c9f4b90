// Package audit turns what a crawl remembers into what the owner of a site would fix: links that
// lead nowhere, titles that repeat, canonical URLs that are wrong, pages that nobody finds.
//
//	a, err := audit.Read(ctx, store, audit.Options{Rule: rule})
//	for _, f := range a.Findings() { fmt.Println(f.FullName(), f.Count()) }
//	err = audit.Write(ctx, os.Stdout, a, audit.Output{Format: report.Text})
//
// A [List] holds the findings of one kind, a [Finding] the pages that have one problem, with what it
// means and how to fix it. The package judges no text: it repeats the verdicts of the crawl. It
// fetches nothing, so a finding is as true as the crawl was complete.
//
// # Memory
//
// Read goes through the store twice: through its records, then through its links. It keeps some
// hundred bytes for each URL, eight for each time that a URL is in a list, and the places and texts
// of a bounded number of links. The rows of a list are made when they are asked for, from the
// records in the store, some hundred at a time, so that a list of a million pages can be paged
// through. An audit holds some 300 bytes a URL, and takes up to 1,000 while it is made
// (BenchmarkRead): a million URLs take a gigabyte for half a minute.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// Options say what an audit has to know beside its store. The zero value is good for a store that
// was written with the defaults.
type Options struct {
	About report.About // what reports say of themselves; Read adds the visits
	Rule  dedup.Rule   // by which the store's pages were judged; zero: the default

	// Nearly finds the pages that are almost duplicates. nil: nobody does, and their list is unknown.
	Nearly func(ctx context.Context) (*Nearly, error)
}

// An Audit is what was found in a store.
type Audit struct {
	About
	Lists []*List // in a fixed order, also those in which nothing is

	s    store.Reader
	site *site
	rule dedup.Rule

	nearly *Nearly // nil: they are not known
}

// About is what every report says of itself.
type About struct {
	report.About
	URLs  int64 `json:"urls"`            // with a record
	Pages int64 `json:"pages"`           // of those, with a verdict
	Links bool  `json:"links_are_known"` // whether the store keeps those of its pages
}

// Read finds all that is to be found in a store.
func Read(ctx context.Context, s store.Reader, opt Options) (*Audit, error) {
	if opt.Rule.Similarity == 0 {
		rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
		if err != nil {
			return nil, err
		}
		opt.Rule = rule
	}
	a := &Audit{
		About: About{About: opt.About, Links: !opt.About.Settings.NoLinks},
		s:     s, site: newSite(), rule: opt.Rule,
	}
	a.Lists = lists(a)
	if err := a.readRecords(ctx); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if err := a.readLinks(ctx); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if err := a.site.findBounds(ctx, s); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if opt.Nearly != nil {
		var err error
		if a.nearly, err = opt.Nearly(ctx); err != nil {
			return nil, fmt.Errorf("audit: pages that are almost duplicates: %w", err)
		}
	}
	for _, l := range a.Lists {
		if l.conclude != nil {
			l.conclude()
		}
		l.sort()
	}
	return a, nil
}

// lists are the lists of an audit, empty, in the order in which reports name them.
func lists(a *Audit) []*List {
	all := []*List{
		broken(a), redirects(a), canonicals(a), hreflang(a),
		titles(a), descriptions(a), headings(a),
		duplicates(a), nearly(a), thin(a), noText(a), noIndex(a), blocked(a), postponed(a), orphans(a),
		slow(a), large(a), deep(a), pages(a),
	}
	for _, l := range all {
		if l.audit = a; l.Findings == nil {
			l.Findings = []*Finding{{}}
		}
		for _, f := range l.Findings {
			f.list = l
		}
	}
	addTexts(all)
	return all
}

// readRecords shows every record to every list.
func (a *Audit) readRecords(ctx context.Context) error {
	for change, err := range a.s.Changes(ctx, "", store.WantRecord) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read records: %w", err)
		}
		r := &change.Record
		at, isNew := a.site.add(r)
		if !isNew {
			continue // a crawl that writes meanwhile has visited it again
		}
		a.count(r)
		for _, l := range a.Lists {
			if l.see != nil {
				l.see(at, r)
			}
		}
	}
	a.site.resolve()
	return nil
}

func (a *Audit) count(r *store.Record) {
	a.URLs++
	if r.Kind == store.Page {
		a.Pages++
	}
	a.See(r)
}

// readLinks counts the pages that link to each URL.
func (a *Audit) readLinks(ctx context.Context) error {
	at := int32(-1)
	for change, err := range a.s.Changes(ctx, "", store.WantLinks) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read links: %w", err)
		}
		var known bool
		if at, known = a.site.at[change.Record.ID]; !known || len(change.Links) == 0 {
			continue // it came after the records were read, or has none
		}
		a.site.link(at, change.Links)
	}
	return nil
}

// List returns the list of that name, nil if there is none.
func (a *Audit) List(name string) *List {
	for _, l := range a.Lists {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Find returns the finding of that full name, nil if there is none.
func (a *Audit) Find(name string) *Finding {
	for _, l := range a.Lists {
		for _, f := range l.Findings {
			if f.FullName() == name {
				return f
			}
		}
	}
	return nil
}

// Findings are those in which something is, the one that matters most first: by its weight, then by
// the pages that it touches and the links that lead into them.
func (a *Audit) Findings() (all []*Finding) {
	for _, l := range a.Lists {
		for _, f := range l.Findings {
			if f.Count()+f.Apart() > 0 && l.Name != pagesName {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(f, g *Finding) int {
		return cmp.Or(cmp.Compare(f.Weight, g.Weight), cmp.Compare(g.matters(), f.matters()))
	})
	return all
}

// Names are the names of all lists and findings, each list before its findings.
func Names() (names []string) {
	for _, l := range lists(&Audit{site: newSite()}) {
		names = append(names, l.Name)
		for _, f := range l.Findings {
			if f.Name != "" {
				names = append(names, f.FullName())
			}
		}
	}
	return names
}

// ListNames are the names of all lists.
func ListNames() (names []string) {
	for _, l := range lists(&Audit{site: newSite()}) {
		names = append(names, l.Name)
	}
	return names
}

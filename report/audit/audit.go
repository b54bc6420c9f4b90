// Package audit lists problems of a crawled site for its owner: broken links, repeated titles,
// wrong canonical URLs, and pages that no page links to.
//
//	a, err := audit.Read(ctx, store, audit.Options{Rule: rule})
//	for _, f := range a.Findings() { fmt.Println(f.FullName(), f.Count()) }
//	err = audit.Write(ctx, os.Stdout, a, audit.Output{Format: report.Text})
//
// A [List] holds the findings on one subject, such as titles. A [Finding] holds the pages with one
// problem, and explains what the problem means and how to fix it. The package reports the verdicts
// that the crawl stored. It fetches nothing, so its findings are only as complete as the crawl was.
//
// # Memory
//
// [Read] reads the store twice: first all records, then all links. The audit takes about 400 bytes
// per URL, including 8 for each finding that lists the URL, and keeps a bounded number of links.
// While Read runs, it takes up to 1,750 bytes per URL with 30 links (BenchmarkRead). For a million
// URLs, that is 1.7 GB for half a minute. The rows of a list are built when a caller asks for them,
// about a hundred at a time, so a list of a million pages can be read page by page. The first call of
// [Audit.Of] takes about 150 bytes more for each URL with findings.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"skink/base/segment"
	"skink/dedup"
	"skink/extract/markup"
	"skink/report"
	"skink/store"
)

// Options configures [Read]. The zero value suits a store with default settings.
type Options struct {
	About report.About // description of the report; Read adds the times of the first and last visits
	Rule  dedup.Rule   // rule by which the store's pages were compared; the zero value means the default rule

	AllFrom bool // keep up to a million links to broken and redirected URLs, instead of up to 100 to each

	Since *Past // earlier crawl to compare the findings with; nil means none
	Areas bool  // record the host, section, segment and language of each URL, for [Filter]

	Segments segment.Choice // segments of the site, which each list then has as a column; the audit is about the URLs of the chosen one

	Scores bool // find the link score and the anchor texts of each URL, for the list of all URLs

	Pages PageReader // reads the pages of rows after Read has returned; nil means the store that is passed to Read

	// Nearly finds pages that are almost duplicates. If it is nil, the list of these pages is not
	// available.
	Nearly func(ctx context.Context) (*Nearly, error)
}

// A PageReader is the part of a [store.Reader] that reads pages.
type PageReader interface {
	Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error)
}

// An Audit is the result of [Read]: all findings about the pages of a store.
type Audit struct {
	About
	Lists []*List // in a fixed order, including empty lists

	s     PageReader
	site  *site
	rule  dedup.Rule
	cover *coverage

	segments segment.Choice
	patterns patterns // of broken URLs

	end  store.Cursor
	past *Past // earlier crawl that the findings are compared with; nil means none

	nearly *Nearly // nil if Options.Nearly was nil

	ofPages func() map[int32][]*Finding // see [Audit.Of]
}

// About describes an audit: its store, the number of URLs that it covers, and whether links are
// known.
type About struct {
	report.About
	URLs  int64 `json:"urls"`            // URLs with a record
	Pages int64 `json:"pages"`           // URLs whose record has a verdict
	Links bool  `json:"links_are_known"` // whether the store keeps links

	Coverage Coverage `json:"coverage"` // how much of the site was fetched, whatever the segment

	Segment string `json:"segment,omitempty"` // the segment whose URLs are listed and counted; "" means all URLs
}

// Read reads all records and links of a store, and returns all findings.
func Read(ctx context.Context, s store.Reader, opt Options) (*Audit, error) {
	if opt.Rule.Similarity == 0 {
		rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
		if err != nil {
			return nil, err
		}
		opt.Rule = rule
	}
	a := &Audit{
		About: About{About: opt.About, Links: !opt.About.Settings.NoLinks, Segment: opt.Segments.Name}, segments: opt.Segments,
		s: s, site: newSite(opt.AllFrom), rule: opt.Rule, cover: &coverage{Coverage{Gaps: slices.Clone(gaps)}, map[string]bool{}}, past: opt.Since,
		patterns: patterns{map[int32][]string{}, map[string]int{}},
	}
	if opt.Pages != nil {
		a.s = opt.Pages
	}
	if opt.Areas || a.Segment != "" {
		a.site.areas = &areas{at: map[Area]int32{}, segments: opt.Segments.List}
	}
	a.site.scored, a.site.said = opt.Scores, map[int32][]phrase{}
	a.Lists = lists(a)
	if err := a.read(ctx, s, opt.Nearly); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for _, l := range a.Lists {
		if l.conclude != nil {
			l.conclude()
		}
		if l.checks != nil {
			l.checks.conclude(l)
		}
		l.see, l.link, l.conclude = nil, nil, nil // frees what these functions have collected
		l.restrict()
		l.sort()
	}
	if a.past != nil {
		a.compare(a.past)
	}
	a.ofPages = sync.OnceValue(a.byPage)
	return a, nil
}

func (a *Audit) read(ctx context.Context, s store.Reader, nearly func(context.Context) (*Nearly, error)) (err error) {
	for _, step := range []func(context.Context, store.Reader) error{a.readRecords, a.readLinks, a.site.findBounds} {
		if err := step(ctx, s); err != nil {
			return err
		}
	}
	if a.Coverage, err = a.cover.read(ctx, s, a.site.at); err != nil || nearly == nil {
		return err
	}
	if a.nearly, err = nearly(ctx); err != nil {
		return fmt.Errorf("compare all pages: %w", err)
	}
	return nil
}

// lists returns new, empty lists in report order.
func lists(a *Audit) []*List {
	all := []*List{
		broken(a), redirects(a), canonicals(a), hreflang(a),
		titles(a), descriptions(a), headings(a),
		duplicates(a), nearly(a), thin(a), noText(a),
		simple("unrendered", store.Page, func(r *store.Record) bool { return r.RenderError != "" }, brief(linksColumn, renderErrorColumn, urlColumn, titleColumn).more(wordsColumn)),
		rendered(a),
		simple("noindex", store.Page, func(r *store.Record) bool { return r.NoIndex }, brief(linksColumn, urlColumn, titleColumn).more(wordsColumn, verdictColumn)),
		simple("blocked", store.Blocked, always, brief(linksColumn, reasonColumn, urlColumn).more(depthColumn)),
		simple("postponed", store.Later, always, brief(linksColumn, urlColumn).more(detailColumn.titled("Why"), depthColumn)),
		orphans(a), sitemaps(a),
		simple("slow", store.Page, isSlow, brief(linksColumn, tookColumn, bytesColumn, urlColumn, titleColumn)),
		simple("large", store.Page, func(r *store.Record) bool { return r.Size > largePage }, brief(linksColumn, bytesColumn, wordsColumn, urlColumn, titleColumn)),
		deep(a),
		links(a), images(a), checkList("markup"), checkList("forms"), checkList("structured"), checkList("sharing"),
		urls(a), security(a), checkList("transfer"), pages(a),
	}
	for _, l := range all {
		l.addChecks(markup.Checks)
		if len(a.segments.List) > 0 {
			l.Columns = slices.Concat(l.Columns, brief(segmentColumn))
		}
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

func always(*store.Record) bool { return true }

func isSlow(r *store.Record) bool { return time.Duration(r.Took)*time.Millisecond > slowAnswer }

func (a *Audit) readRecords(ctx context.Context, s store.Reader) error {
	for change, err := range s.Changes(ctx, "", store.WantRecord) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return fmt.Errorf("read records: %w", err)
		}
		a.end = change.Cursor
		r := &change.Record
		at, isNew := a.site.add(r)
		if !isNew {
			continue // already read; a running crawl has revisited the URL in the meantime
		}
		if a.site.areas != nil {
			a.site.pages[at].area = a.site.areas.add(r)
		}
		if a.past != nil {
			p := &a.site.pages[at]
			p.again, p.answered = again(r, a.past.Visited)
		}
		a.count(r)
		for _, l := range a.Lists {
			if l.see != nil {
				l.see(at, r)
			}
			if l.checks != nil {
				l.checks.see(at, r)
			}
		}
	}
	a.site.resolve()
	return nil
}

func (a *Audit) count(r *store.Record) {
	if a.segments.Has(r.URL) {
		a.URLs++
		if r.Kind == store.Page {
			a.Pages++
		}
	}
	a.See(r)
	a.cover.see(r)
}

func (a *Audit) readLinks(ctx context.Context, s store.Reader) error {
	for change, err := range s.Changes(ctx, "", store.WantLinks) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return fmt.Errorf("read links: %w", err)
		}
		at, known := a.site.at[change.Record.ID]
		if !known || len(change.Links) == 0 {
			continue // the URL was first visited after readRecords, or has no links
		}
		a.site.link(at, change.Links)
		for _, l := range a.Lists {
			if l.link != nil {
				l.link(at, &change.Content)
			}
		}
	}
	a.site.count()
	return nil
}

// List returns the list with the given name, or nil if there is none.
func (a *Audit) List(name string) *List {
	for _, l := range a.Lists {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Find returns the finding with the given full name, such as "titles.missing", or nil if there is
// none.
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

// Findings returns all findings that are not empty, or were not empty in the earlier crawl. Errors
// come first, then warnings, notes, and lists of good pages. Findings of the same weight are sorted
// by the number of their pages plus the number of links to these pages, in descending order.
func (a *Audit) Findings() (all []*Finding) {
	for _, l := range a.Lists {
		for _, f := range l.Findings {
			if f.Count()+f.Apart()+len(f.all) > 0 && l.Name != pagesName {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(f, g *Finding) int {
		return cmp.Or(cmp.Compare(f.Weight, g.Weight), cmp.Compare(g.matters(), f.matters()))
	})
	return all
}

// Names returns the names of all lists, each followed by the full names of its findings.
func Names() (names []string) {
	for _, l := range lists(&Audit{site: newSite(false)}) {
		names = append(names, l.Name)
		for _, f := range l.Findings {
			if f.Name != "" {
				names = append(names, f.FullName())
			}
		}
	}
	return names
}

// ListNames returns the names of all lists.
func ListNames() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return strings.Contains(name, ".") })
}

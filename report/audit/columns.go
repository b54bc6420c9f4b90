package audit

import (
	"context"
	"slices"
	"strings"

	"skink/report"
	"skink/store"
)

// A Column is a column of a list and the function that computes its cells. [report.Table] lists the
// types of cells.
type Column struct {
	report.Column
	of func(s *subject, r *store.Record) any // returns the cell for a subject; r is the record of the subject's page
}

// URL and Share are types of table cells; see [report.Table].
type (
	URL   = report.URL
	Share = report.Ratio
)

func column(name, title string, of func(s *subject, r *store.Record) any) Column {
	return Column{report.Column{Name: name, Title: title}, of}
}

// where returns a copy of the column whose cells are empty for each subject that does not satisfy
// holds.
func (c Column) where(holds func(s *subject) bool) Column {
	of := c.of
	c.of = func(s *subject, r *store.Record) any {
		if !holds(s) {
			return nil
		}
		return of(s, r)
	}
	return c
}

func (c Column) titled(title string) Column {
	c.Title = title
	return c
}

type columns []Column

// brief marks columns as Brief, so they appear in every format, not only in JSON and CSV.
func brief(all ...Column) columns {
	for i := range all {
		all[i].Brief = true
	}
	return all
}

// more appends columns that only JSON and CSV show.
func (all columns) more(others ...Column) columns { return append(all, others...) }

// These columns occur in several lists.
var (
	// linksColumn is empty if the store does not keep links.
	linksColumn       = column("links", "Linked from", func(s *subject, _ *store.Record) any { return int64(s.site().links) }).where((*subject).linksKnown)
	urlColumn         = column("url", "URL", func(_ *subject, r *store.Record) any { return URL(r.URL) })
	titleColumn       = column("title", "Title", func(_ *subject, r *store.Record) any { return text(r.Title) })
	wordsColumn       = column("words", "Words", func(_ *subject, r *store.Record) any { return int64(r.Words) }).where((*subject).isPage)
	verdictColumn     = column("verdict", "Verdict", func(_ *subject, r *store.Record) any { return text(string(r.Verdict)) })
	indexedColumn     = column("indexed", "Indexed", func(_ *subject, r *store.Record) any { return indexed(r) }).where((*subject).isPage)
	canonicalColumn   = column("canonical", "Canonical", func(_ *subject, r *store.Record) any { return known(URL(r.CanonicalURL)) })
	repeatsColumn     = column("duplicate_of", "Duplicate of", func(_ *subject, r *store.Record) any { return known(URL(r.DuplicateOf)) })
	depthColumn       = column("depth", "Clicks", func(s *subject, _ *store.Record) any { return int64(s.site().clicks) })
	statusColumn      = column("status", "Status", func(_ *subject, r *store.Record) any { return known(int64(r.Status)) })
	renderErrorColumn = column("why", "Why", func(_ *subject, r *store.Record) any { return text(r.RenderError) })
	detailColumn      = column("detail", "Detail", func(_ *subject, r *store.Record) any { return text(r.Detail) })
	bytesColumn       = column("bytes", "Bytes", func(_ *subject, r *store.Record) any { return r.Size })
	tookColumn        = column("milliseconds", "Milliseconds", func(_ *subject, r *store.Record) any { return known(r.Took) })
	segmentColumn     = column("segment", "Segment", func(s *subject, r *store.Record) any { return text(s.audit().segments.Of(r.URL)) })
	visitedColumn     = column("visited", "Visited", func(_ *subject, r *store.Record) any { return known(r.Visited().UTC()) })

	// alikeColumn shows the resemblance between a duplicate and the leader of its cluster.
	alikeColumn = column("resemblance", "Resemblance", func(_ *subject, r *store.Record) any { return Share(r.Resemblance) }).where(func(s *subject) bool { return s.page.Record.Follows() })
)

const pagesName = "pages"

// pages returns a list of every URL in the store, with many columns, for use in a spreadsheet.
func pages(a *Audit) *List {
	l := &List{
		Name: pagesName, Of: "URLs",
		Columns: brief(
			linksColumn,
			column("kind", "Kind", func(_ *subject, r *store.Record) any { return string(r.Kind) }),
			statusColumn, verdictColumn, wordsColumn,
			column("language", "Language", func(_ *subject, r *store.Record) any { return text(r.Lang) }),
			urlColumn, titleColumn,
		).more(
			column("findings", "Findings", func(_ *subject, r *store.Record) any { return listedOf(a.Of(r), (*Finding).FullName) }),
			alikeColumn, repeatsColumn, indexedColumn, canonicalColumn,
			column("title_characters", "Title length", func(_ *subject, r *store.Record) any { return characters(r.Title) }).where((*subject).isPage),
			column("description", "Description", func(_ *subject, r *store.Record) any { return text(r.Description) }),
			column("description_characters", "Description length", func(_ *subject, r *store.Record) any { return characters(r.Description) }).where((*subject).isPage),
			column("heading", "Heading", func(_ *subject, r *store.Record) any { return text(firstOf(r.H1)) }),
			column("headings", "Headings", func(_ *subject, r *store.Record) any { return int64(len(r.H1)) }).where((*subject).isPage),
			column("languages", "Other languages", func(_ *subject, r *store.Record) any { return languages(r) }),
			column("author", "Author", func(_ *subject, r *store.Record) any { return text(r.Author) }),
			column("published", "Published", func(_ *subject, r *store.Record) any { return text(r.PublishedAt) }),
			column("modified", "Modified", func(_ *subject, r *store.Record) any { return text(r.ModifiedAt) }),
			column("links_out", "Links out", func(s *subject, _ *store.Record) any { return int64(s.site().out) }).where((*subject).linksKnown).where((*subject).isPage),
			column("link_score", "Link score", scoreOf).where((*subject).linksKnown),
			column("anchors", "Anchor texts", anchorsOf),
			depthColumn,
			column("hops", "Hops", func(_ *subject, r *store.Record) any { return known(int64(r.Hops)) }),
			column("location", "Redirects to", func(_ *subject, r *store.Record) any { return known(URL(r.Location)) }),
			column("problem", "Problem", func(_ *subject, r *store.Record) any { return text(r.Problem) }),
			detailColumn,
			column("type", "Type", func(_ *subject, r *store.Record) any { return text(r.ContentType) }),
			bytesColumn, tookColumn,
			column("host", "Host", func(_ *subject, r *store.Record) any { return text(store.HostOf(r.URL)) }),
			visitedColumn,
			column("fields", "Fields", func(_ *subject, r *store.Record) any { return text(string(r.Fields)) }),
			column("id", "ID", func(_ *subject, r *store.Record) any { return r.ID.String() }),
		),
	}
	l.see = func(at int32, _ *store.Record) { l.found("", at, nobody) }
	return l
}

func (s *subject) audit() *Audit { return s.finding.list.audit }

func (s *subject) site() *page { return &s.audit().site.pages[s.entry.page] }

func alike(s *subject, _ *store.Record) any { return s.sets.compare(s.page, s.other) }

func otherURL(s *subject, _ *store.Record) any { return URL(s.other.Record.URL) }

func (s *subject) hasOther() bool   { return s.other != nil }
func (s *subject) isPage() bool     { return s.page.Record.Kind == store.Page }
func (s *subject) linksKnown() bool { return s.audit().Links }

// known returns v as a table cell, or an empty cell for the zero value.
func known[T comparable](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}

// characters returns the length of s in characters. Wide characters, such as Chinese ones, count as
// two because they take up twice the space.
func characters(s string) int64 { return int64(report.Width(s)) }

// text returns a cell with s on a single line. The cell is empty if s is blank.
func text(s string) any { return known(strings.Join(strings.Fields(s), " ")) }

func listed(all []string) any {
	said := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" }) // all may belong to a record
	return text(strings.Join(said, ", "))
}

func languages(r *store.Record) any {
	return listedOf(r.Alternates, func(alt store.Alternate) string { return alt.Lang })
}

// listedOf is like listed for the texts of values.
func listedOf[T any](all []T, text func(T) string) any {
	var texts []string
	for _, v := range all {
		texts = append(texts, text(v))
	}
	return listed(texts)
}

func indexed(r *store.Record) any {
	switch {
	case r.NoIndex:
		return "no: noindex"
	case namesAnother(r):
		return "no: canonical URL"
	case r.Hidden:
		return "no: robots.txt"
	}
	return "yes"
}

// pagesAtOnce is the maximum number of linking pages that are read from the store with one call.
const pagesAtOnce = 500

// addFrom adds to each row the pages that link to its URL. rows[i] must be the row of entries[i].
func (a *Audit) addFrom(ctx context.Context, entries []compared, rows []Row) error {
	for i, e := range entries {
		for links := range slices.Chunk(a.site.from[e.page], pagesAtOnce) {
			var at []int32
			for _, l := range links {
				at = append(at, l.from)
			}
			pages, err := a.pagesAt(ctx, store.WantRecord, at)
			if err != nil {
				return err
			}
			for _, l := range links {
				if c := pages[l.from]; c != nil {
					rows[i].From = append(rows[i].From, From{c.Record.URL, l.text, l.kind})
				}
			}
		}
	}
	return nil
}

package audit

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// A Weight says how severe a finding is for the visitors of the site.
type Weight int

const (
	Error   Weight = iota + 1 // visitors or search engines are misled
	Warning                   // it has a cost, or may be unintended
	Note                      // good to know
	OK                        // as it should be
)

var weightNames = []string{"", "error", "warning", "note", "ok"}

// String returns the name of the weight, such as "error".
func (w Weight) String() string { return weightNames[w] }

// weightNamed returns the weight with that name, or 0 if there is none.
func weightNamed(name string) Weight { return Weight(max(slices.Index(weightNames, name), 0)) }

// A List holds findings on one subject, such as titles. All its findings have the same columns.
type List struct {
	Name     string
	Of       string // what the list is a part of, for percentages: "pages" or "URLs"
	Columns  columns
	Linked   bool       // whether each row names the pages that link to its URL
	Unknown  string     // why this store cannot tell what belongs into the list; "": it can
	Findings []*Finding // nil: [lists] adds a single finding without a name

	audit     *Audit
	aside     func(s *site, p *page) bool // whether a page is apart: listed, but not counted; nil: no page is
	asideIs   string                      // why pages are apart, in words; "": they ask not to be indexed or name another page as canonical
	elsewhere func() string               // says in words which pages are in another list instead; nil or "": none
	// see is called for each record, with the place of its URL in site.pages; nil: nothing.
	see      func(at int32, r *store.Record)
	conclude func()                                      // called after all records and links were read; nil: see found everything
	prepare  func(ctx context.Context, s *subject) error // looks up what the columns need besides the two pages of the entry; nil: nothing
}

// A Finding lists the pages that have one problem.
type Finding struct {
	Name string // name within its list, such as "missing"; "": the list has only this finding
	Text

	list    *List
	want    store.Want // what to read from the store for the pages of each entry
	groups  bool       // whether entries with the same other page form a group and stay together
	entries []entry    // the entries that count, followed by those that are apart
	// number of entries that are apart: listed, but not counted
	apart int
	// links into the entries that count; one page counts as one link to another page
	links int64
}

// An entry is a page in a finding, with another page that it is related to, such as its canonical
// URL. Both are places in site.pages.
type entry struct {
	page  int32
	other int32 // nobody: the page is related to no other
}

const nobody = -1

// FullName returns the name by which users select the finding, such as titles.missing.
func (f *Finding) FullName() string {
	if f.Name == "" {
		return f.list.Name
	}
	return f.list.Name + "." + f.Name
}

// List is the list that holds the finding.
func (f *Finding) List() *List { return f.list }

// Count returns how many entries count. Entries that are apart do not.
func (f *Finding) Count() int { return len(f.entries) - f.apart }

// Apart returns how many entries are listed but not counted. Their pages ask not to be indexed, or
// name another page as canonical, or the problem is handled otherwise.
func (f *Finding) Apart() int { return f.apart }

// Besides says in words which pages one could expect in the finding although they do not count. It
// returns "" if there are none.
func (f *Finding) Besides() string {
	return besides(int64(f.apart), f.list)
}

func besides(apart int64, l *List) string {
	var all []string
	if apart > 0 {
		all = append(all, "and "+report.Grouped(apart)+" "+cmp.Or(l.asideIs, "with noindex or another canonical URL"))
	}
	if l.elsewhere != nil && l.elsewhere() != "" {
		all = append(all, l.elsewhere())
	}
	return strings.Join(all, "; ")
}

// apart returns how many pages of the list are listed but not counted.
func (l *List) apart() int64 {
	all := map[int32]bool{}
	for _, f := range l.Findings {
		for _, e := range f.entries[f.Count():] {
			all[e.page] = true
		}
	}
	return int64(len(all))
}

// Links returns how many links lead into the pages that count. All links from one page to another
// count as one.
func (f *Finding) Links() int64 { return f.links }

func (f *Finding) matters() int64 { return int64(f.Count()) + f.links }

// Count returns how many URLs are in findings of the list that are an error, a warning or a note.
// Each URL counts once. A list that has only findings with weight OK counts the URLs of all of
// them.
func (l *List) Count() int {
	var all []int32
	for _, f := range l.Findings {
		if f.Weight < OK || l.isOK() {
			for _, e := range f.entries[:f.Count()] {
				all = append(all, e.page)
			}
		}
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

func (l *List) isOK() bool {
	return !slices.ContainsFunc(l.Findings, func(f *Finding) bool { return f.Weight < OK })
}

// pick makes the list call name for each record of that kind. If ok, the record is added to the
// finding that name returns.
func (l *List) pick(kind store.RecordKind, name func(r *store.Record) (finding string, ok bool)) *List {
	l.see = func(at int32, r *store.Record) {
		if r.Kind != kind {
			return
		}
		if finding, ok := name(r); ok {
			l.found(finding, at, nobody)
		}
	}
	return l
}

// all makes the list add each record of that kind for which is returns true. The list must have
// only one finding.
func (l *List) all(kind store.RecordKind, is func(r *store.Record) bool) *List {
	return l.pick(kind, func(r *store.Record) (string, bool) { return "", is(r) })
}

// found adds a page to the finding with that name, which the list must have. other is the page that
// it is related to, or nobody.
func (l *List) found(name string, page, other int32) {
	for _, f := range l.Findings {
		if f.Name == name {
			f.entries = append(f.entries, entry{page, other})
			return
		}
	}
	panic("audit: list " + l.Name + " has no finding " + name)
}

// isApart reports whether a page is listed but not counted in l.
func (l *List) isApart(p *page) bool { return l.aside != nil && l.aside(l.audit.site, p) }

// notMeant reports whether a page asks not to be indexed, or names another page as canonical. Lists
// use it as [List.aside].
func notMeant(_ *site, p *page) bool { return p.aside() }

// handled reports whether a duplicate is dealt with already: it asks not to be indexed, or its
// canonical URL is a page of its own cluster. Lists of duplicates use it as [List.aside].
func handled(s *site, p *page) bool {
	return p.noIndex || p.names && p.to != nobody && s.pages[p.to].cluster == p.cluster
}

// sort orders the entries of each finding: the pages with most links into them first, and the pages
// that are apart last. In a finding with groups, the largest group comes first. sort also counts
// the pages apart and the links.
func (l *List) sort() {
	pages := l.audit.site.pages
	for _, f := range l.Findings {
		size := map[int32]int{}
		if f.groups {
			for _, e := range f.entries {
				size[e.other]++
			}
		}
		slices.SortStableFunc(f.entries, func(a, b entry) int {
			p, q := &pages[a.page], &pages[b.page]
			if pApart, qApart := l.isApart(p), l.isApart(q); pApart != qApart {
				if qApart {
					return -1
				}
				return 1
			}
			if f.groups && a.other != b.other {
				return cmp.Or(cmp.Compare(size[b.other], size[a.other]), cmp.Compare(a.other, b.other))
			}
			if leads := a.page == a.other; f.groups && leads != (b.page == b.other) { // the leader of a group comes first in it
				if leads {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(q.links, p.links), cmp.Compare(a.page, b.page))
		})
		for _, e := range f.entries {
			switch p := &pages[e.page]; {
			case l.isApart(p):
				f.apart++
			default:
				f.links += int64(p.links)
			}
		}
	}
}

// A Row is an entry of a finding with its table cells.
type Row struct {
	Finding *Finding
	Cells   []any  // in the order of the list's columns, with the types of [report.Table]
	Apart   string // why the page is not counted; "": it is
	From    []From // some of the pages that link to the URL, if the list is Linked
	Links   int    // number of pages that link to the URL
}

// A From is a page that links to the URL of a row.
type From struct {
	URL  string         `json:"url"`
	Text string         `json:"text"` // text of the link
	Kind store.LinkKind `json:"kind"`
}

// A subject is an entry with the contents of its pages, from which columns compute the cells of a
// row.
type subject struct {
	entry
	finding *Finding
	page    *store.Content
	other   *store.Content // nil: the entry has no other page, or the store has lost it
	sets    *resemblances

	// For a redirect: the URLs it passes through, the last of them, and in words what is there.
	way           []string
	end, endsWith string
	differs       any // for almost duplicates: the words that differ, as a cell
}

// These are how many rows are read from the store at once. If texts must be compared, fewer are
// read, because each row then takes some milliseconds and a caller may stop early.
const (
	rowsAtOnce  = 128
	textsAtOnce = 4
)

// Rows yields the rows of the finding from index from on. It skips pages that are no longer in the
// store.
func (f *Finding) Rows(ctx context.Context, from int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		atOnce := rowsAtOnce
		if f.want&store.WantText != 0 {
			atOnce = textsAtOnce
		}
		sets := &resemblances{rule: f.list.audit.rule}
		for rest := f.entries[min(from, len(f.entries)):]; len(rest) > 0; {
			n := min(len(rest), atOnce)
			rows, err := f.rowsOf(ctx, rest[:n], sets)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			rest = rest[n:]
		}
	}
}

// first yields the first n rows of the finding; all rows if n is negative.
func (f *Finding) first(ctx context.Context, n int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for row, err := range f.Rows(ctx, 0) {
			if err == nil {
				err = ctx.Err()
			}
			if n--; !yield(row, err) || n == 0 {
				return
			}
		}
	}
}

// rows returns the first n rows of the finding; all rows if n is negative.
func (f *Finding) rows(ctx context.Context, n int) (all []Row, err error) {
	for row, err := range f.first(ctx, n) {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

func (f *Finding) rowsOf(ctx context.Context, entries []entry, sets *resemblances) (rows []Row, err error) {
	a := f.list.audit
	var ids []dedup.Hash
	for _, e := range entries {
		ids = append(ids, a.site.pages[e.page].id)
		if e.other != nobody {
			ids = append(ids, a.site.pages[e.other].id)
		}
	}
	contents, err := a.s.Pages(ctx, ids, f.want)
	if err != nil {
		return nil, err
	}
	var kept []entry // entries whose page is still in the store
	for _, e := range entries {
		s := &subject{entry: e, finding: f, page: contents[0], sets: sets}
		if contents = contents[1:]; e.other != nobody {
			s.other, contents = contents[0], contents[1:]
		}
		if s.page == nil {
			continue
		}
		row := Row{Finding: f, Cells: make([]any, len(f.list.Columns)), Links: int(a.site.pages[e.page].links)}
		if f.list.isApart(&a.site.pages[e.page]) {
			row.Apart = a.site.pages[e.page].apart()
		}
		if f.list.prepare != nil {
			if err := f.list.prepare(ctx, s); err != nil {
				return nil, err
			}
		}
		for i, c := range f.list.Columns {
			row.Cells[i] = c.of(s, &s.page.Record)
		}
		rows, kept = append(rows, row), append(kept, e)
	}
	if f.list.Linked {
		err = a.addFrom(ctx, kept, rows)
	}
	return rows, err
}

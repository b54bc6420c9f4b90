package audit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// A Weight says how much a finding matters to visitors and search engines.
type Weight int

const (
	Error   Weight = iota + 1 // the problem misleads visitors or search engines
	Warning                   // the finding has a cost, or may be unintended
	Note                      // the finding is no problem, but worth knowing
	OK                        // the finding lists pages without the problem
)

var weightNames = []string{"", "error", "warning", "note", "ok"}

// String returns "error", "warning", "note" or "ok".
func (w Weight) String() string { return weightNames[w] }

// weightNamed returns the weight with a name, or 0 if there is none.
func weightNamed(name string) Weight { return Weight(max(slices.Index(weightNames, name), 0)) }

// A List is a group of findings about one subject, such as titles. Its findings have the same columns.
type List struct {
	Name     string
	Of       string // what the list counts, and is a share of: "pages" or "URLs"
	Columns  columns
	Linked   bool       // whether each row also names pages that link to its URL
	Unknown  string     // why the list cannot be computed from this store; "": it can
	Findings []*Finding // a list that is not divided has one finding, of the list's name

	audit     *Audit
	aside     func(s *site, p *page) bool                 // whether a page is listed but not counted; nil: all are counted
	asideIs   string                                      // why such pages are not counted; "": search engines do not list them
	elsewhere func() string                               // says which pages are in another list instead of this; nil or "": none
	see       func(at int32, r *store.Record)             // called for each record, at being its index in site.pages
	link      func(at int32, links []store.Link)          // called for each page with links, after all calls of see
	conclude  func()                                      // called after all records and links; nil: see finds everything
	prepare   func(ctx context.Context, s *subject) error // reads further data for the columns of a row; nil: there is none
}

// A Finding is one problem, such as a missing title, with the pages that have it.
type Finding struct {
	Name string // name within the list; "": the finding is the only one of its list
	Text

	list    *List
	want    store.Want // parts of an entry's two pages that the columns need
	groups  bool       // whether entries with the same other page are shown together
	entries []entry    // first the entries that count, then those that do not
	apart   int        // number of entries that do not count
	links   int64      // see Links
}

// An entry is a page in a finding, and possibly a second page to which the problem relates, such as the
// page that it duplicates. Both are indexes of site.pages.
type entry struct {
	page  int32
	other int32 // nobody: the page is related to no other
}

const nobody = -1

// FullName returns the name by which users ask for a finding, such as "titles.missing".
func (f *Finding) FullName() string {
	if f.Name == "" {
		return f.list.Name
	}
	return f.list.Name + "." + f.Name
}

// List returns the list to which the finding belongs.
func (f *Finding) List() *List { return f.list }

// Count returns the number of entries without those that [Finding.Apart] counts.
func (f *Finding) Count() int { return len(f.entries) - f.apart }

// Apart returns the number of pages that have the problem but do not count, because search engines do
// not list them: they ask not to be indexed, or have another page as their canonical URL.
func (f *Finding) Apart() int { return f.apart }

// Besides returns a text about pages that one could expect in the count but that are left out, or "" if
// there are none.
func (f *Finding) Besides() string {
	return besides(int64(f.apart), f.list)
}

func besides(apart int64, l *List) string {
	var all []string
	if apart > 0 {
		all = append(all, "and "+report.Grouped(apart)+" "+cmp.Or(l.asideIs, "not for search engines"))
	}
	if l.elsewhere != nil && l.elsewhere() != "" {
		all = append(all, l.elsewhere())
	}
	return strings.Join(all, "; ")
}

// apart returns the number of pages in the list's findings that do not count.
func (l *List) apart() int64 {
	all := map[int32]bool{}
	for _, f := range l.Findings {
		for _, e := range f.entries[f.Count():] {
			all[e.page] = true
		}
	}
	return int64(len(all))
}

// Caveat returns why the finding may be wrong because pages of the site were not fetched, or "" if that
// does not matter.
func (f *Finding) Caveat() string {
	missing := f.list.audit.Coverage.Missing()
	if f.unseen == "" || missing == 0 || len(f.entries) == 0 {
		return ""
	}
	return fmt.Sprintf("Not certain: the crawl did not fetch %s of the site. %s", report.Counted(missing, "URL"), f.unseen)
}

// Links returns the number of links to the pages that count. Several links from one page to another
// are counted once.
func (f *Finding) Links() int64 { return f.links }

func (f *Finding) matters() int64 { return int64(f.Count()) + f.links }

// Count returns the number of URLs that are in at least one finding of the list that is an error, a
// warning or a note. If all findings of the list are OK, it returns the number of all their URLs.
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

// pick makes the list put each record of a kind into the finding that name returns for it, or into
// none if ok is false.
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

// all makes the list put each record of a kind for which is returns true into the list's only finding.
func (l *List) all(kind store.RecordKind, is func(r *store.Record) bool) *List {
	return l.pick(kind, func(r *store.Record) (string, bool) { return "", is(r) })
}

// found adds an entry to the finding with a name. page and other are indexes of site.pages; other is
// nobody if there is no second page.
func (l *List) found(name string, page, other int32) {
	for _, f := range l.Findings {
		if f.Name == name {
			f.entries = append(f.entries, entry{page, other})
			return
		}
	}
	panic("audit: list " + l.Name + " has no finding " + name)
}

// isApart reports whether a page in the list does not count.
func (l *List) isApart(p *page) bool { return l.aside != nil && l.aside(l.audit.site, p) }

// notMeant is a value for List.aside: pages do not count if they ask not to be indexed, or have another
// page as their canonical URL.
func notMeant(_ *site, p *page) bool { return p.aside() }

// handled is a value for List.aside in lists of copies: a copy does not count if it asks not to be
// indexed, or if its canonical URL is a page of its own cluster.
func handled(s *site, p *page) bool {
	return p.noIndex || p.hidden || p.names && p.to != nobody && s.pages[p.to].cluster == p.cluster
}

// sort sorts the entries of each finding: pages with the most links to them come first, and pages that
// do not count come last. If entries are grouped by their other page, the largest group comes first.
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

// A Row is an entry of a finding in the form in which reports show it.
type Row struct {
	Finding *Finding
	Cells   []any  // one for each of the list's columns, see [report.Table]
	Apart   string // why the page does not count; "": it counts
	From    []From // some of the pages that link to the page, if List.Linked
	Links   int    // number of all pages that link to the page
}

// A From is a page that links to the URL of a row.
type From struct {
	URL  string         `json:"url"`
	Text string         `json:"text"` // text of the link
	Kind store.LinkKind `json:"kind"`
}

// A subject is an entry together with the data from which its row is made.
type subject struct {
	entry
	finding *Finding
	page    *store.Content
	other   *store.Content // the entry's other page; nil: there is none
	sets    *resemblances

	// For a redirect: the URLs through which it leads, the last of them, and what was found there.
	way           []string
	end, endsWith string
	differs       any // for a page that is almost a duplicate: cell with the words in which it differs
}

// rowsAtOnce is the number of rows that are read from the store together, and textsAtOnce the same for
// rows for which texts are compared. Comparing texts takes some milliseconds a row, which is wasted if
// the caller stops early, so fewer of these rows are read at once.
const (
	rowsAtOnce  = 128
	textsAtOnce = 4
)

// Rows yields the rows of a finding from index from on, counted from 0. It skips pages that are no
// longer in the store.
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

// first yields the first n rows of a finding, or all if n is negative.
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

// rows returns the first n rows of a finding, or all if n is negative.
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
	var kept []entry // the entries whose pages are still in the store, and so have a row
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

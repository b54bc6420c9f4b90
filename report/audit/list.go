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

// A Weight says how much a finding matters to those who come to the site.
type Weight int

const (
	Error   Weight = iota + 1 // visitors or search engines are misled
	Warning                   // it has a cost, or may be unintended
	Note                      // good to know
	OK                        // as it should be
)

var weightNames = []string{"", "error", "warning", "note", "ok"}

// String is the name of a weight.
func (w Weight) String() string { return weightNames[w] }

// weightNamed is the weight of a name, 0 if there is none.
func weightNamed(name string) Weight { return Weight(max(slices.Index(weightNames, name), 0)) }

// A List is the findings of one kind. They share their columns.
type List struct {
	Name     string
	Of       string // what a share of it is a share of: "pages" or "URLs"
	Columns  columns
	Linked   bool       // whether a row comes with the pages that link to it
	Unknown  string     // why nothing can be known of it in this store; "": it can
	Findings []*Finding // nil: one, of the list's name

	audit     *Audit
	aside     func(s *site, p *page) bool // whether a page is apart; nil: none is
	asideIs   string                      // why pages are apart; "": they are not meant to be found
	elsewhere func() string               // which pages are in another list instead; nil or "": none
	see       func(at int32, r *store.Record)
	conclude  func()                                      // after all records and links were seen; nil: see found everything
	prepare   func(ctx context.Context, s *subject) error // looks up what columns need beside the pages; nil: nothing
}

// A Finding is the pages that have one problem.
type Finding struct {
	Name string // in its list; "": it is all of its list
	Text

	list    *List
	want    store.Want // of the two pages of an entry
	groups  bool       // whether entries with the same other page belong together
	entries []entry    // those that count first, then those apart
	apart   int
	links   int64
}

// An entry is a page in a finding, and another that has to do with it.
type entry struct {
	page  int32
	other int32 // -1: none
}

const nobody = -1

// FullName is the name by which a finding is asked for, such as titles.missing.
func (f *Finding) FullName() string {
	if f.Name == "" {
		return f.list.Name
	}
	return f.list.Name + "." + f.Name
}

// List is the list that holds the finding.
func (f *Finding) List() *List { return f.list }

// Count is how many entries count. Those apart do not.
func (f *Finding) Count() int { return len(f.entries) - f.apart }

// Apart is how many pages have the problem and are not meant to be found: they ask not to be indexed,
// or name another page as their canonical URL.
func (f *Finding) Apart() int { return f.apart }

// Besides says which pages could be expected in the finding and do not count; "": there are none.
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

// apart is how many pages of the list do not count.
func (l *List) apart() int64 {
	all := map[int32]bool{}
	for _, f := range l.Findings {
		for _, e := range f.entries[f.Count():] {
			all[e.page] = true
		}
	}
	return int64(len(all))
}

// Links is how many links lead into the pages that count. A page that links to another more than
// once counts once.
func (f *Finding) Links() int64 { return f.links }

func (f *Finding) matters() int64 { return int64(f.Count()) + f.links }

// Count is how many URLs are in some finding of the list that is an error, a warning or a note. A list
// of which everything is ok counts all it has.
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

// pick puts records of a kind into the findings that name says.
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

// all puts records of a kind into the one finding of a list.
func (l *List) all(kind store.RecordKind, is func(r *store.Record) bool) *List {
	return l.pick(kind, func(r *store.Record) (string, bool) { return "", is(r) })
}

// found puts a page into a finding.
func (l *List) found(name string, page, other int32) {
	for _, f := range l.Findings {
		if f.Name == name {
			f.entries = append(f.entries, entry{page, other})
			return
		}
	}
	panic("audit: list " + l.Name + " has no finding " + name)
}

// isApart says whether a page of the list does not count.
func (l *List) isApart(p *page) bool { return l.aside != nil && l.aside(l.audit.site, p) }

// notMeant is for lists in which pages are apart that ask not to be indexed, or name another page.
func notMeant(_ *site, p *page) bool { return p.aside() }

// handled is for lists of copies: apart are those that ask not to be indexed, or name a page of their
// own cluster.
func handled(s *site, p *page) bool {
	return p.noIndex || p.names && p.to != nobody && s.pages[p.to].cluster == p.cluster
}

// sort brings the entries into order: those with most links into them first, those apart last. Of
// groups the largest comes first.
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
			if leads := a.page == a.other; f.groups && leads != (b.page == b.other) { // who leads a group is its first
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

// A Row is an entry with what is to be said of it.
type Row struct {
	Finding *Finding
	Cells   []any  // as [report.Table] says, in the order of the list's columns
	Apart   string // why the page does not count; "": it does
	From    []From // the first pages that link to it, of a list that is Linked
	Links   int    // pages that link to it
}

// A From is a page that links to another.
type From struct {
	URL  string         `json:"url"`
	Text string         `json:"text"` // of the link
	Kind store.LinkKind `json:"kind"`
}

// A subject is an entry of which a row is to be made.
type subject struct {
	entry
	finding *Finding
	page    *store.Content
	other   *store.Content // nil: none
	sets    *resemblances

	// Of a redirect: the URLs on its way, where that ends, and what is there.
	way           []string
	end, endsWith string
	differs       any // of a page that is almost a duplicate
}

// These are the numbers of rows that are read from the store at once. A row with a comparison of texts
// takes some milliseconds, so fewer of them are read: a caller may stop early.
const (
	rowsAtOnce  = 128
	textsAtOnce = 4
)

// Rows yields rows of a finding, beginning with the one numbered from. A page that the store has
// forgotten meanwhile has none.
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

// first yields the first n rows of a finding, all if n is negative.
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

// rows are the first n rows of a finding.
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
	var kept []entry // those that have a row
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

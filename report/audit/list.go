package audit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"skink/dedup"
	"skink/extract/markup"
	"skink/report"
	"skink/store"
	"skink/store/precedence"
)

// A Weight is the importance of a finding for visitors and search engines.
type Weight int

const (
	Error   Weight = iota + 1 // the problem misleads visitors or search engines
	Warning                   // the problem has a cost, or may be unintended
	Note                      // not a problem, but worth knowing
	OK                        // pages without a problem
)

var weightNames = []string{"", "error", "warning", "note", "ok"}

// String returns "error", "warning", "note" or "ok".
func (w Weight) String() string { return weightNames[w] }

func weightNamed(name string) Weight { return Weight(max(slices.Index(weightNames, name), 0)) }

// A List is a group of findings about one subject, such as titles. Its findings have the same columns.
type List struct {
	Name     string
	Of       string // unit of the list's counts: "pages" or "URLs"
	Columns  columns
	Linked   bool       // whether each row names pages that link to its URL
	Unknown  string     // why the list cannot be computed from this store; "" if it can
	Findings []*Finding // a single finding has the Name ""

	audit    *Audit
	checks   *checks                                     // faults of package markup that are findings of the list; nil if there are none
	ofErrors bool                                        // whether the findings are about URLs without a usable response
	aside    func(s *site, p *page) bool                 // reports whether a page is listed but not counted; nil means that all are counted
	asideIs  string                                      // why the pages that aside reports are not counted; "" means that search engines do not list them
	see      func(at int32, r *store.Record)             // at is the record's index in site.pages
	link     func(at int32, c *store.Content)            // called for each page with links, after all calls to see
	conclude func()                                      // called after all records and links; nil if see adds all entries
	prepare  func(ctx context.Context, s *subject) error // reads further data for the columns of a row; may be nil
}

// A Finding is one problem, such as a missing title, and the pages that have it.
type Finding struct {
	Name string // name within the list; "" if it is the list's only finding
	Text

	list    *List
	want    store.Want // data about an entry's two pages that the columns need
	groups  bool       // whether entries with the same other page are shown as a group
	entries []entry    // counted entries, followed by those that are not counted
	apart   int        // number of entries that are not counted because search engines do not list their pages
	links   int64

	pairs     bool                // whether entries are pairs of pages, so a page may have several entries
	fault     markup.Fault        // if it is one of List.checks
	seen      []faulty            // pages with the fault
	keys      map[entry]uint64    // numbers that identify entries across crawls, if they are not about their page alone; other entries are identified by their page, or by both pages if pairs is set
	also      map[uint64][]uint64 // further numbers under which an earlier crawl may have an entry, by its own number
	ofHosts   int64               // number of pages with the fault, if hosts are counted
	unchecked bool                // whether this store lacks the data to check for the finding
	since     *Difference
	all       []compared // if since is set, all rows in display order
}

// An entry is a page in a finding, and possibly a second page involved in the problem, such as the
// page whose text it repeats. Both fields are indexes in site.pages.
type entry struct {
	page  int32
	other int32 // nobody if there is no second page
}

const nobody = -1

// FullName returns the name of the finding in the user interface, such as "titles.missing".
func (f *Finding) FullName() string {
	if f.Name == "" {
		return f.list.Name
	}
	return f.list.Name + "." + f.Name
}

// List returns the list that contains the finding.
func (f *Finding) List() *List { return f.list }

// Count returns the number of entries, except those that [Finding.Apart] counts.
func (f *Finding) Count() int { return len(f.entries) - f.apart }

// Apart returns the number of pages that have the problem but are not counted because search
// engines do not list them: they ask not to be indexed, have another page as their canonical URL,
// or are forbidden by robots.txt.
func (f *Finding) Apart() int { return f.apart }

// Besides describes the pages that have the problem but are not counted, or returns "" if there are
// none. If hosts are counted, these are the pages of the hosts.
func (f *Finding) Besides() string {
	if f.ofHosts > 0 {
		return report.Counted(f.ofHosts, "page")
	}
	return besides(int64(f.apart), f.list)
}

func besides(apart int64, l *List) string {
	if apart == 0 {
		return ""
	}
	return "and " + report.Grouped(apart) + " " + cmp.Or(l.asideIs, "not for search engines")
}

func (l *List) apart() int64 {
	all := map[int32]bool{}
	for _, f := range l.Findings {
		for _, e := range f.entries[f.Count():] {
			all[e.page] = true
		}
	}
	return int64(len(all))
}

// Caveat returns why the finding may be wrong if some pages of the site were not fetched. It
// returns "" if all were fetched, or if the missing pages make no difference to the finding.
func (f *Finding) Caveat() string {
	missing := f.list.audit.Coverage.Missing()
	if f.unseen == "" || missing == 0 || len(f.entries) == 0 {
		return ""
	}
	return fmt.Sprintf("Not certain: the crawl did not fetch %s of the site. %s", report.Counted(missing, "URL"), f.unseen)
}

// Links returns the number of links to the counted pages. Several links from one page to another
// count as one.
func (f *Finding) Links() int64 { return f.links }

// urgency says how much an error counts beside a warning or a note.
var urgency = map[Weight]float64{Error: 9, Warning: 3, Note: 1}

// First returns at most n findings to fix first, by urgency times the logarithm of their number of pages: one
// change of a template may mend thousands of pages.
func (a *Audit) First(n int) []*Finding {
	all := slices.DeleteFunc(a.Findings(), func(f *Finding) bool { return f.Count() == 0 || urgency[f.Weight] == 0 })
	slices.SortStableFunc(all, func(f, g *Finding) int {
		return cmp.Compare(g.score(), f.score())
	})
	return all[:min(len(all), n)]
}

func (f *Finding) score() float64 { return urgency[f.Weight] * math.Log2(1+float64(f.Count())) }

func (f *Finding) matters() int64 { return int64(f.Count()) + f.links }

// Count returns the number of URLs in the errors, warnings and notes of the list. If all findings
// of the list are OK, it returns the total number of their URLs.
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

// pick sets l.see to a function that adds each record of the given kind to the finding that name
// returns for it. If ok is false, the record is added to no finding.
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

// simple returns a list with a single finding: the records of a kind for which is returns true.
func simple(name string, kind store.RecordKind, is func(r *store.Record) bool, columns columns) *List {
	l := &List{Name: name, Of: "pages", Columns: columns}
	if kind != store.Page {
		l.Of, l.Linked = "URLs", true
	}
	return l.pick(kind, func(r *store.Record) (string, bool) { return "", is(r) })
}

// found adds an entry to the finding with the given name. The arguments page and other are indexes
// in site.pages; other is nobody if there is no second page.
func (l *List) found(name string, page, other int32) {
	f := l.named(name)
	f.entries = append(f.entries, entry{page, other})
}

func (l *List) named(name string) *Finding {
	return l.Findings[slices.IndexFunc(l.Findings, func(f *Finding) bool { return f.Name == name })]
}

func (l *List) isApart(p *page) bool { return l.aside != nil && l.aside(l.audit.site, p) }

// lack records why the store does not have the data for the named findings, or for all findings of
// the list if none are named.
func (l *List) lack(why string, names ...string) {
	if l.Unknown != "" {
		why = l.Unknown + "; " + why
	}
	l.Unknown = why
	for _, f := range l.Findings {
		if len(names) == 0 || slices.Contains(names, f.Name) {
			f.unchecked = true
		}
	}
}

// notMeant is a common value of List.aside: pages that search engines do not list are not counted.
func notMeant(_ *site, p *page) bool { return p.aside() }

// handled is the value of List.aside in lists of copies: a copy is not counted if it has noindex,
// if robots.txt forbids it, or if its canonical URL is a page with the same text.
func handled(s *site, p *page) bool {
	return p.noIndex || p.hidden || p.names && p.to != nobody && s.pages[p.to].cluster == p.cluster
}

// sort sorts the entries of each finding. Pages with the most incoming links come first, and pages
// that are not counted come last. If entries are grouped, the largest group comes first.
func (l *List) sort() {
	pages, folds := l.audit.site.pages, l.folds()
	alike := func(at int32) (n int) {
		if folds {
			_, n = l.audit.patterns.largest(at)
		}
		return n
	}
	for _, f := range l.Findings {
		size := map[int32]int{}
		if f.groups {
			for _, e := range f.entries {
				size[e.other]++
			}
		}
		slices.SortStableFunc(f.entries, func(a, b entry) int {
			p, q := &pages[a.page], &pages[b.page]
			inGroup := 0
			if f.groups { // its leader comes first
				inGroup = cmp.Or(cmp.Compare(size[b.other], size[a.other]), cmp.Compare(a.other, b.other), precedence.First(a.page == a.other, b.page == b.other))
			}
			return cmp.Or(precedence.First(!l.isApart(p), !l.isApart(q)), inGroup, precedence.First(f.isOnce(a), f.isOnce(b)), cmp.Compare(alike(b.page), alike(a.page)), cmp.Compare(q.links, p.links), cmp.Compare(a.page, b.page))
		})
		for _, e := range f.entries {
			if p := &pages[e.page]; l.isApart(p) {
				f.apart++
			} else {
				f.links += int64(p.links)
			}
		}
	}
}

// A Row is an entry of a finding as shown in reports.
type Row struct {
	Finding *Finding
	Cells   []any    // one cell for each of the list's columns; see [report.Table]
	Apart   string   // why the page is not counted; "" if it is counted
	Change  Change   // change since the earlier crawl; "" if the finding is not compared with one
	Private bool     // see [store.Record.Private]
	From    []From   // some of the pages with links to this page, if List.Linked is set
	Links   int      // total number of pages that link to this page
	Alike   []string // some of the further URLs that the row stands for
}

// alikeShown is the maximum number of URLs in Row.Alike.
const alikeShown = 2

// A From is a page that links to the URL of a row.
type From struct {
	URL  string         `json:"url"`
	Text string         `json:"text"`
	Kind store.LinkKind `json:"kind"`
}

type subject struct {
	entry
	finding *Finding
	page    *store.Content
	other   *store.Content // the entry's other page; nil if there is none
	sets    *resemblances
	alike   int // number of further URLs that the row stands for

	// If the page is a redirect, way contains the chain of URLs that it leads to, end is the last
	// of these, and endsWith describes the result of fetching that URL.
	way           []string
	end, endsWith string
}

// rowsAtOnce is the number of rows whose pages are read from the store together. textsAtOnce is
// that number for lists that compare texts. It is small because a comparison takes a few
// milliseconds, which are wasted if the caller stops early.
const (
	rowsAtOnce  = 128
	textsAtOnce = 4
)

// Rows yields the rows of a finding, starting at index from. It skips pages that are no longer in
// the store.
//
// If the audit is compared with an earlier crawl, new entries come first, then fixed ones, then
// those in both crawls. For an entry that is only in the earlier crawl, the row contains the URL
// and title of the page.
func (f *Finding) Rows(ctx context.Context, from int) iter.Seq2[Row, error] {
	return f.rowsWhere(ctx, from, nil)
}

// rowsWhere yields the rows for which where returns true, or all rows if where is nil. The argument
// from is the index, among these rows, of the first row to yield.
func (f *Finding) rowsWhere(ctx context.Context, from int, where func(*compared) bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		atOnce := rowsAtOnce
		if f.want&store.WantText != 0 {
			atOnce = textsAtOnce
		}
		sets := &resemblances{rule: f.list.audit.rule}
		for i := 0; i < f.RowCount(); {
			var some []compared
			for ; i < f.RowCount() && len(some) < atOnce; i++ {
				if c := f.rowAt(i); where == nil || where(&c) {
					if from--; from < 0 {
						some = append(some, c)
					}
				}
			}
			if len(some) == 0 {
				return
			}
			rows, err := f.rowsOf(ctx, some, sets)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// RowCount returns the number of rows, including those that are only in the earlier crawl.
func (f *Finding) RowCount() int {
	if f.since != nil {
		return len(f.all)
	}
	return len(f.entries)
}

func (f *Finding) rowAt(i int) compared {
	if f.since != nil {
		return f.all[i]
	}
	return compared{entry: f.entries[i], listed: true}
}

// first yields the first n of some rows, or all rows if n is negative.
func first(ctx context.Context, rows iter.Seq2[Row, error], n int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for row, err := range rows {
			if n--; !yield(row, cmp.Or(err, ctx.Err())) || n == 0 {
				return
			}
		}
	}
}

func (f *Finding) rowsOf(ctx context.Context, entries []compared, sets *resemblances) (rows []Row, err error) {
	a := f.list.audit
	var at []int32
	for _, e := range entries {
		at = append(at, e.page, e.other)
		at = append(at, e.alike[:min(len(e.alike), alikeShown)]...)
	}
	pages, err := a.pagesAt(ctx, f.want, at)
	if err != nil {
		return nil, err
	}
	var kept []compared // entries whose pages are still in the store
	for _, e := range entries {
		s := &subject{entry: e.entry, finding: f, page: pages[e.page], other: pages[e.other], sets: sets, alike: len(e.alike)}
		if s.page == nil {
			continue
		}
		row := Row{Finding: f, Cells: make([]any, len(f.list.Columns)), Links: int(a.site.pages[e.page].links), Change: e.change, Private: s.page.Record.Private}
		for _, at := range e.alike[:min(len(e.alike), alikeShown)] {
			if c := pages[at]; c != nil {
				row.Alike = append(row.Alike, c.Record.URL)
			}
		}
		if p := &a.site.pages[e.page]; e.listed && f.list.isApart(p) {
			row.Apart = p.apart()
		}
		if e.listed && f.list.prepare != nil {
			if err := f.list.prepare(ctx, s); err != nil {
				return nil, err
			}
		}
		for i, c := range f.list.Columns {
			if e.listed || c.Name == urlColumn.Name || c.Name == titleColumn.Name {
				row.Cells[i] = c.of(s, &s.page.Record)
			}
		}
		rows, kept = append(rows, row), append(kept, e)
	}
	if f.list.Linked {
		err = a.addFrom(ctx, kept, rows)
	}
	return rows, err
}

// pagesAt reads pages by their index in site.pages, except nobody. The result lacks pages that are no longer in the store.
func (a *Audit) pagesAt(ctx context.Context, want store.Want, at []int32) (map[int32]*store.Content, error) {
	at = slices.DeleteFunc(at, func(i int32) bool { return i == nobody })
	ids := make([]dedup.Hash, len(at))
	for i, page := range at {
		ids[i] = a.site.pages[page].id
	}
	contents, err := a.s.Pages(ctx, ids, want)
	found := map[int32]*store.Content{}
	for i, c := range contents {
		found[at[i]] = c
	}
	return found, err
}

package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"skink/report"
	"skink/store"
)

// A Change says how an entry of a finding compares with an earlier crawl.
type Change string

const (
	New       Change = "new"       // not in the earlier crawl
	Fixed     Change = "fixed"     // in the earlier crawl, but the page no longer has the problem
	Remaining Change = "remaining" // in both crawls
	Unchecked Change = "unchecked" // in the earlier crawl, but no later visit to the page got a response
)

// Changes lists all changes, in report order.
var Changes = []Change{New, Fixed, Remaining, Unchecked}

// Text returns the change in the words that reports show.
func (c Change) Text() string {
	if c == Unchecked {
		return "not checked"
	}
	return string(c)
}

// A Difference counts the entries of a finding by their change since an earlier crawl. The count of
// the finding includes New and Remaining entries, but not Fixed ones.
type Difference struct {
	New       int `json:"new"`
	Fixed     int `json:"fixed"`
	Remaining int `json:"remaining"`
	Unchecked int `json:"unchecked"`
}

// Of returns the number of entries with the given change.
func (d *Difference) Of(c Change) int { return *d.of(c) }

func (d *Difference) of(c Change) *int {
	switch c {
	case New:
		return &d.New
	case Fixed:
		return &d.Fixed
	case Remaining:
		return &d.Remaining
	}
	return &d.Unchecked
}

// String returns the numbers as text, such as "3 new, 1 fixed, 7 remaining, 0 not checked".
func (d *Difference) String() string {
	var all []string
	for _, c := range Changes {
		all = append(all, report.Grouped(d.Of(c))+" "+c.Text())
	}
	return strings.Join(all, ", ")
}

// A compared is an entry of a finding with its change. Listed is false for an entry that is only in
// the earlier crawl.
type compared struct {
	entry
	change Change
	listed bool
	alike  []int32 // further broken URLs with the same pattern, which the row stands for
}

// compare computes the changes of all findings since an earlier crawl. A finding has no changes if
// only one of the two audits checked for it.
func (a *Audit) compare(past *Past) {
	at := make([]int32, len(past.ids)) // at[i] is the index in site.pages of the page past.ids[i], or nobody
	for i := range at {
		at[i] = nobody
	}
	for i := range a.site.pages {
		if k, known := slices.BinarySearch(past.ids, shortID(a.site.pages[i].id)); known {
			at[k] = int32(i)
		}
	}
	for _, f := range a.compared() {
		_, checked := past.Counts[f.FullName()]
		if checked && !slices.Contains(past.Cut, f.FullName()) {
			f.compare(past.findings[f.FullName()], past.ids, at)
		}
	}
}

// compare computes the changes of the finding's entries. The argument ids contains the short ids of
// the earlier crawl's pages; the argument at contains the indexes of the same pages in site.pages.
func (f *Finding) compare(past pastFinding, ids []uint64, at []int32) {
	f.since = &Difference{}
	add := func(e entry, c Change, listed bool) {
		f.all = append(f.all, compared{entry: e, change: c, listed: listed})
		*f.since.of(c)++
	}
	still := make([]bool, len(past.Pages))
	for _, e := range f.entries[:f.Count()] {
		change := New
		own := f.keyOf(e)
		for _, key := range append([]uint64{own}, f.also[own]...) {
			i, known := past.find(key, ids)
			switch {
			case !known:
				continue
			case f.seenAgain(at[past.Pages[i]]):
				change = Remaining
			case change == New:
				change = Unchecked
			}
			still[i] = true
		}
		add(e, change, true)
	}
	fixed := map[int32]bool{}
	for i, page := range past.Pages {
		switch {
		case still[i], at[page] != nobody && !f.list.audit.covers(at[page]):
		case f.isFixed(at[page]):
			fixed[at[page]] = true
			add(entry{at[page], nobody}, Fixed, false)
		default:
			add(entry{at[page], nobody}, Unchecked, false)
		}
	}
	slices.SortStableFunc(f.all, func(a, b compared) int {
		return cmp.Compare(slices.Index(Changes, a.change), slices.Index(Changes, b.change))
	})
	f.all = slices.DeleteFunc(f.all, func(c compared) bool { return c.page == nobody }) // remove entries whose page is no longer in the store
	for _, e := range f.entries[f.Count():] {
		if !fixed[e.page] {
			f.all = append(f.all, compared{entry: e, listed: true})
		}
	}
}

// isFixed reports whether a page that had the problem no longer has it. The argument is the page's
// index in site.pages. The page must not be a counted entry of the finding. A broken URL counts as
// fixed once no page links to it, even if it is still broken.
func (f *Finding) isFixed(at int32) bool {
	if f.unchecked || at == nobody {
		return false
	}
	return f.seenAgain(at) || f.list.ofErrors && f.list.isApart(&f.list.audit.site.pages[at])
}

func (p *pastFinding) find(key uint64, ids []uint64) (i int, known bool) {
	if p.Keys != nil {
		return slices.BinarySearch(p.Keys, key)
	}
	page, known := slices.BinarySearch(ids, key)
	if !known {
		return 0, false
	}
	return slices.BinarySearch(p.Pages, uint32(page))
}

// seenAgain reports whether a visit since the earlier crawl settles whether the page still has the
// problem. The argument is the page's index in site.pages. A page that did not respond may still
// have the problem, unless the problem is the missing response.
func (f *Finding) seenAgain(at int32) bool {
	if at == nobody {
		return false
	}
	p := &f.list.audit.site.pages[at]
	return p.answered || p.again && f.list.ofErrors
}

// again reports whether a URL has been requested after a given time, and whether the response shows
// the current state of the page.
func again(r *store.Record, after time.Time) (requested, answered bool) {
	switch r.Kind {
	case store.Blocked, store.Later, store.Outside, store.Skipped:
		return false, false
	}
	requested = r.Visited().After(after) && r.Missed == 0
	return requested, requested && (r.Kind != store.Error || absent(r))
}

// Since returns how the finding differs from the earlier crawl. It returns nil if there is no
// earlier crawl, or if only one of the two audits checked for the finding.
func (f *Finding) Since() *Difference { return f.since }

// countOf returns the number of entries with the given change. For "", it returns the result of
// Count.
func (f *Finding) countOf(change Change) int64 {
	switch {
	case change == "":
		return int64(f.Count())
	case f.since == nil:
		return 0
	}
	return int64(f.since.Of(change))
}

// countOf returns the number of URLs with the given change. For "", it returns the result of Count.
func (l *List) countOf(change Change) int64 {
	if change == "" {
		return int64(l.Count())
	}
	urls := map[int32]bool{}
	for _, f := range l.Findings {
		for _, c := range f.all {
			if c.change == change {
				urls[c.page] = true
			}
		}
	}
	return int64(len(urls))
}

// Note returns why the finding could not be compared with the earlier crawl, or why the difference
// is uncertain. It returns "" if neither is the case.
func (f *Finding) Note() string {
	past := f.list.audit.past
	switch {
	case past == nil || f.Weight == OK:
		return ""
	case f.since != nil && f.unseen != "" && past.Missing > 0 && f.since.New > 0:
		return fmt.Sprintf("Not certain: crawl %d did not fetch %s of the site, so entries marked as new may be older than that crawl.", past.Number, report.Counted(past.Missing, "URL"))
	case f.since != nil:
		return ""
	case slices.Contains(past.Cut, f.FullName()):
		return fmt.Sprintf("Not compared: crawl %d had too many pages with this finding to keep all of them.", past.Number)
	}
	return fmt.Sprintf("Not compared: crawl %d did not check this.", past.Number)
}

// Since returns the earlier crawl that the audit is compared with, or nil if there is none.
func (a *Audit) Since() *Crawl {
	if a.past == nil {
		return nil
	}
	return &a.past.Crawl
}

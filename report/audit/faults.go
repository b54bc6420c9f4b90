package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unique"

	"skink/dedup"
	"skink/extract/markup"
	"skink/report"
	"skink/store"
)

// # Faults of a page's HTML and header
//
// Package markup finds most faults of individual pages during the crawl. The page's record stores
// them as a set of numbers. [markup.Checks] maps each number to the name of a finding: "images.alt"
// is the finding alt of the list images.
//
// A fault in the header usually affects the whole server, so its finding has one entry per host. One
// element, such as a link of the menu, may have a fault on nearly all pages of a host. The finding then
// has one entry for it, because one change of the template mends all pages. An element is recognized by its
// example in the records. A page that also has the fault in another element remains an entry.

// leastTemplate is the minimum number of pages of a host that have a fault of the template in one element.
// At least nine of ten pages of the host must have it.
const leastTemplate = 10

func checkList(name string) *List {
	return &List{
		Name: name, Of: "pages",
		Columns:  brief(linksColumn, urlColumn).more(titleColumn),
		Findings: []*Finding{},
	}
}

// checks are the faults that a list shows as findings.
type checks struct {
	all    []*Finding
	header bool              // whether a page has a header that a server sent
	secure bool              // whether a page was fetched over https
	remote bool              // whether a page is not on this machine
	pages  map[string]int64  // number of HTML pages of each host
	count  map[uint64]int64  // number of pages with a fault in an element, by elementKey
	shares map[uint64]string // share of a host's pages with a fault that is listed once, by elementKey
}

// A faulty is a page with a fault in one or two elements. Without a second one, the second key is 0.
type faulty struct {
	entry
	host string
	keys [2]uint64
}

// addChecks adds a finding to the list for each check whose name begins with that of the list.
func (l *List) addChecks(all []markup.Check) {
	c := &checks{pages: map[string]int64{}, count: map[uint64]int64{}, shares: map[uint64]string{}}
	for _, check := range all {
		if list, name, _ := strings.Cut(check.Name, "."); list == l.Name {
			f := &Finding{Name: name, fault: check.Fault, pairs: check.Fault == markup.LinkFragment}
			l.Findings, c.all = append(l.Findings, f), append(c.all, f)
		}
	}
	if len(c.all) == 0 {
		return
	}
	l.checks = c
	at := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Name == "url" }) + 1
	l.Columns = slices.Insert(slices.Clone(l.Columns), at, brief(
		column("example", "Such as", c.example),
		column("pages", "Pages of the host", func(s *subject, _ *store.Record) any { return text(c.shares[s.finding.keys[s.entry]]) }),
	)...)
}

// example returns a table cell with what is faulty in a page. It is empty for a fault of the header.
func (c *checks) example(s *subject, r *store.Record) any {
	if !slices.Contains(c.all, s.finding) || s.hasOther() {
		return nil
	}
	fault := s.finding.fault
	examples := markup.Examples(r.Faulty, fault)
	if key, once := s.finding.keys[s.entry]; once {
		examples = slices.DeleteFunc(examples, func(e string) bool { return elementKey(store.HostOf(r.URL), fault, e) != key })
	}
	return text(strings.Join(examples, ", "))
}

// elementKey returns a number that identifies an element with a fault on a host. Relative URLs of a menu
// differ between folders in the steps up.
func elementKey(host string, fault markup.Fault, example string) uint64 {
	return shortID(dedup.HashOf(fmt.Appendf(nil, "%s %d %s", host, fault, strings.ReplaceAll(example, "../", ""))))
}

func (c *checks) see(at int32, r *store.Record) {
	if !isHTML(r) && !markup.Set(r.Faults).Has(markup.SentAsText) {
		return
	}
	host := unique.Make(store.HostOf(r.URL)).Value()              // does not keep the memory of the URL in use
	c.header = c.header || !strings.HasSuffix(host, ".localhost") // skink itself writes the headers for pages of a folder
	c.secure = c.secure || strings.HasPrefix(r.URL, "https:")
	c.remote = c.remote || !markup.OnThisMachine(host)
	c.pages[host]++
	for _, f := range c.all {
		if !markup.Set(r.Faults).Has(f.fault) {
			continue
		}
		examples := markup.Examples(r.Faulty, f.fault)
		if len(examples) == 0 || f.fault.OfHeader() {
			examples = []string{""}
		}
		c.add(f, entry{at, nobody}, host, examples...)
	}
}

// add adds a page with a fault in the given elements, of which it looks at two.
func (c *checks) add(f *Finding, e entry, host string, elements ...string) {
	p := faulty{entry: e, host: host}
	for i, element := range elements[:min(len(elements), len(p.keys))] {
		if key := elementKey(host, f.fault, element); key != p.keys[0] {
			p.keys[i] = key
			c.count[key]++
		}
	}
	f.seen = append(f.seen, p)
}

func (c *checks) conclude(l *List) {
	var ofHeader []string
	for _, f := range c.all {
		if f.fault.OfHeader() {
			ofHeader = append(ofHeader, f.Name)
		}
		f.conclude(c)
	}
	if !c.header && ofHeader != nil {
		l.lack("response headers are unknown, because no page was fetched over HTTP", ofHeader...)
	}
	if !c.secure && l.Name == "security" {
		l.lack("no page was fetched over https", "hsts", "mixed", "form", "links")
	}
	if !c.remote && l.Name == "links" {
		l.lack("links to this machine, because the site is on it", "local")
	}
	c.count = nil
}

// conclude adds the entries of the finding. If pages have the fault only in elements that nearly all pages
// of the host share, it adds one entry for each element, and none for the other pages.
func (f *Finding) conclude(c *checks) {
	once := map[uint64]bool{} // whether there is an entry for the element
	f.keys, f.also = map[entry]uint64{}, map[uint64][]uint64{}
	for _, p := range f.seen {
		if !f.list.audit.covers(p.page) {
			continue // another page of the segment may have the same element
		}
		var shared, own []uint64
		for _, key := range p.keys {
			switch n := c.count[key]; {
			case key == 0:
			case f.fault.OfHeader(), n >= leastTemplate && 10*n >= 9*c.pages[p.host] && !f.list.isApart(&f.list.audit.site.pages[p.page]):
				shared = append(shared, key)
			default:
				own = append(own, key)
			}
		}
		ofPage := f.keyOf(p.entry)
		if len(own) > 0 {
			f.entries = append(f.entries, p.entry)
			f.addAlso(ofPage, own...)
			continue
		}
		for _, key := range shared {
			if _, taken := f.keys[p.entry]; !taken && !once[key] {
				once[key], f.keys[p.entry] = true, key
				f.entries = append(f.entries, p.entry)
				n, of := c.count[key], c.pages[p.host]
				if c.shares[key] = report.Grouped(n) + " of " + report.Grouped(of); f.fault.OfHeader() {
					f.ofHosts += n
				} else {
					c.shares[key] += " (" + report.Share(n, of) + "): fix the template"
				}
			}
			f.addAlso(key, ofPage)
		}
	}
	f.seen = nil // frees it
}

// Of returns the errors, warnings and notes of a page, most important first. It leaves out those of its host.
func (a *Audit) Of(r *store.Record) (all []*Finding) {
	if at, known := a.site.at[r.ID]; known {
		all = slices.Clone(a.ofPages()[at])
	}
	for _, l := range a.Lists {
		for i := 0; l.checks != nil && i < len(l.checks.all); i++ {
			if f := l.checks.all[i]; markup.Set(r.Faults).Has(f.fault) && !f.fault.OfHeader() && !slices.Contains(all, f) {
				all = append(all, f) // a fault of the template
			}
		}
	}
	slices.SortStableFunc(all, func(f, g *Finding) int { return cmp.Compare(f.Weight, g.Weight) })
	return all
}

// byPage returns the findings that list each page.
func (a *Audit) byPage() map[int32][]*Finding {
	all := map[int32][]*Finding{}
	for _, f := range a.compared() {
		for _, e := range f.entries[:f.Count()] {
			if !f.fault.OfHeader() && !slices.Contains(all[e.page], f) {
				all[e.page] = append(all[e.page], f)
			}
		}
	}
	return all
}

// addAlso adds those numbers of an entry to f.also that the earlier crawl knows: a fault of a few pages may since have
// become one of the template, or the reverse.
func (f *Finding) addAlso(own uint64, keys ...uint64) {
	if a := f.list.audit; a.past != nil {
		past := a.past.findings[f.FullName()]
		for _, key := range keys {
			if _, known := past.find(key, a.past.ids); known {
				f.also[own] = append(f.also[own], key)
			}
		}
	}
}

package audit

import (
	"slices"
	"strings"

	"skink/dedup"
	"skink/extract/markup"
	"skink/report"
	"skink/store"
)

// # Faults of a page's HTML and header
//
// Package markup finds most faults of individual pages during the crawl. The page's record stores
// them as a set of numbers. [markup.Checks] maps each number to the name of a finding: "images.alt"
// is the finding alt of the list images. A fault in the header usually affects the whole server, so
// its finding has one entry per host.

func checkList(name string) *List {
	return &List{
		Name: name, Of: "pages",
		Columns:  brief(linksColumn, urlColumn).more(titleColumn),
		Findings: []*Finding{},
	}
}

// checks are the faults that a list shows as findings.
type checks struct {
	list     *List
	faults   map[string]markup.Fault // by the name of the finding
	ofHeader []string                // names of the findings about the header
	hosts    byHost
}

// addChecks adds a finding to the list for each check whose name begins with that of the list.
func (l *List) addChecks(all []markup.Check) {
	c := &checks{list: l, faults: map[string]markup.Fault{}, hosts: byHost{pages: map[string]int64{}, faults: map[hostFault]*faultCount{}, keys: map[int32]uint64{}}}
	for _, check := range all {
		list, name, _ := strings.Cut(check.Name, ".")
		if list != l.Name {
			continue
		}
		f := &Finding{Name: name, pairs: check.Fault == markup.LinkFragment}
		if check.Fault.OfHeader() {
			c.ofHeader, f.key = append(c.ofHeader, name), c.hosts.key
		}
		l.Findings, c.faults[name] = append(l.Findings, f), check.Fault
	}
	if len(c.faults) == 0 {
		return
	}
	l.checks = c
	at := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Name == "url" }) + 1
	l.Columns = slices.Insert(slices.Clone(l.Columns), at, brief(
		column("example", "Such as", c.example),
		column("pages", "Pages of the host", c.lacking),
	)...)
}

// example returns a table cell with what is faulty in a page. It is empty for a fault of the header.
func (c *checks) example(s *subject, r *store.Record) any {
	fault, ok := c.faults[s.finding.Name]
	if !ok || fault.OfHeader() || s.hasOther() {
		return nil
	}
	return text(strings.Join(markup.Examples(r.Faulty, fault), ", "))
}

// lacking returns a table cell with the number of a host's pages that have a fault of the header.
func (c *checks) lacking(s *subject, r *store.Record) any {
	fault, ok := c.faults[s.finding.Name]
	if !ok || !fault.OfHeader() {
		return nil
	}
	return c.hosts.String(store.HostOf(r.URL), fault)
}

func (c *checks) see(at int32, r *store.Record) {
	if !isHTML(r) {
		return
	}
	host := ""
	if len(c.ofHeader) > 0 {
		if host = store.HostOf(r.URL); !strings.HasSuffix(host, ".localhost") { // skink itself writes the headers for pages of a folder
			c.hosts.pages[host]++
		}
	}
	for name, fault := range c.faults {
		switch {
		case !markup.Set(r.Faults).Has(fault):
		case fault.OfHeader():
			c.hosts.add(host, fault, at)
		default:
			c.list.found(name, at, nobody)
		}
	}
}

func (c *checks) conclude() {
	if len(c.ofHeader) > 0 && len(c.hosts.pages) == 0 {
		c.list.lack("response headers are unknown, because no page was fetched over HTTP", c.ofHeader...)
	}
	for name, fault := range c.faults {
		for key, n := range c.hosts.faults {
			if key.fault == fault {
				c.list.found(name, n.first, nobody)
				c.hosts.keys[n.first] = shortID(dedup.HashOf([]byte(key.host)))
			}
		}
	}
}

// byHost counts, for each host, the pages with a fault in the header.
type byHost struct {
	pages  map[string]int64
	faults map[hostFault]*faultCount
	keys   map[int32]uint64 // maps the index of a host's first page with a fault to a number that identifies the host
}

// key returns a number that identifies the host of an entry. The entry's page does not identify it:
// that is the host's first page with the fault, which may differ between crawls.
func (h *byHost) key(e entry) uint64 { return h.keys[e.page] }

type hostFault struct {
	host  string
	fault markup.Fault
}

type faultCount struct {
	first int32 // index in site.pages of the first page with the fault
	pages int64
}

func (h *byHost) add(host string, fault markup.Fault, at int32) {
	n := h.faults[hostFault{host, fault}]
	if n == nil {
		n = &faultCount{first: at}
		h.faults[hostFault{host, fault}] = n
	}
	n.pages++
}

// String returns how many of a host's pages have a fault, such as "12 of 30".
func (h *byHost) String(host string, fault markup.Fault) any {
	n := h.faults[hostFault{host, fault}]
	if n == nil {
		return nil
	}
	return text(report.Grouped(n.pages) + " of " + report.Grouped(h.pages[host]))
}

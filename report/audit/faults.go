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

func (l *List) addChecks(all []markup.Check) {
	hosts := &byHost{pages: map[string]int64{}, faults: map[hostFault]*faultCount{}, keys: map[int32]uint64{}}
	checks := map[string]markup.Fault{} // maps the name of a finding to its fault
	var ofHeader []string               // findings about the header
	for _, c := range all {
		list, name, _ := strings.Cut(c.Name, ".")
		if list == l.Name {
			f := &Finding{Name: name, pairs: c.Fault == markup.LinkFragment}
			l.Findings = append(l.Findings, f)
			checks[name] = c.Fault
			if c.Fault.OfHeader() {
				ofHeader = append(ofHeader, name)
				f.key = hosts.key
			}
		}
	}
	if len(checks) == 0 {
		return
	}
	example := func(s *subject, r *store.Record) any {
		fault, ok := checks[s.finding.Name]
		if !ok || fault.OfHeader() || s.hasOther() {
			return nil
		}
		return text(strings.Join(markup.Examples(r.Faulty, fault), ", "))
	}
	lacking := func(s *subject, r *store.Record) any {
		fault, ok := checks[s.finding.Name]
		if !ok || !fault.OfHeader() {
			return nil
		}
		return hosts.String(store.HostOf(r.URL), fault)
	}
	at := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Name == "url" }) + 1
	l.Columns = slices.Insert(slices.Clone(l.Columns), at, brief(
		column("example", "Such as", example),
		column("pages", "Pages of the host", lacking),
	)...)
	see, conclude := l.see, l.conclude
	l.see = func(at int32, r *store.Record) {
		if see != nil {
			see(at, r)
		}
		if !isHTML(r) {
			return
		}
		host := ""
		if len(ofHeader) > 0 {
			if host = store.HostOf(r.URL); !strings.HasSuffix(host, ".localhost") { // skink itself writes the headers for pages of a folder
				hosts.pages[host]++
			}
		}
		for name, fault := range checks {
			switch {
			case !markup.Set(r.Faults).Has(fault):
			case fault.OfHeader():
				hosts.add(host, fault, at)
			default:
				l.found(name, at, nobody)
			}
		}
	}
	l.conclude = func() {
		if conclude != nil {
			conclude()
		}
		if len(ofHeader) > 0 && len(hosts.pages) == 0 {
			l.lack("response headers are unknown, because no page was fetched over HTTP", ofHeader...)
		}
		for name, fault := range checks {
			for key, n := range hosts.faults {
				if key.fault == fault {
					l.found(name, n.first, nobody)
					hosts.keys[n.first] = shortID(dedup.HashOf([]byte(key.host)))
				}
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

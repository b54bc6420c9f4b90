package report

import (
	"cmp"
	"slices"

	"skink/store"
)

// A hostCount counts the judged pages of each host.
type hostCount struct {
	byName map[string]*store.Tally
	led    map[leading]int64
}

// A leading is a pair of hosts: pages on host are duplicates of pages on by.
type leading struct{ host, by string }

// add counts a record if it is a page. Other records have no verdict.
func (c *hostCount) add(r *store.Record) {
	if r.Kind != store.Page {
		return
	}
	host := store.HostOf(r.URL)
	if c.byName[host] == nil {
		c.byName[host] = &store.Tally{}
	}
	c.byName[host].Add(r)
	if by := store.HostOf(r.DuplicateOf); r.Follows() && by != host {
		c.led[leading{host, by}]++
	}
}

// list returns the counts of each host, in descending order of duplicates.
func (c *hostCount) list() []Host {
	hosts := make([]Host, 0, len(c.byName))
	at := map[string]int{}
	for name, t := range c.byName {
		if t.Pages() > 0 {
			at[name] = len(hosts)
			hosts = append(hosts, Host{Host: name, Pages: t.Pages(), Unique: t.Unique, Exact: t.Exact, Near: t.Near, Thin: t.Thin})
		}
	}
	for l, n := range c.led {
		if i, known := at[l.host]; known && 2*n > hosts[i].Pages {
			hosts[i].LedBy, hosts[i].Led = l.by, n
		}
	}
	sortHosts(hosts)
	return hosts
}

func sortHosts(hosts []Host) {
	slices.SortFunc(hosts, func(a, b Host) int {
		return cmp.Or(
			cmp.Compare(b.Duplicates(), a.Duplicates()),
			cmp.Compare(a.Host, b.Host),
		)
	})
}

package report

import (
	"cmp"
	"slices"

	"skink/dedup"
	"skink/store"
)

// A HostCount counts the judged pages of each host. The zero value is ready to use.
type HostCount struct {
	byName map[string]*Host
	led    map[leading]int64
}

// A leading is a pair of hosts: pages on host are duplicates of pages on by.
type leading struct{ host, by string }

// Add counts a record if it is a page. Other records have no verdict.
func (c *HostCount) Add(r *store.Record) {
	if r.Kind != store.Page {
		return
	}
	h := c.host(store.HostOf(r.URL))
	switch r.Verdict {
	case dedup.Unique:
		h.Unique++
	case dedup.Exact:
		h.Exact++
	case dedup.Near:
		h.Near++
	case dedup.Thin:
		h.Thin++
	default:
		return
	}
	h.Pages++
	if !r.Follows() {
		return
	}
	if by := store.HostOf(r.DuplicateOf); by != h.Host {
		if c.led == nil {
			c.led = map[leading]int64{}
		}
		c.led[leading{h.Host, by}]++
	}
}

func (c *HostCount) host(name string) *Host {
	h := c.byName[name]
	if h == nil {
		if c.byName == nil {
			c.byName = map[string]*Host{}
		}
		h = &Host{Host: name}
		c.byName[name] = h
	}
	return h
}

// Hosts returns the counts of each host, in descending order of duplicates.
func (c *HostCount) Hosts() []Host {
	for l, n := range c.led {
		if h := c.byName[l.host]; 2*n > h.Pages {
			h.LedBy, h.Led = l.by, n
		}
	}
	hosts := make([]Host, 0, len(c.byName))
	for _, h := range c.byName {
		if h.Pages > 0 {
			hosts = append(hosts, *h)
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

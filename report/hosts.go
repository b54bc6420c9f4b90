package report

import (
	"cmp"
	"slices"
	"strings"

	"skink/dedup"
	"skink/store"
)

// A HostCount counts judged pages by host. The zero value is empty.
type HostCount struct {
	byName map[string]*Host
}

// Add counts r if it is a judged page.
func (c *HostCount) Add(r *store.Record) {
	if r.Kind != store.Page {
		return
	}
	h := c.host(HostOf(r.URL))
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

// Hosts returns what was counted, most duplicates first.
func (c *HostCount) Hosts() []Host {
	hosts := make([]Host, 0, len(c.byName))
	for _, h := range c.byName {
		if h.Pages > 0 {
			hosts = append(hosts, *h)
		}
	}
	sortHosts(hosts)
	return hosts
}

// HostOf is the authority of an http or https URL, under which a report counts it.
// Everything else, above all the path of a file, has none. It cuts instead of
// parsing: a URL of the web may hold a "%" that encodes nothing, which net/url
// refuses, and keeps its host all the same.
func HostOf(rawURL string) string {
	rest, ok := strings.CutPrefix(rawURL, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(rawURL, "http://"); !ok {
			return ""
		}
	}
	if end := strings.IndexAny(rest, "/?#\\ "); end >= 0 { // after a space: where skink dedup had it from
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

func sortHosts(hosts []Host) {
	slices.SortFunc(hosts, func(a, b Host) int {
		return cmp.Or(
			cmp.Compare(b.Duplicates(), a.Duplicates()),
			cmp.Compare(a.Host, b.Host),
		)
	})
}

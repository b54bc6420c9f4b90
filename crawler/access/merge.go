package access

import (
	"cmp"
	"slices"
	"strings"
)

// matching returns the settings whose patterns match a host, the most specific pattern first. If
// two patterns are equally specific, the later one in the table comes first.
func (t Table) matching(host string) []Host {
	var found []Host
	for _, h := range slices.Backward(t) {
		if Matches(h.Pattern, host) {
			found = append(found, h)
		}
	}
	slices.SortStableFunc(found, func(a, b Host) int { return cmp.Compare(rank(b.Pattern), rank(a.Pattern)) })
	return found
}

// rank returns a larger number for a more specific pattern. A name with a port is the most
// specific, then a name, and then patterns with a star, longer ones before shorter ones.
func rank(pattern string) int {
	switch _, port := split(pattern); {
	case pattern == "*":
		return 0
	case strings.HasPrefix(pattern, "*."):
		return len(pattern)
	case port == "":
		return 1 << 16
	}
	return 1 << 17
}

// or returns a copy of h. Fields that are not set in h are taken from less.
func (h Host) or(less Host) Host {
	h.Pattern = cmp.Or(h.Pattern, less.Pattern)
	h.Delay = cmp.Or(h.Delay, less.Delay)
	h.PerHost = cmp.Or(h.PerHost, less.PerHost)
	h.UserAgent = cmp.Or(h.UserAgent, less.UserAgent)
	h.Include = orList(h.Include, less.Include)
	h.Exclude = orList(h.Exclude, less.Exclude)
	h.Pages = cmp.Or(h.Pages, less.Pages)
	h.Bytes = cmp.Or(h.Bytes, less.Bytes)
	if h.Headers == nil {
		h.Headers = less.Headers
	}
	h.Cookies = orList(h.Cookies, less.Cookies)
	h.Basic = cmp.Or(h.Basic, less.Basic)
	h.Login = cmp.Or(h.Login, less.Login)
	h.Logout = cmp.Or(h.Logout, less.Logout)
	h.Proxies = orList(h.Proxies, less.Proxies)
	h.Render = cmp.Or(h.Render, less.Render)
	h.Sign = cmp.Or(h.Sign, less.Sign)
	return h
}

// orList returns list, or less if list is nil.
func orList[E any](list, less []E) []E {
	if list == nil {
		return less
	}
	return list
}

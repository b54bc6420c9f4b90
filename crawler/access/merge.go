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
// specific. Then comes a name without one, and then patterns with a star, the longest first.
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

// or returns a copy of h whose unset fields are taken from fallback. Patterns for URLs add up.
func (h Host) or(fallback Host) Host {
	h.Pattern = cmp.Or(h.Pattern, fallback.Pattern)
	h.Delay = cmp.Or(h.Delay, fallback.Delay)
	h.PerHost = cmp.Or(h.PerHost, fallback.PerHost)
	h.UserAgent = cmp.Or(h.UserAgent, fallback.UserAgent)
	h.Include = slices.Concat(h.Include, fallback.Include)
	h.Exclude = slices.Concat(h.Exclude, fallback.Exclude)
	h.Pages = cmp.Or(h.Pages, fallback.Pages)
	h.Bytes = cmp.Or(h.Bytes, fallback.Bytes)
	h.Rate = cmp.Or(h.Rate, fallback.Rate)
	if h.Headers == nil {
		h.Headers = fallback.Headers
	}
	h.Cookies = orList(h.Cookies, fallback.Cookies)
	h.Basic = cmp.Or(h.Basic, fallback.Basic)
	h.Login = cmp.Or(h.Login, fallback.Login)
	h.Logout = cmp.Or(h.Logout, fallback.Logout)
	h.Proxies = orList(h.Proxies, fallback.Proxies)
	h.Render = cmp.Or(h.Render, fallback.Render)
	h.Robots = cmp.Or(h.Robots, fallback.Robots)
	h.Wait = cmp.Or(h.Wait, fallback.Wait)
	h.WaitFor = cmp.Or(h.WaitFor, fallback.WaitFor)
	h.Posts = cmp.Or(h.Posts, fallback.Posts)
	h.Behaviors = orList(h.Behaviors, fallback.Behaviors)
	return h
}

func orList[E any](list, less []E) []E {
	if list == nil {
		return less
	}
	return list
}

package access

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"skink/frontier"
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
	switch _, port := frontier.SplitPort(pattern); {
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
	h.Include, h.Exclude = slices.Concat(h.Include, fallback.Include), slices.Concat(h.Exclude, fallback.Exclude)
	to, from := reflect.ValueOf(&h).Elem(), reflect.ValueOf(fallback)
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return h
}

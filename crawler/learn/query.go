package learn

import (
	"iter"
	"strings"
)

// names yields the names of the parameters of a canonical URL, each once.
func names(url string) iter.Seq[string] {
	return func(yield func(string) bool) {
		_, query, _ := strings.Cut(url, "?")
		met := map[string]bool{}
		for query != "" {
			var pair string
			pair, query, _ = strings.Cut(query, "&")
			name, _, _ := strings.Cut(pair, "=")
			if !met[name] {
				met[name] = true
				if !yield(name) {
					return
				}
			}
		}
	}
}

// remove takes the parameters off a canonical URL that off names. The others stay as they
// are written, in their order.
func remove(url string, off func(name string) bool) string {
	path, query, found := strings.Cut(url, "?")
	if !found {
		return url
	}
	var kept []string
	gone := false
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if off(name) {
			gone = true
		} else {
			kept = append(kept, pair)
		}
	}
	switch {
	case !gone:
		return url
	case len(kept) == 0:
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}

func hasQuery(url string) bool { return strings.IndexByte(url, '?') >= 0 }

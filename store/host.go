package store

import "strings"

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

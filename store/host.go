package store

import "strings"

// HostOf returns the authority of an http or https URL. Reports count pages under it. Any other
// name, such as the path of a file, has no host: HostOf returns "". It cuts the URL instead of
// parsing it, because net/url refuses a URL with a "%" that encodes nothing. The web has such URLs,
// and their host is plain to see.
func HostOf(rawURL string) string {
	rest, ok := strings.CutPrefix(rawURL, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(rawURL, "http://"); !ok {
			return ""
		}
	}
	if end := strings.IndexAny(rest, "/?#\\ "); end >= 0 { // skink dedup puts a space and the source behind a name that came twice
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

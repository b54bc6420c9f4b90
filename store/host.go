package store

import "strings"

// HostOf returns the authority of an http or https URL, by which reports count pages. It returns ""
// for any other string, such as a file path. HostOf does not use net/url, which rejects URLs with
// an invalid "%" escape. Such URLs exist on the web, and their host is unambiguous.
func HostOf(rawURL string) string {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	if scheme != "http" && scheme != "https" {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#\\ "); end >= 0 { // also at a space: if two texts have the same URL, skink dedup names the second one "URL source"
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

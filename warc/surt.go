package warc

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// # The key of an index
//
// A CDXJ index is sorted by a key that brings the pages of a host, and the hosts of a domain,
// together. The key is the URL after a Sort-friendly URI Reordering Transform, for example
// com,example)/path. A tool finds a page by computing the key from its URL, so all tools must
// compute the same key. This code follows the defaults of the Python package surt, which pywb and
// related tools use. It removes the scheme, a leading www, the default port, the user info, the
// fragment, session ids and a trailing slash. It converts everything to lower case, sorts the query
// parameters, and escapes only the bytes that must be escaped. Two rules of that package are
// missing here: those for URLs other than http and https, and for ASP.NET session ids.

var (
	www       = regexp.MustCompile(`^www\d*\.`)
	slashes   = regexp.MustCompile(`//+`)
	inPath    = regexp.MustCompile(`;jsessionid=[0-9a-z]{32}$`)
	escape    = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	isSession = regexp.MustCompile(`^(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=.+|cftoken=.+)$`)
)

// SURT returns the key under which a URL is sorted in an index, such as "com,example)/path" for
// "https://www.example.com/path/".
func SURT(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return strings.ToLower(url) // not a web URL but, for example, urn:… or dns:…
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, target := rest[:end], rest[end:]
	path, query, _ := strings.Cut(target, "?")
	key := surtHost(strings.ToLower(scheme), strings.ToLower(host)) + ")" + surtPath(path)
	if query = surtQuery(query); query != "" {
		key += "?" + query
	}
	return key
}

// surtHost returns the host of a URL with its labels in reverse order: "com,example" for
// "example.com". host may contain user info and a port.
func surtHost(scheme, host string) string {
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	port := ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host[i:], "]") {
		host, port = host[:i], host[i:]
	}
	if scheme == "http" && port == ":80" || scheme == "https" && port == ":443" || port == ":" {
		port = ""
	}
	if host = strings.Trim(host, "."); strings.HasPrefix(host, "www") {
		host = www.ReplaceAllString(host, "")
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && strings.Contains(host, "[") {
		return host + port
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ",") + port
}

func surtPath(path string) string {
	if strings.Contains(path, "//") {
		path = slashes.ReplaceAllString(path, "/")
	}
	if path = strings.ToLower(minimalEscape(path)); strings.Contains(path, ";") {
		path = inPath.ReplaceAllString(path, "")
	}
	if path = strings.TrimSuffix(path, "/"); path == "" {
		return "/"
	}
	return path
}

func surtQuery(query string) string {
	if query == "" {
		return ""
	}
	var kept []string
	for part := range strings.SplitSeq(strings.ToLower(minimalEscape(query)), "&") {
		if !isSession.MatchString(part) {
			kept = append(kept, part)
		}
	}
	slices.SortStableFunc(kept, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, "=")
		nameB, _, _ := strings.Cut(b, "=")
		return cmp.Or(strings.Compare(nameA, nameB), strings.Compare(a, b))
	})
	return strings.Join(kept, "&")
}

// minimalEscape repeatedly decodes every %XX in s until none is left, so "%2541" becomes "A". Then
// it escapes only the bytes that must be escaped.
func minimalEscape(s string) string {
	for before := ""; s != before; {
		before = s
		s = escape.ReplaceAllStringFunc(s, func(code string) string {
			b, _ := hex.DecodeString(code[1:]) // the only possible error is a character that the expression does not match
			return string(b)
		})
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7F || c == '#' || c == '%' {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

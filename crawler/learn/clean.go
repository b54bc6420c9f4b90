package learn

import (
	"hash/maphash"
	"slices"
	"strings"
)

// # What is taken off URLs
//
// Three kinds of things: parameters that are known to count visitors and change no page,
// session ids, known by their form, and the parameters that were learned of the host.
//
// The tracking parameters are those of Google's campaigns (utm_: "Collect campaign data
// with custom URLs", support.google.com/analytics/answer/1033863), Google's, Microsoft's and
// Meta's click ids, and the list that Firefox strips from links (query stripping,
// services/settings "query-stripping": mc_eid, oly_anon_id, oly_enc_id, __s, vero_id, _hsenc,
// mkt_tok, fbclid). The session ids are those that Heritrix strips before it compares URLs
// (StripSessionIDs, StripSessionCFIDs): of Java servlets, PHP, ASP and ColdFusion.

var tracking = map[string]bool{
	"gclid": true, "dclid": true, "gbraid": true, "wbraid": true, "msclkid": true, "fbclid": true,
	"mc_eid": true, "oly_anon_id": true, "oly_enc_id": true, "__s": true, "vero_id": true, "_hsenc": true, "mkt_tok": true,
}

func isTracking(name string) bool { return tracking[name] || strings.HasPrefix(name, "utm_") }

func isSession(name string) bool {
	switch name = strings.ToLower(name); name {
	case "jsessionid", "phpsessid", "cfid", "cftoken":
		return true
	}
	return strings.HasPrefix(name, "aspsessionid")
}

// Clean is a URL without what is known to change no page. Of a URL of another host only
// what is known of all hosts is taken off.
func (h *Host) Clean(url string) string {
	clean := CleanAny(url)
	if h == nil || len(h.Params) == 0 || !strings.Contains(clean, "?") {
		return clean
	}
	return remove(clean, func(name string) bool { return h.Params[name].useless() })
}

// CleanAny is a URL without tracking parameters and session ids.
func CleanAny(url string) string {
	if strings.IndexByte(url, ';') >= 0 || strings.Contains(url, "/(S(") {
		url = withoutPathSession(url)
	}
	if strings.IndexByte(url, '?') < 0 {
		return url
	}
	return remove(url, func(name string) bool { return isTracking(name) || isSession(name) })
}

// withoutPathSession takes ;jsessionid=ID and its like, and /(S(ID))/ of ASP.NET, out of a path.
func withoutPathSession(url string) string {
	path, query, hasQuery := strings.Cut(url, "?")
	segments := strings.Split(path, "/")
	kept := segments[:0]
	for _, s := range segments {
		parts := strings.Split(s, ";")
		parts = slices.DeleteFunc(parts, func(part string) bool {
			name, _, found := strings.Cut(part, "=")
			return found && isSession(name)
		})
		if s = strings.Join(parts, ";"); !strings.HasPrefix(s, "(S(") || !strings.HasSuffix(s, "))") {
			kept = append(kept, s)
		}
	}
	path = strings.Join(kept, "/")
	if hasQuery {
		return path + "?" + query
	}
	return path
}

// takenOff names what a clean URL has no longer.
func takenOff(url, clean string) string {
	var gone []string
	left := map[string]bool{}
	for name := range names(clean) {
		left[name] = true
	}
	for name := range names(url) {
		if !left[name] {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return "session id in the path"
	}
	return strings.Join(gone, ", ")
}

// ruleOf is the rule by which something was taken off.
func ruleOf(url, clean string) Rule {
	if _, session, _ := strings.Cut(url, "://"); withoutPathSession(session) != session {
		return Session
	}
	for name := range names(url) {
		switch {
		case isSession(name):
			return Session
		case isTracking(name):
			return Tracking
		}
	}
	return Parameter
}

var linksSeed = maphash.MakeSeed()

// Links sums up where a page leads on its own host, in whatever order: two pages with the
// same sum, in one process, lead to the same URLs. The parameters that the page's own URL has
// do not count, for a page hands its session on to all it leads to, and nor does the page
// itself.
func Links(url string, to func(yield func(string) bool)) (sum uint64) {
	own := map[string]bool{}
	for name := range names(url) {
		own[name] = true
	}
	strip := func(url string) string { return remove(url, func(name string) bool { return own[name] }) }
	host, itself := hostOf(url), strip(url)
	for link := range to {
		if hostOf(link) != host {
			continue
		}
		if link = strip(link); link != itself {
			sum += maphash.String(linksSeed, link)
		}
	}
	return sum
}

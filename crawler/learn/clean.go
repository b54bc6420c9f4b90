package learn

import (
	"regexp"
	"slices"
	"strings"
)

// # Parameters removed from URLs
//
// Two kinds of parameters are always removed from links: tracking parameters, by their exact names,
// and session ids, by exact names and forms. Nothing is removed because of evidence from a crawl.
//
// The tracking parameters have three sources. Google Analytics documents the utm parameters
// ("Collect campaign data with custom URLs", support.google.com/analytics/answer/10917952). Google,
// Microsoft and Meta add click ids. Firefox strips the names from mc_eid to mkt_tok below, and
// fbclid (query stripping, services/settings "query-stripping").
//
// The session ids are those that Heritrix strips before it compares URLs (StripSessionIDs,
// StripSessionCFIDs). They belong to Java servlets, PHP, ASP and ColdFusion. ColdFusion always
// writes cfid next to cftoken, so a cfid without a cftoken belongs to other software.

var tracking = map[string]bool{
	"utm_source": true, "utm_medium": true, "utm_campaign": true, "utm_term": true, "utm_content": true, "utm_id": true,
	"utm_source_platform": true, "utm_creative_format": true, "utm_marketing_tactic": true,
	"gclid": true, "dclid": true, "gbraid": true, "wbraid": true, "msclkid": true, "fbclid": true,
	"mc_eid": true, "oly_anon_id": true, "oly_enc_id": true, "__s": true, "vero_id": true, "_hsenc": true, "mkt_tok": true,
}

const coldFusion = "cftoken"

func isSession(name string) bool {
	switch name = strings.ToLower(name); name {
	case "jsessionid", "phpsessid", coldFusion:
		return true
	}
	return strings.HasPrefix(name, "aspsessionid")
}

// Clean returns a URL without tracking parameters and session ids.
func Clean(url string) string {
	if strings.IndexByte(url, ';') >= 0 || strings.IndexByte(url, '(') >= 0 {
		url = withoutPathSession(url)
	}
	path, query, _ := strings.Cut(url, "?")
	if query == "" {
		return url
	}
	fusion := strings.Contains(strings.ToLower(query), coldFusion+"=")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return tracking[name] || isSession(name) || fusion && strings.EqualFold(name, "cfid")
	})
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}

// ASP.NET writes 24 characters (System.Web.SessionState.SessionIDManager).
var aspSession = regexp.MustCompile(`^\(S\([a-z0-5]{24}\)\)$`)

// withoutPathSession removes session ids from the path of a URL: ;jsessionid=ID and the like, and
// the segment (S(ID)) of ASP.NET.
func withoutPathSession(url string) string {
	path, _, _ := strings.Cut(url, "?")
	segments := strings.Split(path, "/")
	kept := segments[:0]
	for _, s := range segments {
		parts := strings.Split(s, ";")
		parts = slices.DeleteFunc(parts, func(part string) bool {
			name, _, found := strings.Cut(part, "=")
			return found && isSession(name)
		})
		if s = strings.Join(parts, ";"); !aspSession.MatchString(s) {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, "/") + url[len(path):]
}

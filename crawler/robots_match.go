package crawler

import "strings"

// What matches in robots.txt
//
// A rule is compared with the path and query of a URL, octet by octet from the
// first one, and matches when the rule ends before they differ (RFC 9309,
// 2.2.2). "*" stands for any octets or none, "$" at the end for the end of the
// URL (2.2.3). Both sides are first written in one form:
//
//   - octets beyond ASCII, and those that no URL may contain, become %XX;
//   - %XX of an unreserved character becomes the character; any other is kept,
//     in capitals: "%2F" is no slash;
//   - "*" and "$" as letters become %2A and %24, which is how a rule can mean
//     them, and "'" becomes %27, as the URL Standard escapes it in a query.
//
// The octets that delimit the parts of a URL (: / ? # [ ] @) differ from their
// escapes in a path. In a query they delimit nothing, and the table of 2.2.2
// shows them as equal there. So a rule matches if it does so as written, or with
// these escapes decoded behind the question mark of both sides: "/a?u=http://"
// matches "/a?u=http%3A%2F%2F", and "/*%2F" and "/*//" match what they say,
// wherever it occurs.
//
// The length of a rule, which decides between two that match, is counted in this
// form, with its wildcards.
//
// Wildcards need no backtracking. The pieces between them are looked for from
// left to right, each at its first place: if there is any way to fit all pieces,
// fitting each as early as possible is one. So a match reads the URL once.

type robotsRule struct {
	allow   bool
	octets  int // length, see above
	pattern robotsPattern
	folded  *robotsPattern // with delimiters decoded in the query; nil: the same
}

func newRobotsRule(allow bool, path string) robotsRule {
	normal := normalRobotsPattern(path)
	rule := robotsRule{allow: allow, octets: len(normal), pattern: newRobotsPattern(normal)}
	if folded := foldRobotsQuery(normal); folded != normal {
		pattern := newRobotsPattern(folded)
		rule.folded = &pattern
	}
	return rule
}

func (r *robotsRule) matches(t robotsTarget) bool {
	switch {
	case r.pattern.matches(t.octets):
		return true
	case r.folded != nil:
		return r.folded.matches(t.folded)
	case t.folded != t.octets:
		return r.pattern.matches(t.folded)
	}
	return false
}

// robotsTarget is what of a URL rules are compared with.
type robotsTarget struct {
	octets string // path and query
	folded string // with delimiters decoded in the query
}

// newRobotsTarget takes path and query from an absolute URL as they stand, or
// from a URL that is a path.
func newRobotsTarget(rawURL string) robotsTarget {
	path, _, _ := strings.Cut(rawURL, "#")
	if scheme := strings.Index(path, "://"); scheme >= 0 && !strings.ContainsAny(path[:scheme], "/?") {
		path = path[scheme+len("://"):]
		if i := strings.IndexAny(path, "/?"); i >= 0 {
			path = path[i:]
		} else {
			path = ""
		}
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	octets := normalRobotsPath(path)
	return robotsTarget{octets, foldRobotsQuery(octets)}
}

// robotsPattern is a rule's path, cut at its wildcards.
type robotsPattern struct {
	first  string   // what the URL starts with
	rest   []string // what follows, anything between
	closed bool     // ended with $
}

func newRobotsPattern(normal string) robotsPattern {
	open, closed := strings.CutSuffix(normal, "$")
	pieces := strings.Split(open, "*")
	return robotsPattern{pieces[0], pieces[1:], closed}
}

func (p *robotsPattern) matches(path string) bool {
	path, ok := strings.CutPrefix(path, p.first)
	if !ok {
		return false
	}
	for i, piece := range p.rest {
		if p.closed && i == len(p.rest)-1 {
			return strings.HasSuffix(path, piece)
		}
		_, path, ok = strings.Cut(path, piece)
		if !ok {
			return false
		}
	}
	return !p.closed || path == ""
}

// normalRobotsPath writes path and query of a URL in the common form.
func normalRobotsPath(path string) string {
	var out strings.Builder
	out.Grow(len(path))
	writeRobotsOctets(&out, path)
	return out.String()
}

// normalRobotsPattern does the same for a rule, and leaves its wildcards.
func normalRobotsPattern(path string) string {
	open, closed := strings.CutSuffix(path, "$")
	var out strings.Builder
	out.Grow(len(path))
	for i, piece := range strings.Split(open, "*") {
		if i > 0 {
			out.WriteByte('*')
		}
		writeRobotsOctets(&out, piece)
	}
	if closed {
		out.WriteByte('$')
	}
	return out.String()
}

func writeRobotsOctets(out *strings.Builder, s string) {
	const (
		hex      = "0123456789ABCDEF"
		reserved = ":/?[]@!&()+,;=" // RFC 3986, section 2.2, but for # * $ '
	)
	for i := 0; i < len(s); i++ {
		c := s[i]
		escaped := false
		if c == '%' && i+2 < len(s) && isRobotsHex(s[i+1]) && isRobotsHex(s[i+2]) {
			c, escaped = robotsHex(s[i+1])<<4|robotsHex(s[i+2]), true
			i += 2
		}
		if isRobotsUnreserved(c) || !escaped && strings.IndexByte(reserved, c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(hex[c>>4])
		out.WriteByte(hex[c&15])
	}
}

// foldRobotsQuery decodes the escaped delimiters behind the first question mark.
func foldRobotsQuery(normal string) string {
	path, query, ok := strings.Cut(normal, "?")
	if !ok || !strings.Contains(query, "%") {
		return normal
	}
	return path + "?" + robotsDelimiters.Replace(query)
}

var robotsDelimiters = strings.NewReplacer(
	"%3A", ":", "%2F", "/", "%3F", "?", "%23", "#", "%5B", "[", "%5D", "]", "%40", "@",
)

// isRobotsUnreserved follows RFC 3986, section 2.3.
func isRobotsUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

func isRobotsHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func robotsHex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

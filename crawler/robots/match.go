package robots

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// # Matching in robots.txt
//
// A rule is compared with the path and query of a URL, octet by octet from the first one. It
// matches if each of its octets equals that of the URL (RFC 9309, section 2.2.2). "*" matches any
// octets or none, and "$" at the end of a rule matches the end of the URL (2.2.3). Rules and URLs
// are first converted to a common form:
//
//   - Non-ASCII octets, and octets that no URL may contain, become %XX.
//   - %XX of an unreserved character becomes the character. Any other %XX is kept, in upper case,
//     so "%2F" is not a slash.
//   - A literal "*" or "$" in a URL becomes %2A or %24, so that a rule can name it in this form.
//     "'" becomes %27, as the URL Standard requires in a query.
//
// The octets that delimit the parts of a URL (: / ? # [ ] @) differ from their escapes in a path.
// In a query they delimit nothing, and the table in 2.2.2 shows them as equal to their escapes
// there. So the rule and the URL are compared a second time, after decoding these escapes in both
// queries: "/a?u=http://" matches "/a?u=http%3A%2F%2F". "/*%2F" and "/*//" match their literal text
// anywhere.
//
// If several rules match, the rule that is longest in the common form wins. Wildcards count as part
// of its length.
//
// Wildcards need no backtracking. The pieces between them are searched from left to right, each at
// its first occurrence after the piece before it. If all pieces fit in any way, they also fit in
// this way. So a match reads the URL once.

type rule struct {
	allow   bool
	octets  int // length of the rule in the common form, in octets; the longest matching rule wins
	pattern pattern
	folded  *pattern // the same rule with decoded delimiters in the query; nil if the query has no escaped delimiters
}

func newRule(allow bool, path string) rule {
	normal := normalPattern(path)
	r := rule{allow: allow, octets: len(normal), pattern: newPattern(normal)}
	if folded := foldQuery(normal); folded != normal {
		p := newPattern(folded)
		r.folded = &p
	}
	return r
}

func (r *rule) matches(t target) bool {
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

// target is the part of a URL that rules are compared with.
type target struct {
	octets string // path and query of the URL
	folded string // the same, but with decoded delimiters in the query
}

// newTarget returns the target of an absolute URL, or of a URL that begins with its path. It does
// not resolve dot segments.
func newTarget(rawURL string) target {
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
	octets := normalOctets(path, reserved)
	return target{octets, foldQuery(octets)}
}

// pattern is a rule's path, split at its wildcards.
type pattern struct {
	first  string   // the URL must start with this string
	rest   []string // strings that must follow in this order, with any text before each
	closed bool     // the URL must end where the pattern ends, because the rule ends with $
}

func newPattern(normal string) pattern {
	open, closed := strings.CutSuffix(normal, "$")
	pieces := strings.Split(open, "*")
	return pattern{pieces[0], pieces[1:], closed}
}

func (p *pattern) matches(path string) bool {
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

// normalPattern returns the path of a rule in the common form, and keeps its wildcards.
func normalPattern(path string) string {
	open, closed := strings.CutSuffix(path, "$")
	normal := normalOctets(open, reserved+"*")
	if closed {
		normal += "$"
	}
	return normal
}

const reserved = ":/?[]@!&()+,;=" // RFC 3986, section 2.2, except for # * $ '

// normalOctets returns s in the common form, in which all octets are escaped except unreserved and kept ones.
func normalOctets(s, kept string) string {
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		escaped := false
		if c == '%' && i+2 < len(s) {
			if octet, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				c, escaped = octet[0], true
				i += 2
			}
		}
		if isUnreserved(c) || !escaped && strings.IndexByte(kept, c) >= 0 {
			out.WriteByte(c)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", c)
	}
	return out.String()
}

// foldQuery decodes the escaped delimiters after the first question mark.
func foldQuery(normal string) string {
	path, query, ok := strings.Cut(normal, "?")
	if !ok || !strings.Contains(query, "%") {
		return normal
	}
	return path + "?" + delimiters.Replace(query)
}

var delimiters = strings.NewReplacer(
	"%3A", ":", "%2F", "/", "%3F", "?", "%23", "#", "%5B", "[", "%5D", "]", "%40", "@",
)

// isUnreserved reports whether a character means the same with and without an escape (RFC 3986,
// section 2.3).
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

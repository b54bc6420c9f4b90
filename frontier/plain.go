package frontier

import (
	"net/netip"
	"strconv"
	"strings"
)

// # Plain URLs
//
// The standard's parser takes 12 µs for a URL, and would return nearly all links of nearly all
// pages unchanged. A URL is called plain if a single pass can prove that:
//
//   - its scheme is "http://" or "https://", in lower case;
//   - its host is a name of lower-case ASCII letters, digits and single inner hyphens, whose last
//     label starts with a letter, or an IPv4 address in its usual form (not "0x7f.1", which is
//     127.0.0.1);
//   - its port, if there is one, is a number without leading zeros, and the default port of neither
//     scheme;
//   - in its path and query, the parser would neither escape nor interpret any byte, every %XX is
//     in capitals and does not encode an unreserved character, and no segment of the path could be
//     a dot segment.
//
// A plain URL also has at most maxPlain bytes. When in doubt, the URL counts as not plain and the
// parser is used, because a mistake here would give one page two identities. FuzzResolve and
// TestResolvePlain compare the results of the single pass and of the parser.

// maxPlain is the maximum length in bytes of a URL that the fast check handles. It equals
// maxSlashes: a URL that short cannot have too many slashes or too long an authority, so neither
// needs a check. Nearly all links are shorter.
const maxPlain = maxSlashes

// For each byte, these bits say in which components of a URL it may occur unchanged.
const (
	inPath     = 1 << iota // needs no escape in a path (path percent-encode set of the URL Standard); dots are checked separately
	inQuery                // needs no escape in a query (special-query percent-encode set)
	inLabel                // lower-case letters and digits of a host; hyphens are checked separately
	unreserved             // needs no escape in any part of a URL: RFC 3986, section 2.3
	hexDigit
)

var bytesOf = classifyBytes()

func classifyBytes() (t [256]uint8) {
	const punctuation = "!$&()*+,-/:;=@[]_|~"
	set := func(bytes string, bits uint8) {
		for i := range len(bytes) {
			t[bytes[i]] |= bits
		}
	}
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	set(digits+lower, inLabel)
	set(digits+lower+upper+"-._~", unreserved)
	set(digits+"abcdefABCDEF", hexDigit)
	set(digits+lower+upper+punctuation+"'", inPath)
	set(digits+lower+upper+punctuation+".?\\^`{}", inQuery)
	return t
}

// canonicalPlain returns the canonical form of u if u is plain: u itself, with the path "/" added
// if u has none. u must have no blanks around it and no fragment. The second result is false if u
// is not plain; then the full parser must be used.
func canonicalPlain(u string) (string, bool) {
	rest, found := strings.CutPrefix(u, "https://")
	if !found {
		rest, found = strings.CutPrefix(u, "http://")
	}
	end := hostLen(rest)
	host, port, hasPort := strings.Cut(rest[:end], ":")
	if !found || !plainHost(host) || hasPort && !plainPort(port) {
		return "", false
	}
	return withPlainPath(u, len(u)-len(rest)+end)
}

// withoutFragment removes the blanks at both ends of a URL or relative reference, and then its
// fragment. Blanks before the fragment stay, because they are part of the URL.
func withoutFragment(s string) string {
	s, _, _ = strings.Cut(trimBlanks(s), "#")
	return s
}

// withPlainPath returns the canonical form of u. The part before index end, where the path or query
// begins, must already be canonical. The second result is false if the rest is not plain.
func withPlainPath(u string, end int) (string, bool) {
	if len(u) >= maxPlain || !plainPath(u[end:]) {
		return "", false
	}
	if end == len(u) || u[end] == '?' {
		return u[:end] + "/" + u[end:], true
	}
	return u, true
}

// hostLen returns the length in bytes of the host and port at the start of s, which end at "/" or
// "?" or at the end of s.
func hostLen(s string) int {
	for i := range len(s) {
		if s[i] == '/' || s[i] == '?' {
			return i
		}
	}
	return len(s)
}

// plainHost reports whether a host is plain, meaning that the full parser would return it
// unchanged.
func plainHost(host string) bool {
	const maxDNS = 253
	if len(host) > maxDNS {
		return false
	}
	last := byte('.') // the previous byte, or a dot at the start of the host
	label := 0        // index at which the current label begins
	for i := range len(host) {
		c := host[i]
		switch {
		case bytesOf[c]&inLabel != 0:
		case c == '-' && last != '-' && last != '.':
		case c == '.' && last != '-' && last != '.':
			label = i + 1
		default:
			return false
		}
		last = c
	}
	switch {
	case last == '.' || last == '-':
		return false
	case host[label] >= 'a':
		return true
	}
	_, err := netip.ParseAddr(host) // accepts only the usual form, without leading zeros
	return err == nil
}

// plainPort reports whether a port is plain, meaning that the full parser would return it
// unchanged.
func plainPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && port[0] >= '1' && port[0] <= '9' && n != 80 && n != 443
}

// plainPath reports whether s is plain, meaning that the full parser would return it unchanged. s
// is a path with or without a query, or a query with its question mark.
func plainPath(s string) bool {
	kept := uint8(inPath)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case bytesOf[c]&kept != 0:
		case c == '.':
			if mayBeDotSegment(s, i) {
				return false
			}
		case c == '?':
			kept = inQuery
		case c == '%':
			d, ok := unescape(s[i:])
			if !ok || bytesOf[d]&unreserved != 0 || s[i+1] >= 'a' || s[i+2] >= 'a' {
				return false
			}
			i += 2
		default:
			return false
		}
	}
	return true
}

// mayBeDotSegment reports whether the dot s[i] may begin a path segment "." or "..", which the full
// parser would remove. It may if it is the first byte of a segment, and the segment ends there or
// continues with another dot.
func mayBeDotSegment(s string, i int) bool {
	if i > 0 && s[i-1] != '/' {
		return false
	}
	return i+1 == len(s) || s[i+1] == '/' || s[i+1] == '.' || s[i+1] == '?'
}

package frontier

import "strings"

// # Plain URLs
//
// The standard's parser takes 12 µs for a URL, and would return nearly all links of nearly all
// pages unchanged. A plain URL is one of which a single pass can prove that:
//
//   - its scheme is "http://" or "https://", in lower case;
//   - its host is a name of lower-case ASCII letters, digits and single inner hyphens, its last
//     label starts with a letter (else it might be an IPv4 address: "0x7f.1" is 127.0.0.1), and
//     nothing follows it, not even a port;
//   - in its path and query every byte is one the parser neither escapes nor acts upon, every %XX
//     is in capitals and is not an unreserved character, and no segment of the path could be a dot
//     segment.
//
// It also has at most maxPlain bytes. A URL in doubt is not plain, and goes to the parser: a
// mistake here would give one page two identities. FuzzResolve and TestResolvePlain compare the two
// ways.

// maxPlain is the length up to which nothing else needs a bound: fewer bytes than maxSlashes hold
// fewer slashes. Nearly all links are shorter.
const maxPlain = maxSlashes

// Bits that say for each byte in which parts of a URL it is kept unchanged.
const (
	inPath     = 1 << iota // by the URL Standard's path percent-encode set, and no dot
	inQuery                // by its special-query percent-encode set
	inLabel                // of a plain host, hyphens apart
	unreserved             // RFC 3986, section 2.3
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

// canonicalPlain returns the canonical form of a plain URL without blanks around it and without a
// fragment: the URL itself, with a path. If ok is false, the parser decides.
func canonicalPlain(u string) (string, bool) {
	rest, found := strings.CutPrefix(u, "https://")
	if !found {
		rest, found = strings.CutPrefix(u, "http://")
	}
	host := hostLen(rest)
	if !found || !plainHost(rest[:host]) {
		return "", false
	}
	return withPlainPath(u, len(u)-len(rest)+host)
}

// withoutFragment removes the blanks around a URL or a reference, and then the fragment: no server
// sees either. Blanks before the fragment belong to the URL.
func withoutFragment(s string) string {
	s, _, _ = strings.Cut(trimBlanks(s), "#")
	return s
}

// withPlainPath completes a URL that is known to be canonical up to end, where its path or query
// begins, or where the URL ends.
func withPlainPath(u string, end int) (string, bool) {
	if len(u) >= maxPlain || !plainPath(u[end:]) {
		return "", false
	}
	if end == len(u) || u[end] == '?' {
		return u[:end] + "/" + u[end:], true
	}
	return u, true
}

// hostLen returns the length of host and port at the start of s.
func hostLen(s string) int {
	for i := range len(s) {
		if s[i] == '/' || s[i] == '?' {
			return i
		}
	}
	return len(s)
}

// plainHost reports whether the parser would return this host unchanged.
func plainHost(host string) bool {
	const mostDNS = 253
	if len(host) > mostDNS {
		return false
	}
	last := byte('.') // what came before; a dot at the start
	label := 0        // where the label began
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
	return last != '.' && last != '-' && host[label] >= 'a'
}

// plainPath reports whether the parser would keep a path and query, or a query alone with its
// question mark, unchanged.
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

// mayBeDotSegment reports whether the dot s[i] may begin a segment "." or "..". That is so if it
// starts a segment that ends there or continues with another dot.
func mayBeDotSegment(s string, i int) bool {
	if i > 0 && s[i-1] != '/' {
		return false
	}
	return i+1 == len(s) || s[i+1] == '/' || s[i+1] == '.' || s[i+1] == '?'
}

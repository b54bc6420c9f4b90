package frontier

import (
	"slices"
	"strings"
)

// # Hosts in ASCII
//
// By today's URL Standard (3.3, domain to ASCII, with the IgnoreInvalidPunycode of UTS 46) a host
// that is all ASCII is only put in lower case, whatever its labels would decode to: "xn--pokxncvks"
// is a host, though it is no Punycode that a registry would take. The library (v0.6.2) still
// refuses such hosts. So the library does not get to see a host in ASCII with a label that begins
// with "xn--". Another name stands in its place until the rest of the URL is parsed.

// standIn is that name. It is of RFC 6761, section 6.4: no host can have it.
const standIn = "ascii.invalid"

const acePrefix = "xn--"

// hideHost puts standIn in the place of the host of a URL or a reference without blanks, and
// returns the host in lower case. If it is not ok, the parser can have the URL as it is.
func hideHost(ref string) (hidden, host string, ok bool) {
	length := authorityLen(ref)
	if length == 0 {
		return "", "", false
	}
	rest := ref
	if s := scheme(ref); s != "" {
		rest = ref[len(s)+1:]
	}
	start := len(ref) - len(strings.TrimLeft(rest, `/\`))
	authority := ref[start : start+length]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		start += at + 1
		authority = authority[at+1:]
	}
	name, _, _ := strings.Cut(authority, ":")
	host = lowerASCII(name)
	if !isACE(host) {
		return "", "", false
	}
	return ref[:start] + standIn + ref[start+len(name):], host, true
}

// lowerASCII is a host with its escapes decoded, in lower case; "" if there is something in it that
// is not ASCII, or that no host may have (URL Standard 3.2, forbidden domain code points).
func lowerASCII(name string) string {
	const forbidden = "#/:<>?@[\\]^|%\x7f"
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		if decoded, ok := unescape(name[i:]); ok && c == '%' {
			c = decoded
			i += 2
		}
		switch {
		case c <= ' ' || c > '~' || strings.IndexByte(forbidden, c) >= 0:
			return ""
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

// isACE says whether a host has a label that claims to be Punycode, and is no IPv4 address: a host
// that ends in a number has to be one.
func isACE(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	hex, isHex := strings.CutPrefix(last, "0x")
	number := last != "" && strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == ""
	return !number && slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(l, acePrefix) })
}

// showHost puts a host back into a URL whose host was hidden.
func showHost(url, host string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	return scheme + "://" + host + strings.TrimPrefix(rest, standIn)
}

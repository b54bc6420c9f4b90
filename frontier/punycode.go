package frontier

import (
	"slices"
	"strings"
)

// # Hosts in ASCII
//
// The current URL Standard (3.3, domain to ASCII, with the IgnoreInvalidPunycode of UTS 46) only
// converts an all-ASCII host to lower case, whatever its labels would decode to. So "xn--pokxncvks"
// is a host, although no registry would accept this Punycode. The library (v0.6.2) still refuses
// such hosts. So a host in ASCII with a label that begins with "xn--" is hidden from the library:
// standIn replaces it until the rest of the URL has been parsed.

// standIn is the host name that replaces a host that the library would refuse. RFC 6761, section
// 6.4, guarantees that no real host has this name.
const standIn = "ascii.invalid"

const acePrefix = "xn--"

// hideHost replaces the host of ref with standIn if the library would refuse the host although the
// URL Standard allows it. It returns the changed reference, and the original host in lower case. ok
// is false if the library can parse ref as it is. ref is a URL or relative reference without
// blanks.
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

// lowerASCII returns a host in lower case, with each %XX in it decoded. It returns "" if the host
// contains a character that is not ASCII, or one that the URL Standard (3.2) forbids in domains.
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

// isACE reports whether a label of the host begins with "xn--", which marks Punycode, and the host
// is not an IPv4 address. By the URL Standard, a host whose last label is a number must be an IPv4
// address.
func isACE(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	hex, isHex := strings.CutPrefix(last, "0x")
	number := last != "" && strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == ""
	return !number && slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(l, acePrefix) })
}

// showHost puts host back into a URL in which hideHost has replaced it with standIn.
func showHost(url, host string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	return scheme + "://" + host + strings.TrimPrefix(rest, standIn)
}

package frontier

import (
	"cmp"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// # Hosts in ASCII
//
// The current URL Standard (3.3, domain to ASCII, with the IgnoreInvalidPunycode of UTS 46) only
// converts an all-ASCII host to lower case, whatever its labels would decode to. So "xn--pokxncvks"
// is a host, although no registry would accept this Punycode. The library (v0.6.2) still refuses
// such hosts. So the library parses another host in place of one in ASCII with a label that begins
// with "xn--".

const acePrefix = "xn--"

// parse parses a URL by the rules of the URL Standard. It escapes "^" in a path, which the standard
// now requires but the library (v0.6.2) does not do by default.
func parse(ref string) (*whatwg.Url, error) {
	ascii := "" // the host, if the library parses another one in its place
	before := func(_ *whatwg.Url, host string) string {
		ascii = ""
		name := lowerASCII(host)
		if !strings.HasPrefix(name, acePrefix) && !strings.Contains(name, "."+acePrefix) {
			return host
		}
		ascii = name
		return strings.ReplaceAll(name, acePrefix, "ascii") // the last label may still be a number, which the standard refuses
	}
	after := func(_ *whatwg.Url, host string) string { return cmp.Or(ascii, host) }
	return whatwg.NewParser(pathEscapes, whatwg.WithPreParseHostFunc(before), whatwg.WithPostParseHostFunc(after)).Parse(ref)
}

var pathEscapes = whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^'))

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

package frontier

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// HostOf returns the host of a canonical URL, with its port unless that is the default:
// "example.com", "example.com:8080", "[::1]:8080". Delays between requests apply to each host. The
// http and https URLs of a name belong to one host, and different ports are different hosts. The
// argument must be a canonical URL.
func HostOf(canonicalURL string) string {
	_, rest, _ := strings.Cut(canonicalURL, "://")
	return rest[:hostLen(rest)]
}

// Origin returns a canonical URL up to its path: "https://example.com:8080".
func Origin(canonicalURL string) string {
	return canonicalURL[:strings.Index(canonicalURL, "://")+len("://")+len(HostOf(canonicalURL))]
}

// IsRoot reports whether a canonical URL is the home page of its host, with the path "/" and no
// query.
func IsRoot(canonicalURL string) bool {
	_, rest, _ := strings.Cut(canonicalURL, "://")
	return rest[hostLen(rest):] == "/"
}

// Domain returns the registrable domain of a host as [HostOf] returns it, such as "example.co.uk"
// for "www.example.co.uk:8080". With --scope domain, a crawl stays within it. The port and a
// trailing dot are left out.
//
// The public suffix list decides, including its private part: two sites under github.io are two
// domains. A host without a registrable domain is its own domain. Such hosts are IP addresses,
// single labels such as "localhost", and public suffixes. The list is the version in
// golang.org/x/net.
func Domain(host string) string {
	name, _ := SplitPort(Undotted(host))
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return name
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}

// Undotted returns a host, with or without a port, without a trailing dot of its name. DNS gives
// "example.com." and "example.com" the same addresses. So settings and checks for a host apply to
// both.
func Undotted(host string) string {
	name, port := SplitPort(host)
	return strings.TrimSuffix(name, ".") + port
}

// SplitPort splits a host into its name and its port. The port begins with a colon, or is empty.
func SplitPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i], host[i:]
	}
	return host, ""
}

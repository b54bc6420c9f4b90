package frontier

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// HostOf returns the host of a canonical URL, with its port unless that is the default:
// "example.com", "example.com:8080", "[::1]:8080". Politeness is counted by it: http and https of
// one name are one host, two ports are two. For anything but a canonical URL the answer means
// nothing.
func HostOf(canonicalURL string) string {
	_, rest, _ := strings.Cut(canonicalURL, "://")
	return rest[:hostLen(rest)]
}

// IsRoot says whether a canonical URL is that of a host's home page.
func IsRoot(canonicalURL string) bool {
	_, rest, _ := strings.Cut(canonicalURL, "://")
	return rest[hostLen(rest):] == "/"
}

// Domain returns the registrable domain of a host as [HostOf] returns it, which is what --scope
// domain stays within: "example.co.uk" of "www.example.co.uk:8080". The port and a trailing dot are
// left out.
//
// The public suffix list decides, its private part too: two sites of github.io are two domains. A
// host that has no registrable domain is its own: an IP address, a single label such as
// "localhost", and a public suffix itself. The version of the list is that of golang.org/x/net.
func Domain(host string) string {
	name := host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name = host[:i]
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return name
	}
	name = strings.TrimSuffix(name, ".")
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}

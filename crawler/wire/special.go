package wire

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"skink/frontier"
)

// HostsOf returns the hosts of canonical URLs, each with its port. The result
// is meant for Options.SeedHosts. Call it only with URLs from the user, and never with URLs from a
// server.
func HostsOf(urls ...string) (hosts []string) {
	for _, raw := range urls {
		if u, err := url.Parse(raw); err == nil {
			hosts = append(hosts, withPort(u))
		}
	}
	return hosts
}

// IsSpecialHost reports whether the name or address of a host, without a port, shows that it is not
// on the public internet.
func IsSpecialHost(name string) bool {
	name = frontier.Undotted(name)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && IsSpecial(a)
}

// withPort returns the host of a URL with its port, even if it is the default port of the scheme, which may be one of
// SOCKS.
func withPort(u *url.URL) string {
	ports := map[string]string{"http": "80", "https": "443"}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme], "1080"))
}

package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"skink/frontier"
)

// # Addresses that a crawl may connect to
//
// Any page can link or redirect to http://127.0.0.1:6379/ or to a router on the local network, and
// any name can be made to resolve to such an address. So checking the URL is not enough. The dialer
// checks the address after the name has been resolved, immediately before it connects. It does so
// for every connection, whatever its purpose.
//
// The table follows the IANA special-purpose address registries (RFC 6890), and is stricter: it
// also blocks ranges that are reachable in principle but have no websites (6to4 relays, all of
// 2001::/23). Known weakness: Some clouds serve their metadata at a public address that only their
// own machines can reach. The table does not contain these addresses.

// special lists the address blocks outside the public internet.
var special = parsePrefixes(
	"0.0.0.0/8",       // this network, RFC 1122 3.2.1.3
	"10.0.0.0/8",      // private, RFC 1918
	"100.64.0.0/10",   // carrier-grade NAT, RFC 6598
	"127.0.0.0/8",     // loopback, RFC 1122 3.2.1.3
	"169.254.0.0/16",  // link-local, including the metadata service of most clouds, RFC 3927
	"172.16.0.0/12",   // private, RFC 1918
	"192.0.0.0/24",    // IETF protocols, RFC 6890
	"192.0.2.0/24",    // documentation, RFC 5737
	"192.88.99.0/24",  // 6to4 relays, deprecated, RFC 7526
	"192.168.0.0/16",  // private, RFC 1918
	"198.18.0.0/15",   // benchmarks, RFC 2544
	"198.51.100.0/24", // documentation, RFC 5737
	"203.0.113.0/24",  // documentation, RFC 5737
	"224.0.0.0/4",     // multicast, RFC 5771
	"240.0.0.0/4",     // reserved, RFC 1112; includes broadcast, RFC 919

	"::/96",           // unspecified, loopback, IPv4-compatible, RFC 4291 2.5
	"::ffff:0:0:0/96", // IPv4-translated, inside one network, RFC 2765 2.1
	"64:ff9b:1::/48",  // local IPv4/IPv6 translation, RFC 8215
	"100::/64",        // discard, RFC 6666
	"100:0:0:1::/64",  // dummy prefix, RFC 9780
	"2001::/23",       // IETF protocols, RFC 2928; includes Teredo, RFC 4380
	"2001:db8::/32",   // documentation, RFC 3849
	"3fff::/20",       // documentation, RFC 9637
	"5f00::/16",       // segment routing, RFC 9602
	"fc00::/7",        // unique local, RFC 4193
	"fe80::/10",       // link-local, RFC 4291 2.5.6
	"fec0::/10",       // site-local, deprecated, RFC 3879
	"ff00::/8",        // multicast, RFC 4291 2.7
)

// embedding lists the IPv6 blocks whose addresses lead to an embedded IPv4 address, each with the
// index of the first embedded byte. IPv4-mapped addresses (RFC 4291 2.5.5.2) need no row: the
// system treats them as IPv4.
var embedding = []struct {
	block netip.Prefix
	at    int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64, RFC 6052
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4, RFC 3056
}

func parsePrefixes(blocks ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(blocks))
	for i, b := range blocks {
		all[i] = netip.MustParsePrefix(b)
	}
	return all
}

// IsSpecial reports whether an address is outside the public internet: loopback, private,
// link-local, multicast, reserved and so on. An IPv6 address that embeds such an IPv4 address is
// special too. The zero Addr is special.
func IsSpecial(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if !addr.IsValid() || within(addr, special) {
		return true
	}
	for _, e := range embedding {
		if e.block.Contains(addr) {
			b := addr.As16()
			return IsSpecial(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	return false
}

func within(addr netip.Addr, blocks []netip.Prefix) bool {
	return slices.ContainsFunc(blocks, func(b netip.Prefix) bool { return b.Contains(addr) })
}

// A PrivateError means that a connection to a special address was refused.
type PrivateError struct {
	Host string // host and port, as in the URL
	Addr netip.Addr
}

func (e *PrivateError) Error() string {
	return fmt.Sprintf("%s has the address %s, which is not on the public internet", e.Host, e.Addr)
}

// A dialer makes connections, and refuses those to special addresses.
type dialer struct {
	opt   Options
	hosts map[string]bool // hosts, as name or name:port, that may have any address
	seeds sync.Map        // keys are name:port; values are *seedHost

	sessions tls.ClientSessionCache // by host, so that a handshake with a host of the last maxSessions is short
}

// A seedHost is the host of a seed. The user may mean a host on the local network, so the first
// lookup decides: if all addresses of the host are special, it may have special addresses from
// then on. If the name first has a public address and later one on the local network, connections
// to the local address are refused.
type seedHost struct {
	mu      sync.Mutex
	decided bool // guarded by mu: the first lookup has been made
	special bool // guarded by mu: the host may have special addresses
}

// maybeSpecial reports whether a host is a seed's host that may have special addresses, because its
// first lookup returned no others.
func (d *dialer) maybeSpecial(ctx context.Context, address string) bool {
	found, ok := d.seeds.Load(strings.ToLower(address))
	if !ok {
		return false
	}
	seed := found.(*seedHost)
	seed.mu.Lock()
	defer seed.mu.Unlock()
	if seed.decided {
		return seed.special
	}
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if IsSpecialHost(name) {
		return true
	}
	addrs, err := d.lookUp(ctx, name)
	if err != nil || len(addrs) == 0 {
		return false // connecting will fail too, and report the reason
	}
	seed.decided = true
	seed.special = !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !IsSpecial(a) })
	return seed.special
}

// lookUp returns the addresses of a name, or the address that the name is.
func (d *dialer) lookUp(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	return cmp.Or(d.opt.Resolver, net.DefaultResolver).LookupNetIP(ctx, "ip", name)
}

// connectTimeout limits the time for a DNS lookup, for connecting, and for a TLS handshake, each
// separately. A server that has not answered by then is unlikely to answer.
const connectTimeout = 10 * time.Second

// maxSessions is the number of hosts whose TLS sessions are kept. Connections close when maxIdle of other hosts are
// idle, so a crawl of many hosts makes a handshake for most requests. One that resumes a session verifies no certificate
// again. Counted at both ends, it takes less than half of the processor time; see BenchmarkHandshake.
const maxSessions = 4096

func newDialer(opt Options) *dialer {
	opt.Timeout = min(opt.Timeout, connectTimeout)
	d := &dialer{opt: opt, hosts: map[string]bool{}, sessions: tls.NewLRUClientSessionCache(maxSessions)}
	for _, h := range opt.AllowHosts {
		h = strings.ToLower(h)
		if addr, err := netip.ParseAddr(h); err == nil && addr.Is6() {
			h = "[" + h + "]"
		}
		d.hosts[h] = true
	}
	d.addSeeds(opt.SeedHosts)
	return d
}

func (d *dialer) addSeeds(hosts []string) {
	for _, h := range hosts {
		d.seeds.LoadOrStore(strings.ToLower(h), &seedHost{})
	}
}

// AddSeed adds the host of a canonical URL to Options.SeedHosts. The URL must be from the user.
func (t *Transport) AddSeed(url string) { t.dialer.addSeeds(HostsOf(url)) }

// dial connects to a host and port, and returns the connection as a [wire].
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newWire(conn), nil
}

// connect connects to a host and port. It tries only the permitted addresses of a name. If there
// are none, the error is a PrivateError.
func (d *dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	plain := net.Dialer{Timeout: d.opt.Timeout, Resolver: d.opt.Resolver}
	if d.opt.Folders.Serves(address) {
		return plain.DialContext(ctx, network, d.opt.Folders.Address())
	}
	if through := d.proxyFor(address); through != nil {
		return d.tunnel(ctx, through, address)
	}
	if d.allows(address) || d.maybeSpecial(ctx, address) {
		return plain.DialContext(ctx, network, lookedUpAs(address))
	}
	var permitted atomic.Bool // atomic, because the dialer tries IPv4 and IPv6 at the same time
	guarded := plain
	guarded.ControlContext = func(_ context.Context, _, to string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(to)
		if err != nil || !d.permits(target.Addr()) {
			return &PrivateError{address, target.Addr()}
		}
		permitted.Store(true)
		return nil
	}
	conn, err := guarded.DialContext(ctx, network, lookedUpAs(address))
	var private *PrivateError
	if permitted.Load() && errors.As(err, &private) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errNoneAnswers}
	}
	return conn, err
}

// errNoneAnswers replaces a PrivateError if at least one address of the host is permitted.
var errNoneAnswers = errors.New("none of the host's addresses responds")

// allows reports whether a host is in Options.AllowHosts. Addresses of such hosts are not checked.
func (d *dialer) allows(address string) bool {
	address = strings.ToLower(address)
	name := address[:max(strings.LastIndexByte(address, ':'), 0)]
	return d.hosts[address] || d.hosts[name]
}

func (d *dialer) permits(addr netip.Addr) bool {
	return !IsSpecial(addr) || within(addr.Unmap().WithZone(""), d.opt.AllowNets)
}

// lookedUpAs returns the host and port to connect to. It replaces names below .localhost with
// localhost. These names always mean loopback (RFC 6761, section 6.3), but many resolvers do not
// know them.
func lookedUpAs(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !strings.HasSuffix(strings.TrimSuffix(strings.ToLower(host), "."), ".localhost") {
		return address
	}
	return net.JoinHostPort("localhost", port)
}

// Lookup returns the address that identifies a host, given as a name with or without a port. It
// returns the zero Addr for loopback. A name may have several addresses, in a different order at
// each lookup. The lowest address identifies the host, so names with the same addresses count as
// one server. Known weakness: names that share only some of their addresses may count as several
// servers. The result known is false if the name cannot be resolved.
func (t *Transport) Lookup(ctx context.Context, host string) (at netip.Addr, known bool) {
	u := url.URL{Host: host}
	name := u.Hostname()
	if addr, err := netip.ParseAddr(name); err == nil {
		return standsFor([]netip.Addr{addr}), true
	}
	if IsSpecialHost(name) {
		return netip.Addr{}, true
	}
	addrs, err := t.dialer.lookUp(ctx, name)
	return standsFor(addrs), err == nil
}

// standsFor returns the lowest of a host's addresses, which identifies the host. It returns the
// zero Addr if there is none, or if it is loopback.
func standsFor(all []netip.Addr) netip.Addr {
	if len(all) == 0 {
		return netip.Addr{}
	}
	lowest := slices.MinFunc(all, netip.Addr.Compare).Unmap().WithZone("")
	if lowest.IsLoopback() {
		return netip.Addr{}
	}
	return lowest
}

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

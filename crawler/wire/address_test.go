package wire

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"skink/internal/tools/wiretest"
)

func TestIsSpecial(t *testing.T) {
	tests := []struct {
		addr string
		want bool
	}{
		{"0.0.0.0", true},
		{"0.1.2.3", true},
		{"9.255.255.255", false},
		{"10.0.0.1", true},
		{"11.0.0.0", false},
		{"100.63.255.255", false},
		{"100.64.0.0", true},
		{"100.127.255.255", true},
		{"100.128.0.0", false},
		{"127.0.0.1", true},
		{"127.255.255.254", true},
		{"169.254.169.254", true},
		{"172.15.255.255", false},
		{"172.16.0.0", true},
		{"172.31.255.255", true},
		{"172.32.0.0", false},
		{"192.0.0.8", true},
		{"192.0.2.1", true},
		{"192.88.99.1", true},
		{"192.167.255.255", false},
		{"192.168.1.1", true},
		{"198.17.255.255", false},
		{"198.18.0.1", true},
		{"198.19.255.255", true},
		{"198.51.100.7", true},
		{"203.0.113.7", true},
		{"223.255.255.255", false},
		{"224.0.0.1", true},
		{"239.255.255.255", true},
		{"240.0.0.1", true},
		{"255.255.255.255", true},
		{"8.8.8.8", false},

		{"::", true},
		{"::1", true},
		{"::7f00:1", true}, // IPv4-compatible
		{"::808:808", true},
		{"::ffff:127.0.0.1", true}, // IPv4-mapped
		{"::ffff:8.8.8.8", false},
		{"::fffe:ffff:ffff:ffff", false},
		{"::ffff:0:0:0", true}, // IPv4-translated
		{"::ffff:0:7f00:1", true},
		{"::ffff:0:808:808", true},
		{"::ffff:1:0:0", false},
		{"64:ff9b::7f00:1", true}, // NAT64
		{"64:ff9b::a9fe:a9fe", true},
		{"64:ff9b::808:808", false},
		{"64:ff9b:1::808:808", true},
		{"100::1", true},
		{"100:0:0:1::1", true},
		{"2001::1", true}, // Teredo
		{"2001:0:808:808::f7f7:f7f7", true},
		{"2001:20::1", true},
		{"2001:db8::1", true},
		{"2001:200::1", false},
		{"2002:7f00:1::", true}, // 6to4
		{"2002:c0a8:101::1", true},
		{"2002:808:808::1", false},
		{"2606:4700:4700::1111", false},
		{"2a00:1450:4001::1", false},
		{"3fff::1", true},
		{"5f00::1", true},
		{"fc00::1", true},
		{"fd00:ec2::254", true},
		{"fe80::1", true},
		{"fe80::1%eth0", true},
		{"fec0::1", true},
		{"ff02::1", true},
	}
	for _, tt := range tests {
		if got := IsSpecial(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("IsSpecial(%s) = %v, want %v", tt.addr, got, tt.want)
		}
	}
	if !IsSpecial(netip.Addr{}) {
		t.Error("no address is not special")
	}
}

func TestDialerAllows(t *testing.T) {
	tests := []struct {
		hosts   []string
		address string // host and port to connect to
		want    bool
	}{
		{nil, "localhost:80", false},
		{[]string{"localhost:80"}, "localhost:80", true},
		{[]string{"localhost:80"}, "localhost:443", false},
		{[]string{"LocalHost"}, "localhost:8080", true},
		{[]string{"localhost"}, "a.localhost:80", false},
		{[]string{"127.0.0.1:8080"}, "127.0.0.1:8080", true},
		{[]string{"127.0.0.1:8080"}, "127.0.0.1:8081", false},
		{[]string{"127.0.0.1"}, "127.0.0.1:1", true},
		{[]string{"[::1]:8080"}, "[::1]:8080", true},
		{[]string{"[::1]"}, "[::1]:8080", true},
		{[]string{"::1"}, "[::1]:8080", true},
		{[]string{""}, "localhost:80", false},
	}
	for _, tt := range tests {
		if got := newDialer(Options{AllowHosts: tt.hosts}).allows(tt.address); got != tt.want {
			t.Errorf("%q allows %s: %v, want %v", tt.hosts, tt.address, got, tt.want)
		}
	}
}

// TestDial connects to names with several addresses, some of which are permitted. Addresses in
// 127.0.0.0/8 stand for public addresses.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has one loopback address: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	open, closed := port(l.Addr().String()), port(wiretest.ClosedPort(t))
	resolver := wiretest.Resolver(t, map[string][]string{
		"good.example.":  {"127.0.0.2"},
		"bad.example.":   {"127.0.0.1", "10.0.0.1"},
		"mixed.example.": {"127.0.0.1", "127.0.0.2"},
	})
	tests := []struct {
		name    string
		address string
		why     string
	}{
		{"permitted", "good.example:" + open, ""},
		{"permitted after one that is not", "mixed.example:" + open, ""},
		{"none permitted", "bad.example:" + open, "private"},
		{"the permitted one does not answer", "good.example:" + closed, "connect"},
		{"nor in company", "mixed.example:" + closed, "connect"},
		{"no such name", "unknown.example:" + open, "no such name"},
		{"an address", "127.0.0.2:" + open, ""},
		{"another", "127.0.0.3:" + open, "private"},
		{"one inside IPv6", "[::ffff:127.0.0.3]:" + open, "private"},
	}
	d := newDialer(Options{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}, Timeout: 5 * time.Second, Resolver: resolver})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := d.dial(t.Context(), "tcp", tt.address)
			if err == nil {
				if got := conn.RemoteAddr().(*net.TCPAddr).IP.String(); got != "127.0.0.2" {
					t.Errorf("connected to %s", got)
				}
				_ = conn.Close()
			}
			if (err == nil) != (tt.why == "") {
				t.Fatalf("got %v, want %q", err, tt.why)
			}
			if err == nil {
				return
			}
			if got := whyNot(err); got != tt.why {
				t.Errorf("got %v (%q), want %q", err, got, tt.why)
			}
		})
	}
}

// If the name of a seed has only addresses of this machine, connections to the seed's own port are
// allowed. Connections to other names with such addresses are refused, and so are connections to
// seeds that had other addresses at their first lookup.
func TestSeedHosts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	open, other := port(l.Addr().String()), port(wiretest.ClosedPort(t))
	names := map[string][]string{
		"intranet.example.": {"127.0.0.1"},
		"mixed.example.":    {"127.0.0.1", "192.31.196.1"}, // the second address is public
		"public.example.":   {"192.31.196.1"},
	}
	opt := Options{Timeout: 5 * time.Second, Resolver: wiretest.Resolver(t, names)}
	opt.SeedHosts = append(opt.SeedHosts, "Intranet.example:"+open, "mixed.example:"+open, "public.example:"+open, "unknown.example:"+open)
	d := newDialer(opt)
	for _, tt := range []struct {
		name, address string
		want          bool
	}{
		{"a seed", "intranet.example:" + open, true},
		{"its other port", "intranet.example:" + other, false},
		{"a seed with a public address too", "mixed.example:" + open, false},
		{"a public seed", "public.example:" + open, false},
		{"no such name", "unknown.example:" + open, false},
		{"no seed", "other.example:" + open, false},
	} {
		if got := d.maybeSpecial(t.Context(), tt.address); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	conn, err := d.dial(t.Context(), "tcp", "intranet.example:"+open)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	names = map[string][]string{"public.example.": {"127.0.0.1"}, "unknown.example.": {"127.0.0.1"}}
	d.opt.Resolver = wiretest.Resolver(t, names)
	if conn, err := d.dial(t.Context(), "tcp", "public.example:"+open); err == nil || whyNot(err) != "private" {
		t.Errorf("a public name that leads here later: %v, %v", conn, err)
	}
	if !d.maybeSpecial(t.Context(), "unknown.example:"+open) {
		t.Error("the first lookup that succeeds does not decide")
	}
}

// whyNot returns a word for the reason why a connection failed.
func whyNot(err error) string {
	if _, ok := errors.AsType[*PrivateError](err); ok {
		return "private"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "no such name"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return "connect"
	}
	return "?"
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// Hosts with the same addresses are identified by the same address, whatever their ports and the
// order of their addresses.
func TestLookup(t *testing.T) {
	transport := New(Options{Timeout: 5 * time.Second, Resolver: wiretest.Resolver(t, map[string][]string{
		"one.example.":   {"192.0.2.1"},
		"two.example.":   {"192.0.2.7", "192.0.2.1"},
		"mixed.example.": {"127.0.0.1", "192.0.2.1"},
	})})
	for host, want := range map[string]string{
		"one.example": "192.0.2.1", "one.example:8080": "192.0.2.1", "two.example": "192.0.2.1",
		"mixed.example": "invalid IP", "unknown.example": "invalid IP", "a.localhost": "invalid IP", "localhost:8080": "invalid IP",
		"192.0.2.9": "192.0.2.9", "192.0.2.9:81": "192.0.2.9", "127.0.0.1:81": "invalid IP",
		"[2001:db8::1]": "2001:db8::1", "[2001:db8::1]:81": "2001:db8::1", "[::1]:81": "invalid IP",
	} {
		at, known := transport.Lookup(t.Context(), host)
		if at.String() != want || known == (host == "unknown.example") {
			t.Errorf("%s is at %s, known %v; want %s", host, at, known, want)
		}
	}
}

// The connection of a request with WithoutReuse is closed after the answer.
func TestWithoutReuse(t *testing.T) {
	for _, reuse := range []bool{true, false} {
		ctx := t.Context()
		if !reuse {
			ctx = WithoutReuse(ctx)
		}
		r, err := NewRequest(ctx, "http://a.example/", http.Header{})
		if err != nil || r.Close == reuse {
			t.Errorf("reuse %v: Close is %v, %v", reuse, r.Close, err)
		}
	}
}

func TestStandsFor(t *testing.T) {
	for _, c := range []struct{ addrs, want string }{
		{"", "invalid IP"},
		{"192.0.2.9 192.0.2.1 2001:db8::1", "192.0.2.1"},
		{"2001:db8::1 192.0.2.9 192.0.2.1", "192.0.2.1"},
		{"::ffff:192.0.2.7", "192.0.2.7"},
		{"127.0.0.1 192.0.2.1", "invalid IP"},
		{"::1", "invalid IP"},
	} {
		var all []netip.Addr
		for a := range strings.FieldsSeq(c.addrs) {
			all = append(all, netip.MustParseAddr(a))
		}
		if got := standsFor(all).String(); got != c.want {
			t.Errorf("%s stands for %q, want %s", got, c.addrs, c.want)
		}
	}
}

func TestSpecialHosts(t *testing.T) {
	urls := strings.Fields("http://127.0.0.1/ https://localhost/ http://docs.localhost:8080/x http://[::1]/ http://10.1.2.3:81/ http://localhost.:9/ http://docs.localhost./ http://example.com/ http://8.8.8.8/ http://localhost.example.com/")
	hosts := HostsOf(urls...)
	if want := "127.0.0.1:80 localhost:443 docs.localhost:8080 [::1]:80 10.1.2.3:81 localhost.:9 docs.localhost.:80 example.com:80 8.8.8.8:80 localhost.example.com:80"; strings.Join(hosts, " ") != want {
		t.Errorf("got %q, want %s", hosts, want)
	}
	d := newDialer(Options{Timeout: time.Second, SeedHosts: hosts, Resolver: wiretest.Resolver(t, nil)})
	for i, host := range hosts {
		if got := d.maybeSpecial(t.Context(), host); got != (i < 7) {
			t.Errorf("%s may have a special address: %v", host, got)
		}
	}
}

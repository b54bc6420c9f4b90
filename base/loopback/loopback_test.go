package loopback

import (
	"net"
	"os"
	"testing"
)

func TestOwnNames(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 9464} }
	for _, c := range []struct {
		listens, host string
		local         net.Addr
		want          bool
	}{
		{"127.0.0.1:9464", "127.0.0.1:9464", tcp("127.0.0.1"), true},
		{"127.0.0.1:9464", "127.0.0.1", tcp("127.0.0.1"), true}, // through a tunnel, the client uses another port
		{"127.0.0.1:9464", "localhost:80", tcp("127.0.0.1"), true},
		{"127.0.0.1:9464", "LOCALHOST.:9464", tcp("127.0.0.1"), true},
		{"[::1]:9464", "[::1]:9464", tcp("::1"), true},
		{"0.0.0.0:9464", "10.1.2.3:9464", tcp("10.1.2.3"), true},
		{"0.0.0.0:9464", machine, tcp("10.1.2.3"), true},
		{"crawler.example:9464", "crawler.example:9464", tcp("10.1.2.3"), true},
		{"0.0.0.0:9464", "crawl-1.SVC:9464", tcp("10.1.2.3"), true},
		{"127.0.0.1:9464", "evil.example:9464", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "127.0.0.1.evil.example:9464", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "localhost.evil.example", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "10.1.2.3:9464", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "", tcp("127.0.0.1"), false},
		{"0.0.0.0:9464", "localhost:9464", tcp("10.1.2.3"), false},
		{"0.0.0.0:9464", "evil.example", tcp("10.1.2.3"), false},
	} {
		if got := answers([]string{c.listens, "Crawl-1.svc"}, c.host, c.local); got != c.want {
			t.Errorf("a server at %s, asked at %v for host %q: answers %v, want %v", c.listens, c.local, c.host, got, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"9100", "127.0.0.1:9100"},
		{":9100", "127.0.0.1:9100"},
		{"localhost:0", "localhost:0"},
		{"[::1]:9100", "[::1]:9100"},
		{"0.0.0.0:9100", "0.0.0.0:9100"}, // a user who gives this address wants to listen on all interfaces
	} {
		if got, err := Address(c.in); err != nil || got != c.want {
			t.Errorf("Address(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "x", ":x", "1:2:3", "70000", ":-1"} {
		if got, err := Address(bad); err == nil {
			t.Errorf("Address(%q) = %q, want an error", bad, got)
		}
	}
}

package monitor

import (
	"net"
	"net/http"
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
		{"127.0.0.1:9464", "127.0.0.1", tcp("127.0.0.1"), true}, // through a tunnel, the port is another
		{"127.0.0.1:9464", "localhost:80", tcp("127.0.0.1"), true},
		{"127.0.0.1:9464", "LOCALHOST.:9464", tcp("127.0.0.1"), true},
		{"[::1]:9464", "[::1]:9464", tcp("::1"), true},
		{"0.0.0.0:9464", "10.1.2.3:9464", tcp("10.1.2.3"), true},
		{"0.0.0.0:9464", machine, tcp("10.1.2.3"), true},
		{"crawler.example:9464", "crawler.example:9464", tcp("10.1.2.3"), true},
		{"127.0.0.1:9464", "evil.example:9464", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "127.0.0.1.evil.example:9464", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "localhost.evil.example", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "10.1.2.3:9464", tcp("127.0.0.1"), false},
		{"127.0.0.1:9464", "", tcp("127.0.0.1"), false},
		{"0.0.0.0:9464", "localhost:9464", tcp("10.1.2.3"), false},
		{"0.0.0.0:9464", "evil.example", tcp("10.1.2.3"), false},
	} {
		if got := ownNames(c.listens).answers(c.host, c.local); got != c.want {
			t.Errorf("a server at %s, asked at %v for host %q: answers %v, want %v", c.listens, c.local, c.host, got, c.want)
		}
	}
}

// A page whose name was given our address reads nothing.
func TestRebinding(t *testing.T) {
	s, err := Listen("127.0.0.1:0", Build{}, func() Numbers { return Numbers{} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, path := range []string{"/", "/metrics", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap"} {
		for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "": http.StatusOK} {
			r, err := http.NewRequest("GET", "http://"+s.listener.Addr().String()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host // "": that of the URL
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s as %q: %s, want %d", path, host, resp.Status, want)
			}
		}
	}
}

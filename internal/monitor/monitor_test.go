package monitor

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"9100", "127.0.0.1:9100"},
		{":9100", "127.0.0.1:9100"},
		{"localhost:0", "localhost:0"},
		{"[::1]:9100", "[::1]:9100"},
		{"0.0.0.0:9100", "0.0.0.0:9100"}, // whoever says so means it
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

func TestServer(t *testing.T) {
	defer goleak.VerifyNone(t)
	s, err := Listen("127.0.0.1:0", Build{"v1.2.3", "abc", "go1.26"}, func() Numbers {
		return Numbers{
			Pages: map[string]int64{"unique": 7, "near": 2}, Problems: map[string]int64{"status 404": 3},
			URLs: map[string]int64{"pending": 5}, InFlight: 4, Hosts: 6, Bytes: 54321, Fetched: 12345,
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Observe(204, 50*time.Millisecond)
	s.Observe(0, 40*time.Second)
	got := get(t, s.URL())
	for _, want := range []string{
		`skink_pages{verdict="unique"} 7`, `skink_pages{verdict="near"} 2`, `skink_errors{problem="status 404"} 3`,
		`skink_urls{state="pending"} 5`, `skink_urls_in_flight 4`, `skink_hosts_waiting 6`, `skink_process_fetched_bytes_total 12345`, `skink_crawl_bytes 54321`,
		`skink_build_info{goversion="go1.26",revision="abc",version="v1.2.3"} 1`,
		`skink_request_duration_seconds_bucket{status="2xx",le="0.1"} 1`,
		`skink_request_duration_seconds_bucket{status="none",le="30"} 0`, `skink_request_duration_seconds_count{status="none"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if got := get(t, strings.TrimSuffix(s.URL(), "metrics")); !strings.Contains(got, `href="`+path+`"`) {
			t.Errorf("/ does not name %s: %s", path, got)
		}
	}
	if got := get(t, strings.TrimSuffix(s.URL(), "metrics")+"debug/pprof/"); !strings.Contains(got, "goroutine") {
		t.Errorf("no profiles: %s", got)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return string(b)
}

package monitor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestServer(t *testing.T) {
	defer goleak.VerifyNone(t)
	s, err := Listen("127.0.0.1:0", []string{"crawl-1"}, Build{"v1.2.3", "go1.26"}, func() Numbers {
		return Numbers{
			By: map[Family]map[string]int64{
				Pages: {"unique": 7, "near": 2}, Problems: {"status 404": 3}, URLs: {"pending": 5}, States: {"active": 3},
			},
			One: map[Family]float64{
				InFlight: 4, Hosts: 6, Bytes: 54321, Fetched: 12345, LastPage: 1_800_000_000.5, StoreSize: 1 << 20, Space: 1 << 30,
			},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Observe(204, 50*time.Millisecond)
	s.Observe(0, 40*time.Second)
	s.ObserveStore("commit", 5*time.Millisecond)
	got := get(t, s.URL())
	for _, want := range []string{
		`skink_pages{verdict="unique"} 7`, `skink_pages{verdict="near"} 2`, `skink_errors{problem="status 404"} 3`,
		`skink_urls{state="pending"} 5`, `skink_urls_in_flight 4`, `skink_hosts_waiting 6`, `skink_process_fetched_bytes_total 12345`, `skink_crawl_bytes 54321`,
		`skink_build_info{goversion="go1.26",version="v1.2.3"} 1`,
		`skink_request_duration_seconds_bucket{status="2xx",le="0.1"} 1`,
		`skink_request_duration_seconds_bucket{status="none",le="30"} 0`, `skink_request_duration_seconds_count{status="none"} 1`,
		`skink_hosts{state="active"} 3`, `skink_last_page_timestamp_seconds 1.8000000005e+09`, `skink_store_bytes 1.048576e+06`, `skink_disk_free_bytes 1.073741824e+09`,
		`skink_store_duration_seconds_bucket{operation="commit",le="0.01"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	resp, err := http.Get(strings.TrimSuffix(s.URL(), "metrics") + "debug/pprof/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the command line, which may contain a password, is shown: %s", resp.Status)
	}
	if got := get(t, strings.TrimSuffix(s.URL(), "metrics")+"debug/pprof/"); !strings.Contains(got, "goroutine") {
		t.Errorf("no profiles: %s", got)
	}
	for host, want := range map[string]int{"crawl-1:9464": http.StatusOK, "crawl-2:9464": http.StatusMisdirectedRequest} {
		req := httptest.NewRequest("GET", s.URL(), nil)
		req.RequestURI, req.Host = "", host
		if resp, err := http.DefaultClient.Do(req); err != nil || resp.Body.Close() != nil || resp.StatusCode != want {
			t.Errorf("a request for %s: %v, %v, want status %d", host, resp, err, want)
		}
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

// A page of another site cannot read anything, even if its name resolves to the server's address.
func TestRebinding(t *testing.T) {
	s, err := Listen("127.0.0.1:0", nil, Build{}, func() Numbers { return Numbers{} })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "": http.StatusOK} {
			r, err := http.NewRequest("GET", "http://"+s.listener.Addr().String()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host // "" means the host of the URL
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

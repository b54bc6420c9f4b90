// Package monitor serves the metrics of a running crawl for Prometheus under /metrics, and profiles
// for pprof under /debug/pprof/.
//
// Start with [Listen]. The caller supplies the numbers. The server listens on loopback unless its
// address says otherwise, because profiles show the contents of memory. It does not answer requests
// for host names other than its own; see package loopback.
package monitor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"skink/base/loopback"
)

// Numbers is the state of a crawl at one moment.
type Numbers struct {
	Pages    map[string]int64 // pages in the store, by verdict
	Others   map[string]int64 // other records in the store, by kind
	Problems map[string]int64 // failed URLs in the store, by problem
	URLs     map[string]int64 // URLs in the frontier, by state
	States   map[string]int64 // hosts that this process has claimed, by state
	InFlight int              // URLs being fetched or judged
	Hosts    int              // hosts with URLs to fetch
	Bytes    int64            // total size in bytes of the decoded bodies of all URLs in the store, from all runs
	Fetched  int64            // total size in bytes of the decoded bodies fetched by this process
	LastPage time.Time        // when this process fetched its last page, or when it started if it has fetched none; zero means not yet known

	Workers    map[string]int64 // workers that share the store, by state
	Priorities map[string]int64 // seeds with a priority above 0, by priority
	Silent     int              // 1 if the server of the store does not respond, or 0

	Spent, Left int64 // requests that are spent and left of --max-rate
	Wakes, Due  int64 // Unix time until which the crawl sleeps, and number of pages that are due then; 0 if it does not sleep

	Folder           bool  // whether the store is in a folder; if not, StoreSize and Space are unknown
	StoreSize, Space int64 // size of the store and free space on its disk, in bytes
}

// A Build describes the version of the running program.
type Build struct{ Version, Revision, Go string }

// A Server serves the metrics until Close.
type Server struct {
	http     *http.Server
	listener net.Listener
	done     chan error
	requests *prometheus.HistogramVec
	calls    *prometheus.HistogramVec
}

// Listen starts a server at an address as returned by [loopback.Address], which also answers requests
// for the host names. It calls the function now for each request to /metrics.
func Listen(address string, names []string, build Build, now func() Numbers) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	runtime.MemProfileRate = 512 << 10 // the runtime's default, which the heap profile needs
	s := &Server{listener: listener, done: make(chan error, 1)}
	s.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "skink_request_duration_seconds",
		Help:    "Time from a request for a page to the last byte of the response, by the status of the response.",
		Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30},
	}, []string{"status"})
	s.calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "skink_store_duration_seconds",
		Help:    "Duration of calls to the store, by operation.",
		Buckets: []float64{.0001, .001, .01, .1, 1, 10, 60},
	}, []string{"operation"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.requests, s.calls, numbers(now), build.info(), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index) // without pprof.Cmdline, because the command line may contain passwords
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s.http = &http.Server{Handler: loopback.Only(mux, append(names, address)...), ReadHeaderTimeout: 10 * time.Second}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

func (b Build) info() prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "skink_build_info",
		Help:        "Version and revision of the program.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "goversion": b.Go},
	})
	info.Set(1)
	return info
}

// URL returns the URL of the metrics.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/metrics" }

// Observe counts a request and records its duration. A status of 0 means that there was no
// response.
func (s *Server) Observe(status int, took time.Duration) {
	class := "none"
	if status > 0 {
		class = strconv.Itoa(status/100) + "xx"
	}
	s.requests.WithLabelValues(class).Observe(took.Seconds())
}

// ObserveStore counts a call to the store and records its duration.
func (s *Server) ObserveStore(operation string, took time.Duration) {
	s.calls.WithLabelValues(operation).Observe(took.Seconds())
}

// Close stops the server. Requests in progress have one second to finish.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
	if err := <-s.done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type numbers func() Numbers

var (
	pages    = describe("pages", "Pages in the store, by verdict.", "verdict")
	others   = describe("other_records", "Records in the store that are not pages, by kind.", "kind")
	problems = describe("errors", "URLs in the store that did not return a page, by problem.", "problem")
	urls     = describe("urls", "URLs in the frontier, by state.", "state")
	states   = describe("hosts", "Hosts with URLs that this process has claimed, by state.", "state")
	workers  = describe("workers", "Workers that share the store, by state.", "state")
	seeds    = describe("seeds", "Seeds with a priority above 0, by priority.", "priority")
	silent   = describe("store_silent", "1 if the database server of the store does not respond, or 0.")
	spent    = describe("budget_spent", "Requests that are spent of --max-rate in this period.")
	left     = describe("budget_left", "Requests that are left of --max-rate until the period ends.")
	wakes    = describe("wakes_timestamp_seconds", "Unix time until which a crawl with --forever sleeps, or 0 if it does not sleep.")
	due      = describe("wakes_due_pages", "Pages that are due when a crawl that sleeps wakes.")
	inFlight = describe("urls_in_flight", "URLs in flight: being fetched or judged.")
	hosts    = describe("hosts_waiting", "Hosts with URLs to fetch.")
	bytes    = describe("crawl_bytes", "Size of the decoded bodies of all URLs in the store, in bytes, regardless of which process fetched them.")
	fetched  = describe("process_fetched_bytes_total", "Decoded bytes of the bodies fetched by this process.")
	lastPage = describe("last_page_timestamp_seconds", "Unix time at which this process fetched its last page, or at which it started if it has fetched none.")
	stored   = describe("store_bytes", "Size of the store on disk, in bytes, if the store is in a folder.")
	space    = describe("disk_free_bytes", "Free space on the disk of the store, in bytes, if the store is in a folder.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("skink_"+name, help, labels, nil)
}

func (n numbers) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(n, to) }

func (n numbers) Collect(to chan<- prometheus.Metric) {
	now := n()
	for _, family := range []struct {
		desc   *prometheus.Desc
		values map[string]int64
	}{{pages, now.Pages}, {others, now.Others}, {problems, now.Problems}, {urls, now.URLs}, {states, now.States}, {workers, now.Workers}, {seeds, now.Priorities}} {
		for label, v := range family.values {
			to <- prometheus.MustNewConstMetric(family.desc, prometheus.GaugeValue, float64(v), label)
		}
	}
	for desc, n := range map[*prometheus.Desc]int64{
		inFlight: int64(now.InFlight), silent: int64(now.Silent), hosts: int64(now.Hosts), bytes: now.Bytes,
		spent: now.Spent, left: now.Left, wakes: now.Wakes, due: now.Due,
	} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n))
	}
	to <- prometheus.MustNewConstMetric(fetched, prometheus.CounterValue, float64(now.Fetched))
	if !now.LastPage.IsZero() {
		to <- prometheus.MustNewConstMetric(lastPage, prometheus.GaugeValue, float64(now.LastPage.UnixMilli())/1000)
	}
	if now.Folder {
		to <- prometheus.MustNewConstMetric(stored, prometheus.GaugeValue, float64(now.StoreSize))
		to <- prometheus.MustNewConstMetric(space, prometheus.GaugeValue, float64(now.Space))
	}
}

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

// A Family is one kind of number about a crawl.
type Family = *prometheus.Desc

// Numbers is the state of a crawl at one moment. A family without a number is not shown.
type Numbers struct {
	By  map[Family]map[string]int64 // numbers of a family by its label
	One map[Family]float64          // numbers of families without a label
}

// A Build describes the version of the running program.
type Build struct{ Version, Go string }

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
		ConstLabels: prometheus.Labels{"version": b.Version, "goversion": b.Go},
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

// These are the families that a crawl shows.
var (
	Pages     = describe("pages", "Pages in the store, by verdict.", "verdict")
	Others    = describe("other_records", "Records in the store that are not pages, by kind.", "kind")
	Problems  = describe("errors", "URLs in the store that did not return a page, by problem.", "problem")
	URLs      = describe("urls", "URLs in the frontier, by state.", "state")
	States    = describe("hosts", "Hosts with URLs that this process has claimed, by state.", "state")
	Workers   = describe("workers", "Workers that share the store, by state.", "state")
	Silent    = describe("store_silent", "1 if the database server of the store does not respond, or 0.")
	Spent     = describe("budget_spent", "Requests that are spent of --max-rate in this period.")
	Left      = describe("budget_left", "Requests that are left of --max-rate until the period ends.")
	Wakes     = describe("wakes_timestamp_seconds", "Unix time until which a crawl with --forever sleeps, or 0 if it does not sleep.")
	Due       = describe("wakes_due_pages", "Pages that are due when a crawl that sleeps wakes.")
	InFlight  = describe("urls_in_flight", "URLs in flight: being fetched or judged.")
	Hosts     = describe("hosts_waiting", "Hosts with URLs to fetch.")
	Bytes     = describe("crawl_bytes", "Size of the decoded bodies of all URLs in the store, in bytes, regardless of which process fetched them.")
	Fetched   = describe("process_fetched_bytes_total", "Decoded bytes of the bodies fetched by this process.")
	LastPage  = describe("last_page_timestamp_seconds", "Unix time at which this process fetched its last page, or at which it started if it has fetched none.")
	StoreSize = describe("store_bytes", "Size of the store on disk, in bytes, if the store is in a folder.")
	Space     = describe("disk_free_bytes", "Free space on the disk of the store, in bytes, if the store is in a folder.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("skink_"+name, help, labels, nil)
}

func (n numbers) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(n, to) }

func (n numbers) Collect(to chan<- prometheus.Metric) {
	now := n()
	for family, values := range now.By {
		for label, v := range values {
			to <- prometheus.MustNewConstMetric(family, prometheus.GaugeValue, float64(v), label)
		}
	}
	for family, v := range now.One {
		kind := prometheus.GaugeValue
		if family == Fetched {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(family, kind, v)
	}
}

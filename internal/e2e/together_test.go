//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/cli"
	"skink/internal/tools/postgrestest"
)

// TestPolitenessOfWorkers crawls hosts with workers that join, leave, and are killed. It measures
// at the server the time between the starts of two requests to the same host. Only one worker at a
// time may send requests to a host, and its successor must wait for the rest of the delay.
//
// The hosts of a killed worker are not visited until its claims expire, which is half a minute of
// the two minutes of the long form.
//
// The short form crawls 20 hosts for some seconds. It only checks that all pages are fetched, and
// that no host gets two requests at the same time. A busy machine cannot break this. With
// SKINK_LONG=full there are 200 hosts. The time between two requests must be at least the delay
// minus 10 ms, and the total time at most 1.3 times the sum of the delays.
func TestPolitenessOfWorkers(t *testing.T) {
	form := long(t)
	hosts, pages, delay := 20, 40, 200*time.Millisecond
	if form == full {
		hosts, pages = 200, 600
	}
	t.Parallel()
	w := &watchedWeb{starts: map[string][]time.Time{}, open: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer w.enter(r.Host)()
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		fmt.Fprintf(rw, "<title>%s</title><main><p>A page of %s at %s.", r.URL.Path, r.Host, r.URL.Path)
		var n int
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		for _, to := range []int{n + 1, 2*n + 1, 2*n + 2} {
			if to < pages {
				fmt.Fprintf(rw, " <a href='/%d'>%d</a>", to, to)
			}
		}
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	store := postgrestest.Start(t).URL("web")
	skink := buildSkink(t)
	worker := func(name string) *worker {
		args := []string{"crawl", "--quiet", "--store", store, "--worker", name, "--budget", "off", "--parallel", "8", "--connections", fmt.Sprint(hosts), "--delay", delay.String()}
		for h := range hosts {
			args = append(args, fmt.Sprintf("http://h%d.localhost:%s/0", h, port))
		}
		return startWorker(t, skink, args...)
	}
	ideal := time.Duration(pages) * delay // time from robots.txt to the last page
	began := time.Now()
	at := func(share float64) { time.Sleep(time.Until(began.Add(time.Duration(share * float64(ideal))))) }

	stays, leaves, dies := worker("stays"), worker("leaves"), worker("dies")
	at(.15)
	joins := worker("joins")
	at(.3)
	_ = leaves.Process.Signal(os.Interrupt)
	at(.4)
	_ = dies.Process.Kill()
	at(.5)
	late := worker("late")
	endWell(t, stays, joins, late)

	closest, requests, first, last := w.measure()
	t.Logf("%d requests to %d hosts by five workers; closest to each other %v; %v in all, %.3f times the ideal %v", requests, len(w.starts), closest,
		last.Sub(first).Round(time.Millisecond), float64(last.Sub(first))/float64(ideal), ideal)
	if least := hosts * pages; requests < least || len(w.starts) != hosts {
		t.Errorf("%d requests to %d hosts, want %d at least to %d", requests, len(w.starts), least, hosts)
	}
	if w.most > 1 {
		t.Errorf("%d requests at once to one host", w.most)
	}
	if form == full {
		if closest < delay-10*time.Millisecond {
			t.Errorf("two requests to one host started only %v apart", closest)
		}
		if last.Sub(first) > ideal*13/10 {
			t.Errorf("took %v, want %v at most", last.Sub(first), ideal*13/10)
		}
	}
}

// TestLimitsOfWorkers checks limits of a crawl by four workers. --max-pages may be exceeded only by
// the requests in flight. --max-host-pages must be obeyed even if a host moves from one worker to
// another.
func TestLimitsOfWorkers(t *testing.T) {
	needServer(t)
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	const workers, inFlight = 4, 4
	server := postgrestest.Start(t)
	for _, tt := range []struct {
		name       string
		flags      []string
		least, end int
	}{
		{"pages", []string{"--max-pages", "100"}, 100, 100 + workers*inFlight},
		{"pages of a host", []string{"--max-host-pages", "20"}, 8 * 20, 8 * 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sites := startHosts(t, 8, 480)
			store := server.URL(strings.ReplaceAll(tt.name, " ", "_"))
			var all sync.WaitGroup
			for n := range workers {
				all.Go(func() {
					run(t, crawlArgs(store, sites, append(tt.flags, "--connections", fmt.Sprint(inFlight), "--quiet", "--worker", fmt.Sprint("worker", n))...)...)
				})
			}
			all.Wait()
			var status struct {
				Pages int `json:"pages"`
			}
			text, _ := run(t, "status", "--store", store, "--format", "json")
			if err := json.Unmarshal([]byte(text), &status); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pages", status.Pages)
			if status.Pages < tt.least || status.Pages > tt.end {
				t.Errorf("%d pages, want %d to %d", status.Pages, tt.least, tt.end)
			}
		})
	}
}

// TestWorkersAreWatched examines a running crawl of two workers from other processes. status must
// list the workers and their hosts, and report, export and compare must work.
func TestWorkersAreWatched(t *testing.T) {
	long(t)
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	sites := startHosts(t, 8, 480)
	skink := buildSkink(t)
	store := postgrestest.Start(t).URL("web")
	for _, name := range []string{"one", "two"} {
		startWorker(t, skink, "crawl", "--quiet", "--store", store, "--worker", name, "--delay", "100ms", sites.seeds[0], sites.seeds[1], sites.seeds[2], sites.seeds[3])
	}
	type state struct {
		Name     string  `json:"name"`
		Hosts    int     `json:"hosts"`
		Pages    int     `json:"pages"`
		PerSec   float64 `json:"per_second"`
		Dead     bool    `json:"dead"`
		InFlight int     `json:"in_flight"`
	}
	var seen struct {
		Pages   int     `json:"pages"`
		Workers []state `json:"workers"`
	}
	working := func() bool {
		var out strings.Builder
		cli.Run(context.Background(), []string{"status", "--store", store, "--format", "json"}, cli.Console{In: strings.NewReader(""), Out: &out, Err: io.Discard})
		seen.Workers = nil // a worker that is not listed must be missing in seen
		if json.Unmarshal([]byte(out.String()), &seen) != nil || len(seen.Workers) != 2 {
			return false
		}
		for _, w := range seen.Workers {
			if w.Hosts < 1 || w.Pages < 1 || w.PerSec <= 0 || w.Dead {
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(patience); !working(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("status never showed two workers that hold hosts and have pages, but %+v", seen)
		}
	}
	if seen.Workers[0].Name != "one" || seen.Workers[1].Name != "two" {
		t.Errorf("the workers are %+v", seen.Workers)
	}
	text, _ := run(t, "status", "--store", store)
	if !strings.Contains(text, "2 workers") || !strings.Contains(text, "a second") {
		t.Errorf("status says\n%s", text)
	}
	if pages := exported(t, skink, store); len(pages) < 2 {
		t.Errorf("%d pages are exported", len(pages))
	}
	for _, args := range [][]string{
		{"report", "--store", store, "--format", "json"},
		{"report", "--store", store, "--complete", "--format", "json"},
		{"compare", "--store", store, sites.seeds[0], sites.seeds[1]},
	} {
		out, err := exec.Command(skink, args...).CombinedOutput()
		if err != nil && args[0] != "compare" || len(out) < 100 { // compare may return another exit code if two texts differ
			t.Errorf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestDedupTogether judges the files of a corpus on several machines at the same time, each with a
// part of the files, into one store. Each text must be kept once, and the report of each machine
// must cover all files.
func TestDedupTogether(t *testing.T) {
	long(t)
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	const machines, texts = 3, 60
	skink := buildSkink(t)
	store := postgrestest.Start(t).URL("corpus")
	var shares []string
	for n := range machines {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("share", n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range texts { // each machine has all texts, under other names
			text := generated{pages: 1000, number: 1}.article(12 * i)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%d.txt", n, i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		shares = append(shares, dir)
	}
	var all []*worker
	for _, dir := range shares {
		all = append(all, startWorker(t, skink, "dedup", "--quiet", "--store", store, "--format", "json", "--out", dir+".json", dir))
	}
	endWell(t, all...)
	out, err := exec.Command(skink, "report", "--store", store, "--format", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Pages, Unique, Exact, Near, Thin int }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Pages != machines*texts || got.Unique != texts || got.Exact != (machines-1)*texts {
		t.Errorf("together they judged %+v; want %d unique and %d exact copies", got, texts, (machines-1)*texts)
	}
	again := startWorker(t, skink, "dedup", "--store", store, "--out", os.DevNull, shares[0])
	endWell(t, again)
	if said := again.said.String(); !strings.Contains(said, fmt.Sprintf("already in the store: %d", texts)) {
		t.Errorf("a share that is judged again is not known: %s", said)
	}
}

// TestBudgetOfDeadWorker kills a worker that has fetched a part of the pages that --max-host-pages
// allows. The worker that takes the host over, in the same run, must not begin to count anew.
func TestBudgetOfDeadWorker(t *testing.T) {
	t.Parallel()
	long(t) // the claim of the dead worker must expire
	skink := buildSkink(t)
	sites := startHosts(t, 1, 200)
	store := postgrestest.Start(t).URL("web")
	const most = 60
	flags := []string{"--quiet", "--max-host-pages", strconv.Itoa(most)}
	one := exec.Command(skink, crawlArgs(store, sites, append(flags, "--worker", "one")...)...)
	begun := sites.after(5)
	if err := one.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun // worker one has claimed the host
	two := exec.Command(skink, crawlArgs(store, sites, append(flags, "--worker", "two")...)...)
	if err := two.Start(); err != nil {
		t.Fatal(err)
	}
	<-sites.after(most / 2)
	_ = one.Process.Kill()
	_ = one.Wait()
	if err := two.Wait(); err != nil {
		t.Errorf("worker two: %v", err)
	}
	pages := len(exported(t, skink, store))
	t.Logf("%d pages", pages)
	if pages > most || pages < most-16 {
		t.Errorf("%d pages, want %d, or a few less because pages were lost in flight", pages, most)
	}
}

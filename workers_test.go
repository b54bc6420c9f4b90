package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/cli"
	"skink/store/redis/redistest"
)

// startHosts serves that many generated sites. Every second one has the articles of the one
// before, so that copies are fetched by two workers at once.
func startHosts(t *testing.T, hosts, pages int) *sites {
	s := &sites{counts: map[string]int{}}
	for n := range hosts {
		server := httptest.NewServer(s.counting(generated{pages / hosts, 1 + n/2}))
		t.Cleanup(server.Close)
		s.seeds = append(s.seeds, server.URL+"/")
	}
	return s
}

// crawlArgs is how all workers crawl.
func crawlArgs(store string, s *sites, flags ...string) []string {
	args := append([]string{"crawl", "--store", store, "--delay", "0", "--budget", "off", "--per-host", "4", "--parallel", "4", "--connections", "16"}, flags...)
	return append(args, s.seeds...)
}

// run runs a command in this process.
func run(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if code := cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: &out, Err: &err}); code != 0 {
		t.Errorf("skink %s: exit code %d\n%s", strings.Join(args, " "), code, &err)
	}
	return out.String(), err.String()
}

// TestWorkersAreAsOne crawls the same sites by one process into a folder, and by four workers
// into a cluster of three servers and their replicas. Both must end with the same pages and
// the same clusters over all pages, byte for byte; each URL is fetched once by all workers
// together; and no two unique pages that share a key resemble each other too much.
//
// 480 pages of 8 hosts; with SKINK_LONG=full 20,000 of 40.
func TestWorkersAreAsOne(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	hosts, pages := 8, 480
	if os.Getenv("SKINK_LONG") == "full" {
		hosts, pages = 40, 20_000
	}
	servers := redistest.StartCluster(t).Addrs()
	skink := buildSkink(t)
	sites := startHosts(t, hosts, pages)

	calm := filepath.Join(t.TempDir(), "calm")
	run(t, crawlArgs(calm, sites, "--quiet")...)
	sites.forget()

	shared := "redis://" + servers + "/web"
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			run(t, crawlArgs(shared, sites, "--quiet", "--worker", fmt.Sprint("worker", n))...)
		})
	}
	wg.Wait()

	if again, _ := sites.fetchedAgain(); again > 0 {
		t.Errorf("%d URLs were fetched again", again)
	}
	got := exported(t, skink, shared)
	samePages(t, got, exported(t, skink, calm))
	if text, _ := run(t, "status", "--store", shared); t.Failed() || strings.Contains(text, "worker") || !strings.Contains(text, "pending          0") {
		t.Errorf("at the end the status is\n%s", text)
	}
	sameClusters(t, completeReport(t, skink, shared), completeReport(t, skink, calm))
	sound(t, got)
	noneMissed(t, got)
}

// noneMissed wants no two unique pages that share a key and resemble each other as much as
// was asked for.
func noneMissed(t *testing.T, pages []line) {
	t.Helper()
	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
	if err != nil {
		t.Fatal(err)
	}
	met := map[uint64][]int{}
	sets := make([]dedup.Set, len(pages))
	for n, p := range pages {
		if p.Verdict != dedup.Unique {
			continue
		}
		sets[n] = shingles(p.Text)
		sketch := dedup.NewSketch(sets[n])
		for _, key := range rule.Scheme.Keys(nil, &sketch) {
			for _, other := range met[key] {
				if j := dedup.Resemblance(sets[n], sets[other]); j >= dedup.DefaultSimilarity {
					t.Errorf("%s and %s are both unique, share a key, and resemble each other by %v", p.URL, pages[other].URL, j)
				}
			}
			met[key] = append(met[key], n)
		}
	}
}

// TestWorkersDie kills workers at random moments, and starts others in their place, while four
// crawl. No URL is lost, no page is there twice, and the clusters over all pages are those of
// an undisturbed crawl.
//
// With SKINK_LONG=short two kills of 480 pages, with SKINK_LONG=full fifty of 20,000. SKINK_FAILOVERS=N kills N
// primaries too, whose replicas take over. What a primary had not yet passed on is gone then,
// and with it URLs that nobody discovers again: how many is logged.
func TestWorkersDie(t *testing.T) {
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("waits half a minute for what each dead worker held: SKINK_LONG=short runs it")
	}
	hosts, pages, kills := 8, 480, 2
	if os.Getenv("SKINK_LONG") == "full" {
		hosts, pages, kills = 40, 20_000, 50
	}
	failovers, _ := strconv.Atoi(os.Getenv("SKINK_FAILOVERS"))
	cluster := redistest.StartCluster(t)
	skink := buildSkink(t)
	sites := startHosts(t, hosts, pages)
	calm := filepath.Join(t.TempDir(), "calm")
	run(t, crawlArgs(calm, sites, "--quiet")...)
	all := sites.answered()
	sites.forget()

	shared := "redis://" + cluster.Addrs() + "/web"
	worker := func(n int) *exec.Cmd {
		cmd := exec.Command(skink, crawlArgs(shared, sites, "--quiet", "--worker", fmt.Sprint("worker", n))...)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	var workers []*exec.Cmd
	for n := range 4 {
		workers = append(workers, worker(n))
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	down := -1
	for n := range kills {
		share := max((all-sites.answered())/(kills+1-n), 1)
		select {
		case <-sites.after(share):
		case <-time.After(30 * time.Second): // all that is left may be held by the dead
		}
		i := rng.IntN(len(workers))
		_ = workers[i].Process.Kill()
		_ = workers[i].Wait()
		workers[i] = worker(len(workers) + n)
		if n < failovers {
			if down >= 0 { // its replica has long taken over
				if err := cluster.Servers[down].Run(); err != nil {
					t.Fatal(err)
				}
			}
			down = (down + 1) % 3
			cluster.Servers[down].Kill()
		}
	}
	patience := time.AfterFunc(time.Duration(90+pages/20)*time.Second, func() {
		out, _ := exec.Command(skink, "status", "--store", shared).CombinedOutput()
		t.Errorf("the workers do not end:\n%s", out)
		for _, w := range workers {
			_ = w.Process.Kill()
		}
	})
	for _, w := range workers {
		if err := w.Wait(); err != nil {
			t.Errorf("a worker ended with %v", err)
		}
	}
	patience.Stop()
	again, most := sites.fetchedAgain()
	t.Logf("%d kills and %d failovers: %d URLs fetched again, one of them %d times", kills, failovers, again, most)
	got, want := exported(t, skink, shared), exported(t, skink, calm)
	if failovers > 0 {
		t.Logf("%d of %d pages are not there", len(want)-len(got), len(want))
		return
	}
	samePages(t, got, want)
	sameClusters(t, completeReport(t, skink, shared), completeReport(t, skink, calm))
}

// TestWorkersAreRefused covers what a worker is told that cannot work on a store.
func TestWorkersAreRefused(t *testing.T) {
	server := redistest.Start(t)
	sites := startHosts(t, 2, 4)
	store := "redis://" + server.Addr + "/web"
	run(t, crawlArgs(store, sites, "--quiet", "--similarity", "0.7")...)
	evicts := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	locked := redistest.Start(t, "--requirepass", "right")
	for _, tt := range []struct {
		name string
		args []string
		said []string
	}{
		{"another similarity", crawlArgs(store, sites, "--similarity", "0.9"), []string{"--similarity 0.9", "--similarity 0.7"}},
		{"a server that evicts", crawlArgs("redis://"+evicts.Addr+"/web", sites), []string{"maxmemory-policy", "noeviction"}},
		{"a wrong password", crawlArgs("redis://:wrong@"+locked.Addr+"/web", sites), []string{"password"}},
		{"nobody there", crawlArgs("redis://127.0.0.1:1/web", sites), []string{"127.0.0.1:1"}},
		{"no name", crawlArgs("redis://"+server.Addr, sites), []string{"redis://HOST:PORT/NAME"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			if code := cli.Run(t.Context(), tt.args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: &said}); code == 0 {
				t.Errorf("it was not refused")
			}
			for _, want := range tt.said {
				if !strings.Contains(said.String(), want) {
					t.Errorf("it says %q, want %q in it", said.String(), want)
				}
			}
			if strings.Contains(said.String(), "wrong@") {
				t.Errorf("the password is printed: %s", &said)
			}
		})
	}
}

//go:build unix

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/dedup"
	"skink/internal/cli"
	"skink/internal/tools/postgrestest"
)

// startHosts serves the given number of generated sites. Every second site has the articles of the
// previous site, so that two workers fetch copies at the same time.
func startHosts(t *testing.T, hosts, pages int) *sites {
	s := &sites{counts: map[string]int{}}
	for n := range hosts {
		server := httptest.NewServer(s.counting(generated{pages: pages / hosts, number: 1 + n/2}))
		t.Cleanup(server.Close)
		s.seeds = append(s.seeds, server.URL+"/")
	}
	return s
}

// crawlArgs returns the arguments for a worker's crawl.
func crawlArgs(store string, s *sites, flags ...string) []string {
	args := append([]string{"crawl", "--store", store, "--delay", "0", "--budget", "off", "--per-host", "4", "--parallel", "4", "--connections", "16"}, flags...)
	return append(args, s.seeds...)
}

// run runs a command in this process, and returns its output.
func run(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if code := cli.Run(context.Background(), args, cli.Console{In: strings.NewReader(""), Out: &out, Err: &err}); code != 0 {
		t.Errorf("skink %s: exit code %d\n%s", strings.Join(args, " "), code, &err)
	}
	return out.String(), err.String()
}

// TestWorkersAreAsOne crawls the same sites with one process into a folder, and with four workers
// into a server. Both stores must have the same pages and exactly the same clusters in report
// --complete. Each URL must be fetched only once by all workers together. No two unique pages with
// a common key may be too similar.
//
// The test crawls 240 pages on 8 hosts, or 50,000 on 100 hosts with SKINK_LONG=full.
func TestWorkersAreAsOne(t *testing.T) {
	t.Parallel()
	hosts, pages := 8, 240
	if long(t) == full {
		hosts, pages = 100, 50_000
	}
	skink := buildSkink(t)
	sites := startHosts(t, hosts, pages)

	calm := filepath.Join(t.TempDir(), "calm")
	run(t, crawlArgs(calm, sites, "--quiet")...)
	sites.forget()

	shared := postgrestest.Start(t).URL("web")
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

// noneMissed checks that no two unique pages have a common key and at least the required
// similarity.
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

// TestWorkersDie kills workers at random moments, and also the database server, so that its
// synchronous standby takes over. Other workers replace the killed ones. The killed server becomes
// the standby of its successor. No acknowledged page may be lost or occur twice, and pages and
// clusters must be those of an undisturbed crawl. Only requests that were in flight may be
// repeated.
//
// SKINK_LONG=short has two kills and one failover in a crawl of 240 pages, SKINK_LONG=full fifty
// kills and ten failovers in one of 20,000. SKINK_FAILOVERS sets another number of failovers.
func TestWorkersDie(t *testing.T) {
	t.Parallel()
	hosts, pages, kills, failovers := 8, 240, 2, 1
	if long(t) == full {
		hosts, pages, kills, failovers = 40, 20_000, 50, 10
	}
	if n, err := strconv.Atoi(os.Getenv("SKINK_FAILOVERS")); err == nil {
		failovers = n
	}
	primary := postgrestest.Start(t)
	standby := primary.StartStandby(t, true)
	store := postgrestest.URL("web", primary.Addr, standby.Addr)
	r := refer(t, hosts, pages)
	all := r.asked
	var workers []*worker
	for n := range 4 {
		workers = append(workers, r.worker(t, store, fmt.Sprint("worker", n)))
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	moments := max(kills, failovers)
	killed, failed, acknowledged := 0, 0, 0
	for n := range moments {
		share := max((all-r.sites.answered())/(moments+1-n), 1)
		select {
		case <-r.sites.after(share):
		case <-time.After(40 * time.Second): // dead workers may have claims on all remaining hosts
		}
		if n*kills/moments < (n+1)*kills/moments {
			i := rng.IntN(len(workers))
			_ = workers[i].Process.Kill()
			<-workers[i].ended
			killed++
			workers[i] = r.worker(t, store, fmt.Sprint("worker", len(workers)+n))
		}
		if n*failovers/moments < (n+1)*failovers/moments {
			if failed > 0 {
				if err := standby.Follow(primary, true); err != nil {
					t.Fatal(err)
				}
			}
			before := stored(t, primary) // the standby has acknowledged everything that other sessions can see
			began := time.Now()
			primary.Kill()
			if err := standby.Promote(); err != nil {
				t.Fatal(err)
			}
			primary, standby = standby, primary
			after := stored(t, primary)
			for id := range before {
				if !after[id] {
					t.Errorf("failover %d lost the page %s", failed+1, id)
				}
			}
			t.Logf("the standby took over within %v, with %d pages", time.Since(began).Round(time.Millisecond), len(after))
			failed++
			acknowledged += len(before)
		}
	}
	endWell(t, workers...) // a worker that misses one of its own pages fails
	again, most := r.sites.fetchedAgain()
	t.Logf("seed %d: %d kills and %d failovers: %d URLs were fetched again, one of them %d times", seed, killed, failed, again, most)
	if failed > 0 && acknowledged == 0 {
		t.Error("no failover had a page to lose")
	}
	if bound := 16*killed + 4*16*failed; again > bound {
		t.Errorf("%d URLs were fetched again; %d were in flight at most", again, bound)
	}
	r.same(t, store)
	checkSound(t, "after the kills", store)
}

// stored returns the ids of the pages on a server.
func stored(t *testing.T, server *postgrestest.Server) map[string]bool {
	t.Helper()
	text, err := server.Text(t.Context(), "SELECT coalesce(string_agg(id::text, ' '), '') FROM web.page")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for id := range strings.FieldsSeq(text) {
		ids[id] = true
	}
	return ids
}

// TestWorkersAreRefused checks the messages for workers that cannot use a store.
func TestWorkersAreRefused(t *testing.T) {
	needServer(t)
	t.Parallel()
	server, locked := postgrestest.Start(t), postgrestest.Start(t)
	if err := locked.RequirePassword(); err != nil {
		t.Fatal(err)
	}
	if err := locked.Exec(t.Context(), "CREATE ROLE guest LOGIN PASSWORD 'right'"); err != nil {
		t.Fatal(err)
	}
	sites := startHosts(t, 2, 4)
	store := server.URL("web")
	run(t, crawlArgs(store, sites, "--quiet", "--similarity", "0.7")...)
	for _, tt := range []struct {
		name string
		args []string
		said []string
	}{
		{"another similarity", crawlArgs(store, sites, "--similarity", "0.9"), []string{"--similarity 0.9", "--similarity 0.7"}},
		{"a wrong password", crawlArgs("postgres://guest:wrong@"+locked.Addr+"/skink?schema=web", sites), []string{"password"}},
		{"no such database", crawlArgs("postgres://skink@"+server.Addr+"/none", sites), []string{"createdb"}},
		{"no database", crawlArgs("postgres://skink@"+server.Addr, sites), []string{"does not name a database"}},
		{"nobody there", crawlArgs(postgrestest.URL("web", "127.0.0.1:1"), sites), []string{"127.0.0.1:1"}},
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

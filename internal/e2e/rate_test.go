//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// within checks that no period has more requests than the budget. At most half of a period may be missing, because a
// request may be sent late on a busy machine.
func within(t *testing.T, n int, period time.Duration, sites ...*timedSite) {
	t.Helper()
	var all []time.Time
	for _, s := range sites {
		s.mu.Lock()
		all = append(all, s.at...)
		s.mu.Unlock()
	}
	slices.SortFunc(all, time.Time.Compare)
	for i := n; i < len(all); i++ {
		if took := all[i].Sub(all[i-n]); took < period/2 {
			t.Errorf("%d requests came within %v", n+1, took)
		}
	}
	if len(all) < 2 {
		t.Fatal("there were no requests")
	}
	took, want := all[len(all)-1].Sub(all[0]), period*time.Duration(len(all)-1)/time.Duration(n)
	t.Logf("%d requests in %v", len(all), took)
	if took < want-period/2 {
		t.Errorf("%d requests came within %v, want at least %v", len(all), took, want)
	}
}

func startLinked(t *testing.T, pages int) *timedSite {
	return newTimedSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || strings.HasPrefix(r.URL.Path, "/sitemap") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>A page</title><main><p>This is the page at %s%s.</main>", r.Host, r.URL.Path)
		for i := range pages {
			fmt.Fprintf(w, ` <a href="/%d">%d</a>`, i, i)
		}
	})
}

// A budget of requests is spread over its period. It holds for all hosts together, for one host, and over a restart of
// a crawl that was killed.
func TestMaxRate(t *testing.T) {
	long(t)
	t.Parallel()
	one, two, few, dir := startLinked(t, 8), startLinked(t, 8), startLinked(t, 3), t.TempDir()
	config := fmt.Sprintf("[host.%q]\nmax-host-rate = \"4/2s\"\n", strings.TrimPrefix(few.URL, "http://"))
	if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	crawl := func() *exec.Cmd {
		cmd := exec.Command(buildSkink(t), "crawl", "--quiet", "--config", "skink.toml", "--store", "data", "--delay", "0", "--max-rate", "20/2s", "--learn", "off", one.URL+"/", two.URL+"/", few.URL+"/")
		cmd.Dir = dir
		return cmd
	}
	killed := crawl()
	one.then = func(n int) {
		if n == 4 {
			_ = killed.Process.Kill()
		}
	}
	if _ = killed.Run(); killed.ProcessState.ExitCode() != -1 {
		t.Error("the crawl was not killed")
	}
	if out, err := crawl().CombinedOutput(); err != nil {
		t.Fatalf("crawl: %v\n%s", err, out)
	}
	within(t, 20, 2*time.Second, one, two, few)
	within(t, 4, 2*time.Second, few)
	few.apart(t, 500*time.Millisecond, "GET /2")
}

// The budget also holds among workers.
func TestMaxRateTogether(t *testing.T) {
	long(t)
	t.Parallel()
	one, two, skink, store := startLinked(t, 12), startLinked(t, 12), buildSkink(t), postgrestest.Start(t).URL("web")
	var workers []*worker
	for _, name := range []string{"a", "b"} {
		workers = append(workers, startWorker(t, skink, "crawl", "--quiet", "--store", store, "--worker", name, "--delay", "0", "--max-rate", "20/2s", "--learn", "off", one.URL+"/", two.URL+"/"))
	}
	awaitEnds(t, workers...)
	within(t, 20, 2*time.Second, one, two)
}

//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// endless is a web of hosts without an end. It records all requests in their order.
type endless struct {
	hosts []string

	mu      sync.Mutex
	asked   []string       // guarded by mu: host and path
	current map[string]int // guarded by mu: number of requests under way, by host
	most    map[string]int // guarded by mu: maximum of current
}

func startEndless(t *testing.T, hosts int) *endless {
	w := &endless{current: map[string]int{}, most: map[string]int{}}
	for range hosts {
		server := httptest.NewServer(w)
		t.Cleanup(server.Close)
		w.hosts = append(w.hosts, strings.TrimPrefix(server.URL, "http://"))
	}
	return w
}

func (w *endless) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, r.Host+r.URL.Path)
	w.current[r.Host]++
	w.most[r.Host] = max(w.most[r.Host], w.current[r.Host])
	w.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	var n int
	fmt.Sscanf(r.URL.Path, "/%d.html", &n)
	out.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(out, `<p>Page %d.<a href="/%d.html">a</a> <a href="/%d.html">b</a> <a href="/x/%d">x</a> <a href="/y/%d">y</a> <a href="/z/%d">z</a>`, n, n+1, n+2, n, n, n)
	w.mu.Lock()
	w.current[r.Host]--
	w.mu.Unlock()
}

// since returns the requests from the given number on.
func (w *endless) since(n int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[n:len(w.asked):len(w.asked)]
}

func matching(all []string, part string) (n int) {
	for _, one := range all {
		if strings.Contains(one, part) {
			n++
		}
	}
	return n
}

// eventually waits until a condition is true. It is patient, because the machine may be busy.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// TestOrdersReachWorkers gives each order to three workers on a server, which have a configuration file. The log of the sites must show that
// every worker obeys, apart from one request of each host that was under way. No order may be lost when the
// process that gave it, or one that obeyed it, is killed. No URL may occur twice in the logs of the workers.
//
// The test waits until every worker has said that it obeys, and only logs how long this took.
func TestOrdersReachWorkers(t *testing.T) {
	long(t)
	t.Parallel()
	skink, web, store := buildSkink(t), startEndless(t, 7), postgrestest.Start(t).URL("web")
	seeds, added := web.hosts[:6], web.hosts[6]
	config := filepath.Join(t.TempDir(), "crawl.toml")
	configure := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte("[crawl]\nsitemaps = \"off\"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("")
	start := func(name string, more ...string) *worker {
		args := []string{"crawl", "--store", store, "--config", config, "--worker", name, "--delay", "100ms", "--budget", "off", "--learn", "off", "--allow-private", "127.0.0.1", "--log-format", "json", "--log-urls"}
		return startWorker(t, skink, append(args, more...)...)
	}
	var urls []string
	for _, h := range seeds {
		urls = append(urls, "http://"+h+"/")
	}
	workers := []*worker{start("a", urls...), start("b", urls...), start("c", urls...)}
	for _, h := range seeds {
		eventually(t, "each host is crawled", func() bool { return matching(web.since(0), h) > 5 })
	}
	given := func(args ...string) string {
		out, err := exec.Command(skink, append([]string{"control", "--store", store}, args...)...).CombinedOutput()
		if text := strings.Join(args, " "); err != nil || !strings.HasPrefix(string(out), "ordered: ") {
			t.Fatalf("skink control %s: %v: %s", text, err, out)
		}
		return strings.TrimSpace(strings.TrimPrefix(string(out), "ordered: "))
	}
	heed := func(text string) {
		t.Helper()
		quoted, _ := json.Marshal(text)
		for _, w := range workers {
			eventually(t, "every worker reads "+text, func() bool { return strings.Contains(w.said.String(), string(quoted[1:])) })
		}
	}
	order := func(args ...string) (mark int) {
		t.Helper()
		began := time.Now()
		text := given(args...)
		if out, err := exec.Command(skink, "status", "--store", store).CombinedOutput(); err != nil || !strings.Contains(string(out), ": "+text+"\n") {
			t.Fatalf("after the order %s, status says: %v\n%s", text, err, out)
		}
		heed(": " + text)
		t.Logf("%s: obeyed within %v", text, time.Since(began).Round(time.Millisecond))
		return len(web.since(0))
	}
	never := func(part string, mark, underWay int) {
		t.Helper()
		eventually(t, "the crawl goes on", func() bool { return len(web.since(mark)) > 40 })
		if n := matching(web.since(mark), part); n > underWay {
			t.Errorf("%d requests with %s after the order", n, part)
		}
	}

	configure("exclude = [\"/x/\"]\n")
	order("reload")
	for _, w := range workers {
		eventually(t, "every worker goes on with the new configuration", func() bool { return strings.Contains(w.said.String(), asNow) })
	}
	never("/x/", len(web.since(0)), len(seeds))
	never("/z/", order("include", `\.html$|/y/`), len(seeds))
	never(seeds[0], order("block", seeds[0], "--reason", "they asked us"), 1)
	never(seeds[1], order("delay", seeds[1], "1h"), 1)
	order("delay", seeds[2], "0s")
	order("per-host", seeds[2], "4")
	eventually(t, "simultaneous requests", func() bool { web.mu.Lock(); defer web.mu.Unlock(); return web.most[seeds[2]] > 1 })
	order("prefer", seeds[3])
	order("unblock", seeds[0])
	order("add", "http://"+added+"/")
	eventually(t, "the added seed is crawled", func() bool { return matching(web.since(0), added) > 5 })

	// The workers pause. One is killed, and so are the processes that give orders.
	paused := order("pause")
	time.Sleep(time.Second)
	if n := len(web.since(paused)); n > len(web.hosts)+3 {
		t.Errorf("%d requests during a pause", n)
	}
	_ = workers[0].Process.Kill()
	<-workers[0].ended
	for n := range 6 {
		giver := startWorker(t, skink, "control", "--store", store, "block", fmt.Sprintf("host%d.example", n))
		time.Sleep(rand.N(100 * time.Millisecond))
		_ = giver.Process.Kill()
		<-giver.ended
		status, err := exec.Command(skink, "status", "--store", store).CombinedOutput()
		if taken := strings.HasPrefix(giver.said.String(), "ordered"); err != nil || taken && !strings.Contains(string(status), fmt.Sprintf(": block host%d.example\n", n)) {
			t.Errorf("the order %d of a killed process is lost: %v\n%s", n, err, status)
		}
	}
	text := given("exclude", "/y/")
	workers = workers[1:]
	heed(": " + text)
	workers = append(workers, start("d"))
	eventually(t, "a new worker obeys old orders", func() bool { return strings.Contains(workers[2].said.String(), "The crawl is paused by an order") })
	resumed := order("resume")
	never("/y/", resumed, 0)

	given("stop")
	awaitEnds(t, workers...)
	logged := map[string]int{}
	for _, w := range workers {
		if code := w.ProcessState.ExitCode(); code != 1 {
			t.Errorf("a stopped worker ended with code %d and said\n%s", code, w.said.String())
		}
		for l := range strings.Lines(w.said.String()) {
			var at struct{ Msg, URL string }
			if err := json.Unmarshal([]byte(l), &at); err == nil && at.Msg == "url" {
				logged[at.URL]++
			}
		}
	}
	for url, n := range logged {
		if n > 1 {
			t.Errorf("%s is logged %d times", url, n)
		}
	}
	if len(logged) < 100 {
		t.Errorf("only %d URLs are logged", len(logged))
	}
}

const asNow = "The crawl goes on with the configuration as it is now."

// TestReload gives orders to a crawl in a folder, and changes its configuration while it runs: by an order, by
// SIGHUP, and with a mistake in the file. The log of the site must show what the crawl obeys.
func TestReload(t *testing.T) {
	long(t)
	t.Parallel()
	skink, web, dir := buildSkink(t), startEndless(t, 1), t.TempDir()
	store, config, host := filepath.Join(dir, "store"), filepath.Join(dir, "crawl.toml"), web.hosts[0]
	configure := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte("[crawl]\nsitemaps = \"off\"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("")
	args := []string{"crawl", "--store", store, "--delay", "20ms", "--budget", "off", "--learn", "off", "--allow-private", "127.0.0.1", "--view=0"}
	crawl := startWorker(t, skink, append(args, "--config", config, "http://"+host+"/")...)
	eventually(t, "the host is crawled", func() bool { return matching(web.since(0), "/z/") > 1 })
	order := func(args ...string) (mark int) {
		t.Helper()
		if out, err := exec.Command(skink, append([]string{"control", "--store", store}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("skink control: %v\n%s", err, out)
		}
		eventually(t, "the order is read", func() bool { return strings.Contains(crawl.said.String(), ": "+strings.Join(args, " ")+"\n") })
		return len(web.since(0))
	}
	never := func(part string, mark int) {
		t.Helper()
		eventually(t, "the crawl goes on", func() bool { return len(web.since(mark)) > 40 })
		if n := matching(web.since(mark), part); n > 1 {
			t.Errorf("%d requests with %s after the order", n, part)
		}
	}
	said := func(text string, times int) (mark int) {
		t.Helper()
		eventually(t, text, func() bool { return strings.Count(crawl.said.String(), text) == times })
		return len(web.since(0))
	}
	never("/z/", order("include", `\.html$|/[xy]/`))
	order("delay", host, "0s")
	order("per-host", host, "4")
	eventually(t, "simultaneous requests", func() bool { web.mu.Lock(); defer web.mu.Unlock(); return web.most[host] > 1 })

	const asBefore = "The crawl goes on as before: "
	configure("exclude = [\"/x/\"]\n")
	order("reload")
	never("/x/", said(asNow, 1))
	configure("exclud = [\"/y/\"]\n")
	order("reload")
	said(asBefore, 1)
	never("/x/", len(web.since(0)))
	excluded := "/x/"
	if terminal, err := os.Open("/dev/tty"); err == nil {
		terminal.Close() // SIGHUP would end the crawl
	} else {
		excluded = "/y/"
		configure("exclude = [\"/y/\"]\n")
		if err := crawl.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		never("/y/", said(asNow, 2))
	}
	if text := crawl.said.String(); strings.Count(text, "The crawl is shown at ") != 1 || strings.Contains(text, "interrupted") {
		t.Errorf("the crawl says\n%s", text)
	}
	_ = crawl.Process.Kill()
	<-crawl.ended
	mark := len(web.since(0))
	crawl = startWorker(t, skink, args...)
	never(excluded, mark)
	order("stop")
	awaitEnds(t, crawl)
}

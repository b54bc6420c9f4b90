package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDeadlyPage crawls a page that takes more memory to parse than the system allows. The process
// ends, and again after the first resume. At the second resume, the crawl must give up the page as
// the cause, and continue to its end.
//
// The server limits the memory when it receives the request for the page. The limit must be high
// enough for everything else and too low for the page's tree. Whether it is depends on the machine,
// so the test must be started by hand:
//
//	SKINK_LONG=full go test -run TestDeadlyPage ./internal/e2e
func TestDeadlyPage(t *testing.T) {
	if os.Getenv("SKINK_LONG") != "full" {
		t.Skip("SKINK_LONG is not full")
	}
	skink := buildSkink(t)
	dir := filepath.Join(t.TempDir(), "store")
	var crawling atomic.Int64 // process id of the crawl
	var limited atomic.Bool
	limited.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<a href=/deadly>1</a> <a href=/a>2</a> <a href=/b>3</a>")
		case "/a", "/b":
			fmt.Fprint(w, "<p>A page of a few words: "+r.URL.Path)
		case "/deadly":
			if limited.Load() {
				if err := limitMemory(int(crawling.Load()), 192<<20); err != nil {
					t.Error(err)
				}
			}
			_, _ = io.WriteString(w, deadlyPage()) // ignore an error, because the process may have ended
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	crawl := func() (string, error) {
		cmd := exec.Command(skink, "crawl", "--store", dir, "--delay", "0", "--quiet", server.URL+"/")
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "GOGC=100", "GOMEMLIMIT=")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		crawling.Store(int64(cmd.Process.Pid))
		err := cmd.Wait()
		return out.String(), err
	}
	for i := range 2 {
		if out, err := crawl(); err == nil || !strings.Contains(out, "out of memory") {
			t.Fatalf("run %d did not run out of memory: %v\n%.2000s", i+1, err, out)
		}
	}
	limited.Store(false) // the page is not parsed any more, but fetching it may need more memory than the limit
	if out, err := crawl(); err != nil {
		t.Fatalf("the crawl did not go on after two deaths: %v\n%.2000s", err, out)
	}
	failed, err := exec.Command(skink, "status", "--store", dir, "--urls", "failed").Output()
	if err != nil || strings.Count(string(failed), "\n") != 1 || !strings.Contains(string(failed), "/deadly") || !strings.Contains(string(failed), "ends the process") {
		t.Errorf("the page is not named as the cause: %v\n%s", err, failed)
	}
	if all := exported(t, skink, dir); len(all) != 3 {
		t.Errorf("%d pages were stored beside it, want 3", len(all))
	}
}

// deadlyPage returns a page that needs much time to parse, and then much memory. The parser
// searches 500 open elements for each of the stray end tags, which adds nothing to the tree. The
// paragraphs then make the tree as large as trees may be.
func deadlyPage() string {
	const endTags, paragraphs = 1 << 20, 1 << 20
	return strings.Repeat("<span>", 480) + strings.Repeat("</i>", endTags) + strings.Repeat("<p>a", paragraphs)
}

// limitMemory limits the address space of a process to its current size plus more bytes.
func limitMemory(pid int, more uint64) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return err
	}
	most := pages*uint64(os.Getpagesize()) + more
	return unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}, nil)
}

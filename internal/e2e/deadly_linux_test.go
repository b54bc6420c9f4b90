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

// A page whose reading takes more memory than the system gives ends the process, and again after
// the first resume. At the second resume it is given up as the cause, and the crawl goes on to its
// end.
//
// The server sets the limit when it is asked for the page: so much beyond what the process
// has by then that all other work fits into it, and the page's tree does not. How much that is
// depends on the machine, so the test is one of those that are run by hand:
//
//	SKINK_LONG=full go test -run TestDeadlyPage ./internal/e2e
func TestDeadlyPage(t *testing.T) {
	if os.Getenv("SKINK_LONG") != "full" {
		t.Skip("SKINK_LONG is not full")
	}
	skink := buildSkink(t)
	dir := filepath.Join(t.TempDir(), "store")
	var crawling atomic.Int64 // id of the process
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
			_, _ = io.WriteString(w, deadlyPage()) // the process may be gone
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
	limited.Store(false) // the page is not read, but it is fetched, which may take as much as the limit leaves
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

// deadlyPage takes long to read before it takes much memory: each of its stray end tags is
// looked for among 500 open elements, which leaves nothing, and its paragraphs are
// a tree as large as a tree may be.
func deadlyPage() string {
	const endTags, paragraphs = 1 << 20, 1 << 20
	return strings.Repeat("<span>", 480) + strings.Repeat("</i>", endTags) + strings.Repeat("<p>a", paragraphs)
}

// limitMemory lets a process have so many bytes of addresses more than it has.
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

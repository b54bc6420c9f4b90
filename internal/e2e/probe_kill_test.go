package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"skink/internal/tools/postgrestest"
)

// TestKilledBeforeAnswer kills a crawl with SIGKILL after it has fetched all pages of a site, while
// it waits for the response to a URL that cannot exist. The next run, or on PostgreSQL the other
// worker, must request that URL again, and find the same soft 404s as a crawl that is not killed.
func TestKilledBeforeAnswer(t *testing.T) {
	t.Parallel()
	long(t) // a worker waits half a minute for the claim of the killed one to expire
	const real, dead = 6, 5
	for name, store := range map[string]func(t *testing.T) string{
		"folder":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "store") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Start(t).URL("probed") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []string
			reached, over := make(chan struct{}, 1), make(chan struct{})
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
					http.NotFound(w, r)
					return
				}
				mu.Lock()
				asked = append(asked, r.URL.Path)
				mu.Unlock()
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				switch path := r.URL.Path; {
				case path == "/":
					var links strings.Builder
					for i := range real + dead { // the links to missing pages are last
						fmt.Fprintf(&links, "<li><a href=/page/x%c>%c</a>", 'a'+i, 'a'+i)
					}
					fmt.Fprint(w, softPage("Welcome", softWords("home", 120)+"</p><ul>"+links.String()+"</ul>"))
				case path < fmt.Sprintf("/page/x%c", 'a'+real) && len(path) == len("/page/xa"):
					fmt.Fprint(w, softPage(softWords("title"+path, 3), softWords(path, 150)))
				default:
					if len(path) > len("/page/xa") { // nothing links to this URL
						select {
						case <-over:
						default:
							reached <- struct{}{}
							<-r.Context().Done()
							return
						}
					}
					fmt.Fprint(w, softPage("Not found", softWords("sorry", 60)))
				}
			}))
			defer site.Close()
			at := store(t)
			crawl := func(worker string) *exec.Cmd {
				args := []string{"crawl", "--quiet", "--store", at, "--delay", "0", "--parallel", "1", "--budget", "off", "--allow-private", "127.0.0.0/8"}
				if name != "folder" {
					args = append(args, "--worker", worker)
				}
				cmd := exec.Command("skink", append(args, site.URL+"/")...)
				cmd.Stderr = new(bytes.Buffer)
				return cmd
			}
			start := func(cmd *exec.Cmd) *exec.Cmd {
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				return cmd
			}
			killed := start(crawl("one"))
			<-reached
			next := crawl("two")
			if name != "folder" { // the other worker runs while the first is killed
				start(next)
			}
			_ = killed.Process.Kill()
			_ = killed.Wait()
			close(over)
			mu.Lock()
			before := len(asked)
			mu.Unlock()
			if before != 1+real+dead+1 {
				t.Errorf("%d URLs were requested before the kill: %q", before, asked)
			}
			if name == "folder" {
				start(next)
			}
			if err := next.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, next.Stderr)
			}
			out, _ := run(t, "status", "--store", at, "--urls", "failed")
			if n := strings.Count(out, "soft 404"); n != dead {
				t.Errorf("%d URLs are soft 404s, want %d:\n%s\nrequested after the kill: %q", n, dead, out, asked[before:])
			}
			if out, _ = run(t, "export", "--store", at, "--include", "all"); strings.Count(out, "\n") != 1+real {
				t.Errorf("%d pages are exported, want %d", strings.Count(out, "\n"), 1+real)
			}
			if probe := asked[before-1]; !slices.Contains(asked[before:], probe) {
				t.Errorf("%s is not requested again: %q", probe, asked[before:])
			}
			if status, _ := run(t, "status", "--store", at); !strings.Contains(status, "pending          0") {
				t.Errorf("the crawl is not finished:\n%s", status)
			}
		})
	}
}

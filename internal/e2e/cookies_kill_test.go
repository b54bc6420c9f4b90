package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skink/internal/tools/postgrestest"
)

// TestCookiesKilled kills a crawl of a site whose first page sets a cookie that all other pages
// need. The next run, which does not fetch the first page again, must still have the cookie.
func TestCookiesKilled(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(t *testing.T) string{
		"folder":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "store") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Start(t).URL("walled") },
	} {
		t.Run(name, func(t *testing.T) {
			const pages = 30
			reached, over := make(chan struct{}, pages), make(chan struct{})
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch c, err := r.Cookie("visitor"); {
				case r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml":
					http.NotFound(w, r)
					return
				case r.URL.Path == "/":
					http.SetCookie(w, &http.Cookie{Name: "visitor", Value: "7", Path: "/"})
				case err != nil || c.Value != "7":
					w.WriteHeader(http.StatusForbidden)
					return
				case r.URL.Path == "/14":
					select {
					case <-over:
					default: // the crawl is killed while it waits for this page
						reached <- struct{}{}
						<-r.Context().Done()
						return
					}
				}
				w.Header().Set("Content-Type", "text/html")
				for i := range pages {
					fmt.Fprintf(w, "<a href=/%d>", i)
				}
				fmt.Fprintf(w, "<main><p>%s</p></main>", strings.Repeat("This is at "+r.URL.Path[1:]+" and n"+r.URL.Path[1:]+" is at no other place. ", 5))
			}))
			defer site.Close()
			crawl := []string{"crawl", "--store", store(t), "--cookies", "store", "--delay", "0", "--budget", "off", site.URL}
			cmd := exec.Command("skink", crawl...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			close(over)
			runIn(t, t.TempDir(), crawl...)
			got := 0
			for line := range bytes.Lines(runIn(t, t.TempDir(), "export", "--store", crawl[2], "--include", "all")) {
				var d fed
				if err := json.Unmarshal(line, &d); err != nil {
					t.Fatal(err)
				}
				got++
			}
			if got != pages+1 {
				t.Errorf("the site has %d pages, want %d", got, pages+1)
			}
		})
	}
}

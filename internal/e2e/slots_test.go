package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"skink/internal/tools/postgrestest"
)

// A timedSite records when each request arrives, and calls then with the number of requests.
type timedSite struct {
	*httptest.Server
	mu   sync.Mutex
	at   []time.Time // guarded by mu
	what []string    // guarded by mu
	then func(n int) // guarded by mu
}

func newTimedSite(t *testing.T, serve http.HandlerFunc) *timedSite {
	s := &timedSite{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := arrived(r)
		s.mu.Lock()
		s.at, s.what = append(s.at, at), append(s.what, r.Method+" "+r.URL.Path)
		if s.then != nil {
			s.then(len(s.at))
		}
		s.mu.Unlock()
		serve(w, r)
	}))
	s.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, conn)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// apart checks that all of the wanted requests arrived, and that no gap between two requests is
// shorter than half of the delay. Half, because on a busy machine a request may be sent later than
// the time that was reserved for it, which the next run or another worker cannot know.
func (s *timedSite) apart(t *testing.T, delay time.Duration, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(s.at); i++ {
		if gap := s.at[i].Sub(s.at[i-1]); gap < delay/2 {
			t.Errorf("%s came %v after %s, the delay is %v", s.what[i], gap, s.what[i-1], delay)
		}
	}
	for _, w := range want {
		if !slices.Contains(s.what, w) {
			t.Errorf("there was no %s", w)
		}
	}
	t.Logf("%d requests: %s", len(s.what), strings.Join(s.what, ", "))
}

// TestSlots measures at the servers the time between two requests for different purposes: a
// robots.txt with a Crawl-delay, the steps of a login, pages, redirects, a guessed sitemap, and the
// two requests of a check. The crawl is killed twice, and started again at once.
func TestSlots(t *testing.T) {
	long(t)
	t.Parallel()
	other := newTimedSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		} else if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
		}
	})
	site := newTimedSite(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := r.Cookie("session")
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 1\n")
		case r.URL.Path == "/login" && r.Method == http.MethodPost:
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s", Path: "/"})
			http.Redirect(w, r, "/home", http.StatusSeeOther)
		case r.URL.Path == "/login":
			fmt.Fprint(w, `<form method="post"><input name="user"><input name="password"></form>`)
		case err != nil:
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/target", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/sitemap"):
			http.NotFound(w, r)
		default:
			fmt.Fprintf(w, `<title>A page</title><main><p>The page at %s, for members. <a href="/1">1</a> <a href="/moved">2</a> <a href="%s/x">3</a></main>`, r.URL.Path, other.URL)
		}
	})
	dir := t.TempDir()
	config := fmt.Sprintf("[host.%q.login]\npage = \"%s/login\"\nfields = { user = \"me\", password = \"${PASSWORD}\" }\n", strings.TrimPrefix(site.URL, "http://"), site.URL)
	if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	crawl := func(killAt int) (killed bool) {
		cmd := exec.Command(buildSkink(t), "crawl", "--quiet", "--config", "skink.toml", "--store", "data", "--delay", "400ms", "--check-external", "--allow-private", "127.0.0.1", "--learn", "off", site.URL+"/")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PASSWORD=secret")
		site.mu.Lock()
		site.then = func(n int) {
			if n == killAt {
				_ = cmd.Process.Kill()
			}
		}
		site.mu.Unlock()
		out, err := cmd.CombinedOutput()
		if killed = cmd.ProcessState.ExitCode() == -1; err != nil && !killed {
			t.Fatalf("crawl: %v\n%s", err, out)
		}
		return killed
	}
	if !crawl(5) || !crawl(9) || crawl(0) {
		t.Error("the crawl was not killed as planned")
	}
	site.apart(t, time.Second, "GET /robots.txt", "GET /login", "POST /login", "GET /home", "GET /", "GET /1", "GET /moved", "GET /target")
	other.apart(t, 400*time.Millisecond, "HEAD /x", "GET /x")
}

// Two workers render pages of two sites that need files of a third one, which also has pages of its
// own. Whichever worker sends a request to the third site, the delay holds.
func TestSlotsOfWorkers(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	shared, bin := postgrestest.Start(t).URL("web"), buildSkink(t)
	page := func(links string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/robots.txt", strings.HasPrefix(r.URL.Path, "/sitemap"):
				http.NotFound(w, r)
			case strings.HasSuffix(r.URL.Path, ".js"):
				w.Header().Set("Content-Type", "text/javascript")
				fmt.Fprint(w, "var loaded = true;")
			default:
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<title>A page</title><main><p>The page at %s%s has a text of its own.</main>`, r.Host, r.URL.Path)
				fmt.Fprint(w, strings.ReplaceAll(links, "PATH", strings.ReplaceAll(r.Host+r.URL.Path, "/", "_")))
			}
		}
	}
	files := newTimedSite(t, page(`<a href="/1">1</a> <a href="/2">2</a> <a href="/3">3</a>`))
	scripts := fmt.Sprintf(`<script src="%[1]s/PATH.js"></script><script src="%[1]s/PATH-2.js"></script><a href="/1">1</a> <a href="/2">2</a>`, files.URL)
	one, two := newTimedSite(t, page(scripts)), newTimedSite(t, page(scripts))
	args := []string{"crawl", "--quiet", "--store", shared, "--delay", "300ms", "--render", "always", "--learn", "off", files.URL + "/", one.URL + "/", two.URL + "/"}
	awaitEnds(t, startWorker(t, bin, append(args, "--worker", "one")...), startWorker(t, bin, append(args, "--worker", "two")...))
	name := func(s *timedSite, path string) string {
		return "GET /" + strings.TrimPrefix(s.URL, "http://") + path
	}
	files.apart(t, 300*time.Millisecond, "GET /3", name(one, "_1.js"), name(two, "_2.js"), name(two, "_2-2.js"))
	one.apart(t, 300*time.Millisecond, "GET /2")
	two.apart(t, 300*time.Millisecond, "GET /2")
}

package e2e

import (
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A postedSite has two pages whose scripts ask another host for the text with POST, and draw it. Then they
// wait for a response that comes only when the site no longer holds it back.
type postedSite struct {
	site, api *httptest.Server

	mu    sync.Mutex
	asked []string      // guarded by mu: bodies of the POST requests
	heads []http.Header // guarded by mu: their headers
	held  chan struct{}
	first chan struct{} // closed when a script waits
}

func newPostedSite(t *testing.T) *postedSite {
	t.Helper()
	s := &postedSite{held: make(chan struct{}), first: make(chan struct{})}
	var waits sync.Once
	s.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "content-type, authorization")
		if r.Method != http.MethodPost { // a browser with a network asks first
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked, s.heads = append(s.asked, string(body)), append(s.heads, r.Header)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprintf(w, `{"text": "%s This sentence answers %d bytes, and has been drawn by a script."}`, strings.Repeat("Words that only a POST request brings to a page. ", 10), len(body))
	}))
	t.Cleanup(s.api.Close)
	s.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/late":
			waits.Do(func() { close(s.first) })
			<-s.held
		case strings.HasPrefix(r.URL.Path, "/page/"):
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><title>A page</title><div id=root></div><script>
const ask = body => fetch("%s/ask?v=1", {method: "POST", headers: {"Content-Type": "application/json", Authorization: "Bearer hush-script"}, body}).then(r => r.json());
ask(JSON.stringify({query: "the text of " + location.pathname + " é ~", first: 10})).then(async answer => {
	root.innerHTML = "<h1>" + location.pathname + "</h1><p>" + answer.text + "</p><a href=/page/1>next</a>";
	await fetch("/late").catch(() => 0);
	root.insertAdjacentHTML("beforeend", "<p id=drawn>All is drawn.</p>");
});
</script>`, s.api.URL)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() { s.site.Close() })
	return s
}

// times counts the POST requests of each page.
func (s *postedSite) times() (n [2]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.asked {
		for page := range n {
			n[page] += strings.Count(body, fmt.Sprint("/page/", page, " "))
		}
	}
	return n
}

// crawl returns the arguments of a crawl that may send POST requests. The host that gets them has the given
// settings, too.
func (s *postedSite) crawl(t *testing.T, dir, settings string) []string {
	t.Helper()
	config := fmt.Sprintf("[host.%q]\nrender-post = true\n%s", strings.TrimPrefix(s.api.URL, "http://"), settings)
	if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"crawl", "--config", "skink.toml", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--render", "always", "--warc", "archive", "--recrawl", "0s", s.site.URL + "/page/0"}
}

// TestPostedOnce kills a crawl when the script of its first page has the response to a POST request. The next
// run, which renders the page again, must not send it again. A recrawl sends each again, once. The requests
// have no secrets. crawl --from gives the same texts.
func TestPostedOnce(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	dir, s := t.TempDir(), newPostedSite(t)
	if err := os.WriteFile(filepath.Join(dir, "cookies.txt"), []byte("127.0.0.1\tFALSE\t/\tFALSE\t0\thush\thush-cookie\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := s.crawl(t, dir, "headers = { \"X-Token\" = \"hush-token\" }\ncookies = \"cookies.txt\"\nuser = \"hush-user\"\npassword = \"hush-password\"\n")
	killed := exec.Command("skink", args...)
	killed.Dir = dir
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.first:
	case <-time.After(patience):
		t.Error("no script has the response to its POST request")
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	close(s.held)
	for round := range 2 {
		runIn(t, dir, args...)
		if got, want := s.times(), [2]int{round + 1, round + 1}; got != want {
			t.Errorf("after round %d, the pages have sent %d POST requests, want %d", round, got, want)
		}
	}
	for _, h := range s.heads {
		if text := fmt.Sprint(h); strings.Contains(text, "hush") || h.Get("Cookie")+h.Get("Authorization") != "" {
			t.Errorf("a POST request has the header %s", text)
		}
	}
	archived := contentOf(t, filepath.Join(dir, "archive"), "*.warc.gz")
	if n := strings.Count(archived, `{"query":"the text of /page/1 é ~","first":10}`); n != 2 || strings.Contains(archived, "hush-t") || strings.Contains(archived, "hush-p") {
		t.Errorf("the archive has the body of a request %d times, want 2, and no secret", n)
	}
	runIn(t, dir, "crawl", "--store", "again", "--from", "archive")
	want := judgedIn(t, dir, "skink-data")
	if got := judgedIn(t, dir, "again"); got != want || strings.Count(want, "All is drawn.") != 2 {
		t.Errorf("--from gives %s, want %s", got, want)
	}

	off := exec.Command("skink", "crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--render", "always", "--store", "off", s.site.URL+"/page/0")
	off.Dir = dir
	if out, err := off.CombinedOutput(); err != nil || s.times() != [2]int{2, 2} {
		t.Errorf("%v, %d requests without the setting\n%s", err, s.times(), out)
	}
}

// TestReplayOfPosts opens pages whose scripts draw the text that they get by POST in a player, from a WACZ file
// and from the archive's files with their index, while the servers are stopped.
func TestReplayOfPosts(t *testing.T) {
	if long(t) != full {
		t.Skip("SKINK_LONG=full runs it")
	}
	t.Parallel()
	dir, s := t.TempDir(), newPostedSite(t)
	player := newPlayer(t, dir)
	close(s.held)
	runIn(t, dir, s.crawl(t, dir, "")...)
	runIn(t, dir, "export", "--format", "wacz", "--out", "posts.wacz")
	mergeIndexes(t, filepath.Join(dir, "archive"), filepath.Join(dir, "merged"))
	var want [2]image.Image
	for n := range want {
		b := player.browser(t, fmt.Sprint(s.site.URL, "/page/", n))
		b.load(chromedp.Navigate(fmt.Sprint(s.site.URL, "/page/", n)))
		b.waitFor(`document.getElementById("drawn")`)
		want[n] = pictureOf(t, b)
	}
	s.site.Close()
	s.api.Close()
	for n := range want {
		for _, source := range []string{"posts.wacz", "merged%2Fall.cdxj"} {
			got := player.shows(t, source, fmt.Sprint(s.site.URL, "/page/", n), "", want[n], true)
			keep(t, fmt.Sprintf("posts-%d%s.png", n, filepath.Ext(source)), got)
			if differs := difference(got, want[n]); differs > 0 {
				t.Errorf("%s, page %d: %.3f%% of the picture differ", source, n, 100*differs)
			}
		}
	}
}

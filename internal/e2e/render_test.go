package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skink/crawler/render"
)

// needBrowser skips a test if there is no browser.
func needBrowser(t *testing.T) {
	t.Helper()
	if _, err := render.Find(); err != nil {
		t.Skip(err)
	}
}

// A webApp serves one of the applications of testdata/apps, and counts requests by path.
type webApp struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // guarded by mu
}

func newWebApp(t *testing.T, name string) *webApp {
	t.Helper()
	dir := filepath.Join("testdata/apps", name)
	a := &webApp{asked: map[string]int{}}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked[r.URL.Path]++
		a.mu.Unlock()
		file := filepath.Join(dir, filepath.FromSlash(r.URL.Path))
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			http.ServeFile(w, r, file)
			return
		}
		if _, err := os.Stat(file + ".html"); err == nil {
			http.ServeFile(w, r, file+".html")
			return
		}
		if filepath.Ext(file) != "" {
			http.NotFound(w, r)
			return
		}
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	}))
	t.Cleanup(a.Close)
	return a
}

// times returns how often a path was asked for.
func (a *webApp) times(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[path]
}

// A fed is a document of a feed.
type fed struct {
	URL, Title, Text string
	Words            int
	Rendered         bool
}

// TestRender crawls three applications that npm's tools have built, without a browser and with one. Two
// send empty pages that scripts fill. The third sends its texts, and must not be rendered.
func TestRender(t *testing.T) {
	needBrowser(t)
	react, vue, manual := newWebApp(t, "react"), newWebApp(t, "vue"), newWebApp(t, "vitepress")
	dir := t.TempDir()
	crawl := func(mode string) (said string, pages map[string]fed) {
		cmd := exec.Command("skink", "crawl", "--store", mode, "--render", mode, "--delay", "0", react.URL, vue.URL, manual.URL)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		pages = map[string]fed{}
		for line := range bytes.Lines(runIn(t, dir, "export", "--store", mode)) {
			var d fed
			if err := json.Unmarshal(line, &d); err != nil {
				t.Fatal(err)
			}
			pages[d.URL] = d
		}
		return string(out), pages
	}

	said, pages := crawl("off")
	if !strings.Contains(said, "\n2 pages need scripts; --render auto fetches them with a browser\n") || len(pages) != 6 {
		t.Errorf("without a browser there are %d pages:\n%s", len(pages), said)
	}

	said, pages = crawl("auto")
	if !strings.Contains(said, "\n12 pages rendered with a browser\n") || strings.Contains(said, "need scripts") || len(pages) != 16 {
		t.Errorf("with a browser there are %d pages:\n%s", len(pages), said)
	}
	for _, want := range []struct {
		url, title, text string
		rendered         bool
	}{
		{react.URL + "/", "Lizards of the world", "House gecko: walks on ceilings", true},
		{react.URL + "/about", "About these pages", "a crawler that runs none finds one page", true},
		{react.URL + "/lizards/sand-skink", "Sand skink", "leaves a track like a wave behind", true},
		{react.URL + "/lizards/slow-worm", "Slow worm", "sleep there until March", true},
		{vue.URL + "/", "Hot drinks", "from the field to the cup", true},
		{vue.URL + "/mate", "Mate", "says thanks only to end", true},
		{manual.URL + "/", "Kite manual | Kites", "on a day with a steady wind", false},
		{manual.URL + "/sail", "The sail | Kites", "it should sound like a drum", false},
	} {
		got := pages[want.url]
		if got.Title != want.title || !strings.Contains(got.Text, want.text) || got.Rendered != want.rendered {
			t.Errorf("%s is %+v, want %+v", want.url, got, want)
		}
	}
	// The scripts of an application are fetched once, and not for each page. Those of pages that have
	// their text are not fetched at all, and neither is what shows no text.
	for path, n := range react.asked {
		if strings.HasPrefix(path, "/assets/") && (n != 1 || !strings.HasSuffix(path, ".js")) {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	for path, n := range manual.asked {
		if strings.HasPrefix(path, "/assets/") {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	if n := react.times("/lizards/gecko"); n != 1 {
		t.Errorf("a page was asked for %d times", n)
	}
}

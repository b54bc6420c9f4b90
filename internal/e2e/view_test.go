package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"skink/crawler/render"
)

// TestViewInBrowser opens every page of the viewer in a real browser while a crawl runs. The
// crawled site puts HTML and scripts into every possible field. If any of this ran, it would
// request a probe URL of the site. The browser must request only pages of the viewer, and its
// console must stay empty.
//
// SKINK_SHOTS names a folder for screenshots of the pages. If SKINK_NODE_MODULES names a folder
// with axe-core, the pages are also checked for accessibility.
//
// The test does not run in parallel with others, because a browser, a crawl and a server use a
// whole machine.
func TestViewInBrowser(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	site := newHostileSite(t)
	crawl := startViewed(t, site.URL)
	b := openBrowser(t, crawl.url)

	b.open("/now")
	b.waitFor(`document.getElementById("now-pages").innerText.includes("unique")`)
	b.look("now")
	was := b.eval(`document.getElementById("now-urls").innerHTML`)
	b.waitFor(`document.getElementById("now-urls").innerHTML != ` + quoteJS(was)) // the page must follow the crawl

	b.open("/pages")
	b.reload(`document.querySelectorAll("table.list tbody tr").length > 5`)
	b.look("pages")
	b.open("/pages?q=" + url.QueryEscape(`<script>`) + "&host=" + url.QueryEscape(`"><script>`) + "&shape=" + url.QueryEscape(`' onx=`) + "&sort=words&down=1")
	b.look("no-pages")
	b.open("/pages?verdict=near&sort=url")
	b.reload(`document.querySelectorAll("table.list tbody tr").length > 0`)
	b.click(`table.list tbody th a`)
	b.look("page")
	b.click(`a[href^="/compare"]`)
	b.look("compare")
	b.open("/clusters")
	b.look("clusters")
	b.click(`table.list tbody th a`)
	b.look("cluster")
	b.open("/map")
	b.look("map")
	b.open("/similarity")
	b.click(`form[action="/similarity"] button`)
	b.reload(`document.querySelector('input[type="range"]') != null`)
	b.look("similarity")
	b.open("/audit")
	b.click(`form[action="/audit"] button`)
	b.reload(`document.querySelector('a[href^="/audit/"]') != null`)
	b.look("audit")
	b.click(`a[href^="/audit/"]`)
	b.look("finding")

	b.open("/pages?sort=url")
	b.reload(`document.querySelector('a[rel="next"]') != null`) // the list needs more than one page

	// The page must be usable by keyboard alone: the first stop skips the menu, and Enter pauses the
	// crawl.
	b.open("/now")
	b.press(kb.Tab)
	if got := b.eval(`document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop of the keyboard is %q", got)
	}
	b.press(kb.Enter)
	b.press(kb.Tab)
	if got := b.eval(`document.activeElement.innerText`); got != "Pause" {
		t.Errorf("behind the menu the keyboard stops at %q", got)
	}
	b.press(kb.Enter)
	b.waitFor(`document.getElementById("now-state").innerText.startsWith("Paused")`)
	for _, order := range []string{"block", "unblock"} {
		b.click(`button[formaction="/now/` + order + `"]`)
		b.waitFor(`/^` + order + ` /m.test(document.getElementById("now-orders").innerText)`)
	}

	// Without scripts, the lists must work, and the page of the crawl must reload itself.
	b.do(called(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	b.open("/pages?sort=url")
	first := b.text(`table.list tbody th`)
	b.open(got(b, chromedp.Attributes(chromedp.CSS(`a[rel="next"]`)))["href"])
	if second := b.text(`table.list tbody th`); second == first {
		t.Errorf("without script the next part of the list begins like the first, with %q", first)
	}
	b.do(called(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}))

	b.open("/now")
	b.stopping.Store(true)
	b.click(`button[formaction="/now/stop"]`)
	crawl.ends(t)
	if n := site.probed.Load(); n > 0 {
		t.Errorf("what the site wrote ran: its probe was asked for %d times", n)
	}
}

// A hostileWeb is a site that puts code into every field. It records whether the code ran.
type hostileWeb struct {
	*httptest.Server
	probed atomic.Int64
}

// newHostileSite serves some hundred pages, each after a short delay. Some of the pages are
// near-duplicates.
func newHostileSite(t *testing.T) *hostileWeb {
	w := &hostileWeb{}
	mux := http.NewServeMux()
	mux.HandleFunc("/probe", func(http.ResponseWriter, *http.Request) { w.probed.Add(1) })
	mux.HandleFunc("/", func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
			http.NotFound(out, r)
			return
		}
		time.Sleep(5 * time.Millisecond)
		var n int
		fmt.Sscanf(r.URL.Path, "/p%d", &n)
		probe := w.URL + "/probe"
		codes := []string{
			`<script>fetch("` + probe + `");window.OWNED=1</script>`, `"><img src="` + probe + `" onerror="window.OWNED=1">`,
			`' onmouseover='window.OWNED=1' onfocus='window.OWNED=1' autofocus x='`, `</title></style></script><svg onload="window.OWNED=1"><image href="` + probe + `">`,
			`javascript:window.OWNED=1`, `{{.}}<iframe srcdoc="&lt;script&gt;parent.OWNED=1&lt;/script&gt;">`, "שלום \u202e עולם <b>", `<link rel=stylesheet href="` + probe + `"><meta http-equiv=refresh content="0;url=` + probe + `">`,
		}
		code := html.EscapeString(codes[n/3%len(codes)])
		if n%11 == 10 {
			out.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintf(out, `<!doctype html><html lang="%[1]s"><title>%[1]s %[2]d</title><meta name=description content="%[1]s"><meta name=author content="%[1]s"><meta property="og:site_name" content="%[1]s"><link rel=canonical href="/?%[1]s"><h1>%[1]s</h1><main>`, code, n)
		for i := range 60 {
			fmt.Fprintf(out, "<p>Paragraph %d of the story numbered %d says %s to everyone who reads it.</p>", i, n/3, code)
		}
		fmt.Fprintf(out, "<p>And this is the end of version %d.</p></main>", n)
		for i := range 12 {
			fmt.Fprintf(out, `<a href="/p%d">%s</a> <a href="/q%d?%s">q</a> <a href="/p%d">later</a> <a href="javascript:window.OWNED=1">x</a>`, (n*7+i*13)%240, code, (n+i)%20, url.QueryEscape(codes[i%len(codes)]), 1000+(n*11+i)%8000)
		}
	})
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

// A viewedCrawl is a crawl in a separate process, with the URL of its viewer.
type viewedCrawl struct {
	url   string
	cmd   *exec.Cmd
	shown chan string
	ended chan error
	said  *strings.Builder
}

// startViewed starts a crawl with a viewer.
func startViewed(t *testing.T, seed string) *viewedCrawl {
	t.Helper()
	c := startCrawl(t, "--store", filepath.Join(t.TempDir(), "store"), "--delay", "100ms", "--allow-private", "127.0.0.0/8", "--view=0", seed+"/p1")
	select {
	case c.url = <-c.shown:
	case err := <-c.ended:
		t.Fatalf("the crawl ended before it was shown: %v\n%s", err, c.said)
	case <-time.After(patience):
		t.Fatal("the crawl is not shown")
	}
	return c
}

// startCrawl starts a crawl with the given flags. The output in said may be read only after the
// crawl has ended.
func startCrawl(t *testing.T, flags ...string) *viewedCrawl {
	t.Helper()
	c := &viewedCrawl{shown: make(chan string, 1), ended: make(chan error, 1), said: &strings.Builder{}}
	c.cmd = exec.Command("skink", append([]string{"crawl"}, flags...)...)
	said, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Signal(syscall.SIGKILL) })
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			fmt.Fprintln(c.said, lines.Text())
			if _, u, ok := strings.Cut(lines.Text(), "shown at "); ok {
				c.shown <- strings.TrimSuffix(u, "/")
			}
		}
		c.ended <- c.cmd.Wait()
	}()
	return c
}

// ends waits for the end of a crawl that has been told to stop.
func (c *viewedCrawl) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-c.ended:
		if code, ok := err.(*exec.ExitError); !ok || code.ExitCode() != 1 || !strings.Contains(c.said.String(), "continue with") {
			t.Errorf("it ended with %v\n%s", err, c.said)
		}
	case <-time.After(patience):
		t.Error("it does not stop")
	}
}

// A browser controls a browser tab that shows the viewer.
type browser struct {
	t    *testing.T
	ctx  context.Context
	root string
	axe  string // source of axe-core; "" if there is none

	foreign  atomic.Bool // the pages belong to other sites: they may request any URL, and report errors
	stopping atomic.Bool // the server may end before the browser has loaded the last page completely
}

func openBrowser(t *testing.T, root string) *browser {
	t.Helper()
	path, err := render.Find()
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stopTab := chromedp.NewContext(ctx)
	t.Cleanup(stopTab)
	b := &browser{t: t, ctx: ctx, root: root}
	b.do()
	err = chromedp.Listen(ctx, func(event any) {
		if b.foreign.Load() {
			return
		}
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, root+"/") && !strings.HasPrefix(e.Request.URL, "data:") { // the browser's own error page contains data: images
				t.Errorf("the browser asks for %s", e.Request.URL)
			}
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError && !b.stopping.Load() {
				t.Errorf("the console says: %s (%s)", e.Entry.Text, e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			t.Errorf("a script fails: %s", e.ExceptionDetails.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(called(network.Enable, network.EnableParams{}), called(cdplog.Enable, cdp.Empty{}), called(runtime.Enable, cdp.Empty{}))
	if modules := os.Getenv("SKINK_NODE_MODULES"); modules != "" {
		if program, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js")); err == nil {
			b.axe = string(program)
		}
	}
	return b
}

// do runs steps in the tab. The first call creates the tab, which lives as long as the context of
// that call.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.ctx, func() {}
	if len(steps) > 0 {
		ctx, cancel = context.WithTimeout(b.ctx, patience)
	}
	defer cancel()
	if err := chromedp.Do(ctx, append(steps, chromedp.Sleep(0))...); err != nil {
		b.t.Fatal(err)
	}
}

// called converts a command of the DevTools protocol into a step.
func called[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// got runs a step and returns its result.
func got[T any](b *browser, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, step)
	for left(err) { // if the page changed in the meantime, repeat the step on the new page
		time.Sleep(50 * time.Millisecond)
		v, err = chromedp.Run(ctx, step)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// left reports whether a step failed because the page changed during the step, for example after a
// key that follows a link.
func left(err error) bool { return err != nil && strings.Contains(err.Error(), "navigated") }

func (b *browser) open(path string) { b.t.Helper(); b.load(chromedp.Navigate(b.root + path)) }

// load loads a page. The previous page may be reloading itself. Then the browser reports the end of
// that reload, and load tries again.
func (b *browser) load(step chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	err := chromedp.Do(ctx, step)
	for err != nil && strings.Contains(err.Error(), "ERR_ABORTED") {
		err = chromedp.Do(ctx, step)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// press presses a key and waits for the effect.
func (b *browser) press(key string) { b.t.Helper(); b.do(chromedp.KeyEvent(key)) }

// click follows a link or presses a button, and waits for the next page.
func (b *browser) click(selector string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil && !strings.Contains(err.Error(), "net::ERR") {
		b.t.Fatalf("click %s: %v", selector, err)
	}
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return got(b, chromedp.TextContent(chromedp.CSS(selector)))
}

// eval returns the value of a JavaScript expression as a string.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	return got(b, chromedp.Evaluate[string]("String("+expression+")"))
}

// is reports whether a JavaScript expression is true. It returns false if the evaluation fails
// because the page is incomplete.
func (b *browser) is(expression string) bool {
	b.t.Helper()
	return b.eval("(() => { try { return Boolean("+expression+") } catch { return false } })()") == "true"
}

// waitFor waits until a JavaScript expression is true.
func (b *browser) waitFor(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if b.is(expression) {
			return
		}
	}
	b.t.Fatalf("%s never came:\n%s", expression, b.eval("document.body.innerText"))
}

// reload reloads the page until a JavaScript expression is true.
func (b *browser) reload(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if b.is(expression) {
			return
		}
		b.load(chromedp.Reload())
	}
	b.t.Fatalf("%s never came:\n%s", expression, b.eval("document.body.innerText"))
}

// look checks a page at three widths, light and dark: its content must fit, nothing in it may have
// run, no column of a table may be hidden, and it must be accessible.
func (b *browser) look(name string) {
	b.t.Helper()
	if got := b.eval("window.OWNED"); got != "undefined" {
		b.t.Errorf("%s: what the site wrote ran", name)
	}
	if got := b.eval(`document.querySelectorAll("main script, main iframe, main img, main style, main link, main meta, main object, main [onerror], main [onload], main [onmouseover], main [style], main a[href^='javascript']").length`); got != "0" {
		b.t.Errorf("%s: %s elements that the site wrote", name, got)
	}
	for _, w := range []struct {
		width, height int64
		scheme        string
	}{{1400, 1000, "light"}, {900, 1000, "dark"}, {400, 800, "light"}} {
		b.do(chromedp.EmulateViewport(w.width, w.height), called(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.scheme}}}))
		if got := b.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(w.width) {
			b.t.Errorf("%s at %d: the page is %s wide", name, w.width, got)
		}
		if got := b.eval(`[...document.querySelectorAll(".scroll > table:not(.findings) :is(td, th)")].filter(e => getComputedStyle(e).display == "none").length`); got != "0" {
			b.t.Errorf("%s at %d: %s cells are hidden", name, w.width, got)
		}
		b.barriers(fmt.Sprintf("%s at %d, %s", name, w.width, w.scheme))
		if shots := os.Getenv("SKINK_SHOTS"); shots != "" {
			picture := got(b, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(shots, fmt.Sprintf("%s-%d-%s.png", name, w.width, w.scheme)), picture, 0o666); err != nil {
				b.t.Error(err)
			}
		}
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
}

// barriers runs axe-core to find accessibility problems.
func (b *browser) barriers(what string) {
	b.t.Helper()
	if b.axe == "" {
		return
	}
	b.do(chromedp.Evaluate[chromedp.Void](b.axe))
	found := got(b, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any.concat(n.all)[0] || {message: ""}).message).join(" | "))))`, chromedp.EvalAwaitPromise))
	var all []string
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range all {
		b.t.Errorf("%s: %s", what, v)
	}
}

func quoteJS(s string) string {
	b, _ := json.Marshal(s) // a string can always be marshalled
	return string(b)
}

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPagesInBrowser opens the pages of the view and the HTML reports in a browser, for a store with
// right-to-left text, long URLs and long titles. It checks what needs a browser: the fit at each
// width, keys, folding, the widths of bars, and print.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	dir := t.TempDir()
	writeMixedPages(t, filepath.Join(dir, "pages"))
	segments := "[segments]\n\"מדריך\" = \"^/hebrew\"\n\"A long name of a segment, which must not make any page wider\" = \"^/[a-m]\"\n"
	if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(segments), 0o666); err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, "crawl", "--quiet", "--store", "store", "--config", "skink.toml", "pages")
	runIn(t, dir, "report", "--store", "store", "--format", "html", "--out", "duplicates.html")
	runIn(t, dir, "report", "--store", "store", "--about", "audit", "--format", "html", "--out", "audit.html")
	runIn(t, dir, "compare", "--html", "compared.html", "pages/long-a.html", "pages/long-b.html")
	b := openBrowser(t, startView(t, dir))

	page := func(name string) string { return "http://pages.localhost/" + name }
	path := func(name string) string { return "/page/" + url.PathEscape(page(name)) }
	b.open("/pages")
	b.reload(`document.querySelectorAll("table.list tbody tr").length > 10`)
	b.look("pages-mixed")
	b.open("/overview")
	b.reload(`document.querySelector(".tiles") != null`)
	b.look("overview-mixed")
	b.open("/now")
	b.look("now-mixed")
	const columns = `new Set([...document.querySelectorAll(".columns > div")].map(e => e.getBoundingClientRect().left)).size`
	if got := b.eval(columns); got != "2" {
		t.Errorf("the page Now has %s columns at 1400 pixels, want 2", got)
	}
	b.do(chromedp.EmulateViewport(400, 800))
	if got := b.eval(columns); got != "1" {
		t.Errorf("the page Now has %s columns at 400 pixels, want 1", got)
	}
	b.open("/clusters")
	b.look("clusters-mixed")
	b.click(`table.list tbody th a`)
	b.look("cluster-mixed")
	b.open("/map")
	b.reload(`document.querySelector("svg.tree .arc") != null`)
	b.eval(`document.querySelector("main details").open = true`)
	b.look("map-mixed")
	for _, name := range []string{"hebrew.html", "gone.html", strings.Repeat("a-long-path-without-spaces-", 8) + ".html"} {
		b.open(path(name))
		b.reload(`!document.querySelector("main").innerText.includes("are being read")`)
		b.look(name[:6] + "-mixed")
	}
	b.open("/audit/nearly")
	b.reload(`document.querySelector("table.findings") != null`)
	b.look("nearly-mixed")
	b.open("/similarity")
	b.reload(`document.querySelector("svg.line") != null`) // the view compares few pages at once
	b.look("similarity-mixed")
	b.open("/audit")
	b.look("audit-mixed")

	b.open("/compare?a=" + url.QueryEscape(page("long-a.html")) + "&b=" + url.QueryEscape(page("long-b.html")))
	b.look("compare-mixed")
	for _, c := range []struct{ key, want string }{{"n", "d1"}, {"n", "d2"}, {"n", "d3"}, {"p", "d2"}, {"p", "d1"}, {"p", "d1"}} {
		b.press(c.key)
		if got := b.eval("document.activeElement.id"); got != c.want {
			t.Errorf("the key %s leads to %q, want %q", c.key, got, c.want)
		}
		if !b.is(`(r => r.top >= 0 && r.bottom <= innerHeight)(document.activeElement.getBoundingClientRect())`) {
			t.Errorf("the key %s leads to a difference that is not on the screen", c.key)
		}
	}
	const unfolded = `document.querySelector("details.fold .pair").checkVisibility({contentVisibilityAuto: true})`
	if b.is(unfolded) {
		t.Error("equal blocks are not folded")
	}
	b.do(chromedp.Click(chromedp.CSS("details.fold > summary")))
	b.waitFor(unfolded)

	var doc struct{ Words int }
	if err := json.Unmarshal(runIn(t, dir, "extract", "--json", "pages/hebrew.html"), &doc); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(doc.Words)
	b.open(path("hebrew.html"))
	if got := b.eval(`[...document.querySelectorAll("dt")].find(e => e.innerText == "Words").nextSibling.innerText`); !strings.HasPrefix(got, want+",") {
		t.Errorf("the page has %q, and skink extract counts %s words", got, want)
	}
	b.open("/pages?q=hebrew.html")
	if got := b.eval(`document.querySelector("table.list tbody tr").cells[3].innerText`); got != want {
		t.Errorf("the list has %s words, and skink extract counts %s", got, want)
	}
	b.open("/compare?a=" + url.QueryEscape(page("hebrew.html")) + "&b=" + url.QueryEscape(page("hebrew-copy.html")))
	if got := b.eval(`document.querySelector("dl.two dd").innerText`); !strings.Contains(got, want+" words") {
		t.Errorf("the comparison has %q, and skink extract counts %s words", got, want)
	}

	// On paper there are no menus and forms, and all texts.
	b.open("/compare?a=" + url.QueryEscape(page("long-a.html")) + "&b=" + url.QueryEscape(page("long-b.html")))
	b.do(called(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	b.waitFor(unfolded) // the browser applies the style for print with the next frame
	if !b.is(`getComputedStyle(document.querySelector("nav")).display == "none" && getComputedStyle(document.body).color == "rgb(0, 0, 0)" && getComputedStyle(document.documentElement).colorScheme == "light"`) {
		t.Error("the menu is printed, or the text is not black")
	}
	b.do(called(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}))

	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer files.Close()
	b = openBrowser(t, files.URL)
	b.foreign.Store(true) // the browser also asks for an icon
	for _, name := range []string{"duplicates", "audit", "compared"} {
		b.open("/" + name + ".html")
		b.look(name)
	}
	b.open("/duplicates.html")
	for _, width := range []int64{400, 900, 1400} {
		b.do(chromedp.EmulateViewport(width, 900))
		got := b.eval(`JSON.stringify([...document.querySelectorAll("td.share")].map(cell => {
			const all = cell.querySelector("svg").getBoundingClientRect().width;
			const sum = [...cell.querySelectorAll("rect")].reduce((n, r) => n + r.getBoundingClientRect().width, 0);
			return [all, 100 * sum / all, parseFloat(cell.innerText)];
		}))`)
		var bars [][3]float64 // width in pixels, percentage that is coloured, percentage in words
		if err := json.Unmarshal([]byte(got), &bars); err != nil || len(bars) == 0 {
			t.Fatalf("bars: %s, %v", got, err)
		}
		for _, bar := range bars {
			if bar[0] != 144 || bar[1] < bar[2]-1 || bar[1] > bar[2]+1 {
				t.Errorf("at %d: a bar of %v pixels for %v%% is coloured to %v%%", width, bar[0], bar[2], bar[1])
			}
		}
	}
}

// startView starts skink view for the store in dir, and returns its address.
func startView(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("skink", "view", "--store", "store", "--listen", "0")
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if _, u, ok := strings.Cut(lines.Text(), "shown at "); ok {
			return strings.TrimSuffix(u, "/")
		}
	}
	t.Fatal("skink view prints no address")
	return ""
}

// writeMixedPages writes pages to a folder: Hebrew and Arabic pages with copies, a page with a long
// URL and a long title, two long texts with three differences, and pages with the same menu that
// are similar, but not duplicates.
func writeMixedPages(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	hebrew := strings.Fields("שלום עולם זהו מאמר על הים ועל הערפל שמכסה את החוף בכל בוקר הדייגים יוצאים לפני הזריחה")
	arabic := strings.Fields("السلام عليكم هذه مقالة عن البحر والضباب الذي يغطي الساحل كل صباح يخرج الصيادون قبل الفجر")
	english := strings.Fields("a well-known fog — so they say — covers the coast each morning and fishermen leave before dawn, 2-3 hours early")
	paragraphs := func(words []string, seed uint64, n int) (all []string) {
		random := rand.New(rand.NewPCG(seed, 1))
		for range n {
			var p []string
			for range 40 {
				p = append(p, words[random.IntN(len(words))])
			}
			all = append(all, strings.Join(p, " ")+".")
		}
		return all
	}
	var links strings.Builder
	write := func(name, direction, title string, paragraphs []string) {
		text := fmt.Sprintf(`<!doctype html><html dir="%s"><meta charset="utf-8"><title>%s</title><nav><a href="/index.html">Home</a> <a href="/hebrew.html">About</a></nav><main><h1>%[2]s</h1><p>%s</p></main></html>`,
			direction, title, strings.Join(paragraphs, "</p><p>"))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&links, `<a href="%s">%s</a> `, name, title)
	}
	write("hebrew.html", "rtl", "שלום עולם: הערפל בים (2024)", append(paragraphs(hebrew, 1, 12), paragraphs(english, 1, 1)...))
	write("hebrew-copy.html", "rtl", "שלום עולם: הערפל בים (2025)", append(paragraphs(hebrew, 1, 12), paragraphs(english, 1, 1)...))
	write("folder/ערפל.html", "rtl", "מאמר אחר", paragraphs(hebrew, 5, 9))
	write("arabic.html", "rtl", "السلام عليكم: الضباب", paragraphs(arabic, 2, 9))
	write("arabic-copy.html", "rtl", "السلام عليكم: الضباب", append(paragraphs(arabic, 2, 9), "سطر جديد واحد"))
	write(strings.Repeat("a-long-path-without-spaces-", 8)+".html", "ltr", strings.Repeat("Alongtitlewithoutspaces", 9), paragraphs(english, 3, 9))
	long := paragraphs(english, 4, 40)
	write("long-a.html", "ltr", "A long text", long)
	long[5], long[20], long[33] = long[5]+" A new sentence.", "Here are other words, of which none was in the first text.", strings.ToUpper(long[33])+" The end."
	write("long-b.html", "ltr", "A long text", long)
	for i := range uint64(6) {
		write(fmt.Sprintf("town-%d.html", i), "ltr", fmt.Sprint("A plumber in town ", i), append(paragraphs(english, 7, 9), paragraphs(english, 100+i, 3)...))
	}
	write("thin.html", "ltr", "Little text", []string{"A few words."})
	write("index.html", "ltr", "Start", []string{links.String() + `<a href="gone.html">gone</a>`})
}

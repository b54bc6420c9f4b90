package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"skink/warc"
)

// A player shows archives in ReplayWeb.page, which runs in a real browser.
type player struct {
	*httptest.Server
}

// newPlayer returns a player of the archives in dir. It skips the test if there is no browser or no
// ReplayWeb.page.
func newPlayer(t *testing.T, dir string) *player {
	t.Helper()
	needBrowser(t)
	program := filepath.Join(os.Getenv("SKINK_NODE_MODULES"), "replaywebpage")
	if _, err := os.Stat(filepath.Join(program, "sw.js")); err != nil {
		t.Skip("there is no player of archives: SKINK_NODE_MODULES names no folder with the npm package replaywebpage")
	}
	mux := http.NewServeMux()
	mux.Handle("/replay/", http.StripPrefix("/replay/", http.FileServer(http.Dir(program))))
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/show/{file}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><style>body { margin: 0 } replay-web-page { display: block; width: 100vw; height: 100vh }</style>
<script src="/replay/ui.js"></script><replay-web-page embed="replayonly" replayBase="/replay/" source="/%s" url="%s" ts="%s"></replay-web-page>`, r.PathValue("file"), r.FormValue("url"), r.FormValue("ts"))
	})
	p := &player{httptest.NewServer(mux)}
	t.Cleanup(p.Close)
	return p
}

func (p *player) browser(t *testing.T, url string) *browser {
	t.Helper()
	b := openBrowser(t, url)
	b.foreign.Store(true)
	b.do(chromedp.EmulateViewport(900, 700), called(network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}))
	return b
}

// original returns a picture of a page of a dressedSite.
func (p *player) original(t *testing.T, page string) image.Image {
	t.Helper()
	b := p.browser(t, page)
	b.load(chromedp.Navigate(page))
	b.waitFor(`document.getElementById("drawn") && document.fonts.status == "loaded"`)
	return pictureOf(t, b)
}

// shows opens the capture of a page at the time ts, or the latest one if ts is "". It returns a picture
// as soon as it equals want. If it never does, shows returns the last picture: after a while, or if
// patient is false, when the picture no longer changes.
func (p *player) shows(t *testing.T, file, page, ts string, want image.Image, patient bool) image.Image {
	t.Helper()
	b := p.browser(t, p.URL)
	b.load(chromedp.Navigate(p.URL + "/show/" + file + "?" + url.Values{"url": {page}, "ts": {ts}}.Encode()))
	got := pictureOf(t, b)
	still := 0 // number of successive screenshots without a change
	for until := time.Now().Add(patience); time.Now().Before(until) && difference(got, want) > 0 && (patient || still < 15); time.Sleep(200 * time.Millisecond) {
		last := got
		got = pictureOf(t, b)
		if still++; difference(got, last) > 0 {
			still = 0
		}
	}
	return got
}

// TestReplayLooksTheSame opens a page of a crawl with --requisites in a player, while the site's
// servers are stopped. The screenshot must be the same as one of the live page. Without --requisites,
// the screenshot must differ.
func TestReplayLooksTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	player := newPlayer(t, dir)
	d := newDressedSite(t, 5)
	if font() == "" {
		t.Log("the page is tried without a font of its own, because this machine has none")
	}
	page := d.site.URL + "/page/0"
	for _, c := range []struct {
		store string
		more  []string
	}{{"bare", nil}, {"dressed", []string{"--requisites"}}} {
		runIn(t, dir, append([]string{"crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--store", c.store, "--warc", c.store + "-archive", page}, c.more...)...)
		runIn(t, dir, "export", "--store", c.store, "--format", "wacz", "--out", c.store+".wacz")
	}
	want := player.original(t, page)
	keep(t, "original.png", want)
	d.site.Close()
	d.cdn.Close()
	for _, c := range []struct {
		store string
		same  bool
	}{{"dressed", true}, {"bare", false}} {
		got := player.shows(t, c.store+".wacz", page, "", want, c.same)
		keep(t, c.store+".png", got)
		if differs := difference(got, want); (differs == 0) != c.same {
			t.Errorf("%s: %.3f%% of the picture differ", c.store, 100*differs)
		}
	}
}

// TestReplayAfterVisits crawls a site twice, with SKINK_LONG=full three times, and changes it between the crawls. In a player, each
// capture of each page must look as the page looked then, from a WACZ file and from the archive's files
// with their index. The first crawl of one store writes no
// archive, so its second crawl must not be answered with status 304, which brings no body. Each crawl is killed once,
// and with SKINK_LONG=full five times.
func TestReplayAfterVisits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		tagged   bool
		archived int // number of the first crawl that writes an archive
	}{{"tagged", true, 0}, {"plain", false, 0}, {"late", true, 1}} {
		t.Run(c.name, func(t *testing.T) {
			if long(t) == full {
				t.Parallel() // a parallel subtest would begin last
			}
			if c.name != "tagged" && long(t) != full { // other tests check the records of the other crawls
				t.Skip("SKINK_LONG=full runs it")
			}
			dir, kills, visits := t.TempDir(), 1, 2
			if long(t) == full {
				kills, visits = 5, 3
			}
			player := newPlayer(t, dir)
			d := newDressedSite(t, 3)
			d.tagged.Store(c.tagged)
			pages := []string{d.site.URL + "/page/0", d.site.URL + "/page/1"}
			looks := map[string][]image.Image{}
			for visit := range visits {
				d.edition.Store(int32(visit))
				args := []string{"crawl", "--delay", "100ms", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--requisites=" + fmt.Sprint(visit >= c.archived), "--recrawl", "0s"}
				if visit >= c.archived {
					args = append(args, "--warc", "archive")
				}
				runKilled(t, dir, kills, append(args, pages[0])...)
				for _, page := range pages {
					if visit >= c.archived {
						looks[page] = append(looks[page], player.original(t, page))
					}
				}
				time.Sleep(3 * time.Second) // a player takes the file whose capture is nearest in time
			}
			runIn(t, dir, "export", "--format", "wacz", "--out", "site.wacz")
			mergeIndexes(t, filepath.Join(dir, "archive"), filepath.Join(dir, "merged"))
			d.site.Close()
			d.cdn.Close()
			readBack(t, dir)
			for _, page := range pages {
				times := captures(t, filepath.Join(dir, "archive"), page)
				if len(times) != len(looks[page]) {
					t.Fatalf("%s has captures at %q, want %d", page, times, len(looks[page]))
				}
				for i, ts := range times {
					for _, source := range []string{"site.wacz", "merged%2Fall.cdxj"} {
						if source != "site.wacz" && i != 1 && long(t) != full { // the second capture needs the first
							continue
						}
						got := player.shows(t, source, page, ts, looks[page][i], true)
						keep(t, fmt.Sprintf("%s-%d-%d%s.png", c.name, slices.Index(pages, page), i, filepath.Ext(source)), got)
						if differs := difference(got, looks[page][i]); differs > 0 {
							t.Errorf("%s, capture %d of %s: %.3f%% of the picture differ", source, i, page, 100*differs)
						}
					}
				}
			}
		})
	}
}

// TestReplayOfApplication crawls an application, whose pages scripts fill, twice, and with SKINK_LONG=full three
// times with five kills in each crawl. Only the data that the scripts load change; the server says that the other files
// are as they were. Each capture must look as the page looked then, from a WACZ file and from the
// archive's files with their index. A crawl may look again at a page that has changed.
func TestReplayOfApplication(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	player := newPlayer(t, dir)
	app := newWebApp(t, "react")
	var looks []image.Image
	var begun []string // times at which the crawls began
	visits, kills := 2, 0
	if os.Getenv("SKINK_LONG") == string(full) {
		visits, kills = 3, 5
	}
	for visit := range visits {
		app.edition.Store(int32(visit))
		b := player.browser(t, app.URL)
		b.load(chromedp.Navigate(app.URL + "/"))
		b.waitFor(`document.querySelector("#root h1, #app h1, h1")`)
		looks = append(looks, pictureOf(t, b))
		begun = append(begun, time.Now().UTC().Format("20060102150405"))
		runKilled(t, dir, kills, "crawl", "--delay", "0", "--render", "auto", "--warc", "archive", "--requisites", "--recrawl", "0s", app.URL)
		time.Sleep(2 * time.Second)
	}
	if difference(looks[0], looks[1]) == 0 {
		t.Error("the page looks the same after its data have changed")
	}
	runIn(t, dir, "export", "--format", "wacz", "--out", "app.wacz")
	mergeIndexes(t, filepath.Join(dir, "archive"), filepath.Join(dir, "merged"))
	app.Close()
	readBack(t, dir)
	times := captures(t, filepath.Join(dir, "archive"), app.URL+"/")
	seen := map[int]bool{}
	for _, ts := range times {
		i := len(begun) - 1
		for begun[i] > ts {
			i--
		}
		seen[i] = true
		for _, source := range []string{"app.wacz", "merged%2Fall.cdxj"} {
			if source != "app.wacz" && kills == 0 && i == 0 {
				continue
			}
			got := player.shows(t, source, app.URL+"/", ts, looks[i], true)
			keep(t, fmt.Sprintf("app-%s%s.png", ts, filepath.Ext(source)), got)
			if differs := difference(got, looks[i]); differs > 0 {
				t.Errorf("%s, capture %s of crawl %d: %.3f%% of the picture differ", source, ts, i, 100*differs)
			}
		}
	}
	if len(seen) < visits {
		t.Errorf("the page has captures at %q, and the crawls began at %q", times, begun)
	}
}

// readBack checks that a crawl from the folder archive gives the pages, texts and verdicts of the store in dir,
// and that warcio.js can read the archive.
func readBack(t *testing.T, dir string) {
	t.Helper()
	runIn(t, dir, "crawl", "--quiet", "--store", "again", "--from", "archive")
	if got, want := eachJudged(t, dir, "again"), eachJudged(t, dir, "skink-data"); !slices.Equal(got, want) {
		t.Errorf("the archive gives %d pages, and the store has %d; the first difference:\n%s", len(got), len(want), firstDifference(strings.Join(got, "\n"), strings.Join(want, "\n")))
	}
	t.Run("other reader", func(t *testing.T) { readByOther(t, otherReader(t), filepath.Join(dir, "archive")) })
}

// TestConfirmedOnlyIfArchived checks that a crawl sends an ETag only if its archive has the response:
// not after a crawl without an archive, even if a run without one was killed, and not if the archive
// was deleted.
func TestConfirmedOnlyIfArchived(t *testing.T) {
	t.Parallel()
	const pages = 30
	d := newDressedSite(t, pages)
	d.tagged.Store(true)
	dir := t.TempDir()
	archive := filepath.Join(dir, "archive")
	args := func(more ...string) []string {
		return append([]string{"crawl", "--sitemaps", "off", "--allow-private", "127.0.0.1", d.site.URL + "/page/0"}, more...)
	}
	again := func(when string, whole int) {
		t.Helper()
		before := kindsOf(t, archive)
		runIn(t, dir, args("--delay", "0", "--recrawl", "0s", "--warc", "archive")...)
		after := kindsOf(t, archive)
		for kind, want := range map[string]int{"text/html 200": whole, "warc/revisit 200": pages - whole} {
			if got := after[kind] - before[kind]; got != want || len(after) > 2 {
				t.Errorf("%s, the archive gets %d pages as %s, want %d: %v", when, got, kind, want, after)
			}
		}
	}
	runIn(t, dir, args("--delay", "0")...)
	killed := exec.Command("skink", args("--delay", "300ms", "--recrawl", "0s")...)
	killed.Dir = dir
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(patience); d.times("site/page/1") < 2 && time.Now().Before(until); time.Sleep(time.Millisecond) {
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	runIn(t, dir, args("--delay", "0", "--recrawl", "0s", "--warc", "archive")...)
	resumed := kindsOf(t, archive)
	if n := resumed["text/html 200"]; n == 0 || n == pages || len(resumed) > 1 {
		t.Errorf("after a run without an archive was killed, the archive gets %v, want only text/html 200", resumed)
	}
	again("after a run that archived some pages", pages-resumed["text/html 200"])
	if err := os.RemoveAll(archive); err != nil {
		t.Fatal(err)
	}
	again("after the archive was deleted", pages)
	again("after a run that archived all pages", 0)
}

// kindsOf counts the pages of a dressedSite in an archive by their media type and status in the index.
func kindsOf(t *testing.T, archive string) map[string]int {
	t.Helper()
	kinds := map[string]int{}
	files, _ := filepath.Glob(filepath.Join(archive, "*.warc.gz"))
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := warc.IndexOf(f, name, func(d *warc.Damage) { t.Error(d) })
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.URL, "/page/") {
				kinds[fmt.Sprint(e.MIME, " ", e.Status)]++
			}
		}
	}
	return kinds
}

// mergeIndexes copies an archive to a folder, and merges its indexes there into all.cdxj.
func mergeIndexes(t *testing.T, archive, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(archive, "*.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.SplitAfter(string(text), "\n")...)
	}
	slices.Sort(lines)
	if err := os.CopyFS(to, os.DirFS(archive)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "all.cdxj"), []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// captures returns the times of the captures of a page in the indexes of an archive, in order.
func captures(t *testing.T, dir, page string) (times []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	capture := regexp.MustCompile(`(?m)^\S+ (\d{14}) .*"url":"` + regexp.QuoteMeta(page) + `"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range capture.FindAllStringSubmatch(string(text), -1) {
			times = append(times, m[1])
		}
	}
	slices.Sort(times)
	return times
}

func pictureOf(t *testing.T, b *browser) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(got(b, chromedp.CaptureScreenshot())))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// difference returns the share of pixels that differ between two pictures, from 0 to 1.
func difference(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n, r := 0, a.Bounds()
	for x := r.Min.X; x < r.Max.X; x++ {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			if color.RGBAModel.Convert(a.At(x, y)) != color.RGBAModel.Convert(b.At(x, y)) {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}

// runKilled runs a command, kills it several times at random moments, and continues it each time. It stops when
// the command has ended, because a further visit would make more captures.
func runKilled(t *testing.T, dir string, kills int, args ...string) {
	t.Helper()
	killed := 0
	defer func() { t.Logf("killed %d times", killed) }()
	for range kills {
		cmd := exec.Command("skink", args...)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(300+rand.IntN(900))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		switch stopped := timer.Stop(); {
		case err == nil:
			return
		case stopped:
			t.Fatal(err)
		}
		killed++
	}
	runIn(t, dir, args...)
}

// keep writes a picture into the folder that SKINK_PICTURES names, so that people can look at it.
func keep(t *testing.T, name string, img image.Image) {
	t.Helper()
	dir := os.Getenv("SKINK_PICTURES")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}

package e2e

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skink/dedup"
	"skink/warc"
)

// A mirroredSite is one site on two hosts. Its pages have only relative URLs, so both hosts serve equal
// bytes.
type mirroredSite struct {
	hosts [2]*httptest.Server
	asked atomic.Int64
}

const mirroredPages = 8

func newMirroredSite(t *testing.T) *mirroredSite {
	t.Helper()
	m := &mirroredSite{}
	words := func(n int) string {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		var b strings.Builder
		for range 600 {
			fmt.Fprintf(&b, "word%d ", r.IntN(5000))
		}
		return b.String()
	}
	noise := make([]byte, 30_000)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = byte('!' + r.IntN(80))
	}
	files := map[string]string{
		"/a.css":   "h1 { color: #063 } .box { width: 300px; height: 200px; background: url(box.png) } /* " + strings.ReplaceAll(string(noise), "*/", "") + " */",
		"/box.png": picture(300, 200, color.RGBA{200, 30, 30, 255}),
		"/app.js":  "document.body.insertAdjacentHTML('beforeend', '<p id=drawn>This line comes from a script.</p>') // " + string(noise),
	}
	for n := range mirroredPages {
		next := fmt.Sprintf("<a href=/page/%d>next</a>", (n+1)%mirroredPages)
		files[fmt.Sprintf("/page/%d", n)] = fmt.Sprintf("<!doctype html><title>Page %d</title><link rel=stylesheet href=/a.css><h1>Page %d</h1><div class=box></div><p>%s</p>%s<script src=/app.js></script>", n, n, words(n), next)
	}
	types := map[string]string{"": "text/html", ".txt": "text/plain", ".css": "text/css", ".js": "text/javascript"}
	for i := range m.hosts {
		m.hosts[i] = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := files[r.URL.Path]
			if r.URL.Path == "/robots.txt" && i == 0 {
				body, ok = "User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n", true
			}
			if !ok {
				http.NotFound(w, r)
				return
			}
			m.asked.Add(1)
			if r.Header.Get("X-Token") != "" {
				w.Header().Set("X-Member", "yes")
			}
			w.Header().Set("Content-Type", types[filepath.Ext(r.URL.Path)])
			w.Header().Set("ETag", fmt.Sprintf("%q", dedup.HashOf([]byte(body))))
			http.ServeContent(w, r, r.URL.Path, time.Time{}, strings.NewReader(body))
		}))
		t.Cleanup(m.hosts[i].Close)
	}
	return m
}

func (m *mirroredSite) crawl(more ...string) []string {
	return append([]string{"crawl", "--sitemaps", "off", "--requisites", "--parallel", "1", "--allow-private", "127.0.0.1", m.hosts[0].URL + "/page/0", m.hosts[1].URL + "/page/0"}, more...)
}

// TestEqualBytesAreStoredOnce crawls a site on two hosts, with and without --warc-revisits off. The
// archives must give equal verdicts to crawl --from and to dedup, as must the WACZ file without the pages
// of the first host, and the one of a crawl that was killed.
func TestEqualBytesAreStoredOnce(t *testing.T) {
	long(t)
	t.Parallel()
	dir := t.TempDir()
	m := newMirroredSite(t)
	run := func(args ...string) string { t.Helper(); return string(runIn(t, dir, args...)) }
	for _, c := range []string{"on", "off"} {
		run(m.crawl("--delay", "0", "--store", c, "--warc", c+"-archive", "--warc-revisits", c)...)
	}
	killed := exec.Command("skink", m.crawl("--delay", "20ms", "--store", "killed", "--warc", "killed-archive")...)
	killed.Dir = dir
	before := m.asked.Load()
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(patience); m.asked.Load() < before+mirroredPages+5 && time.Now().Before(until); time.Sleep(time.Millisecond) {
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	run(m.crawl("--delay", "0", "--store", "killed", "--warc", "killed-archive")...)

	const copies = mirroredPages + 2 // the second host's pages, its style sheet and its script; its picture is shorter than a revisit record
	const again = 6                  // these files of both hosts, which are requested again after the pages
	for name, want := range map[string]int{"on": copies + again, "off": again, "killed": copies + again} {
		if got := revisitsIn(t, filepath.Join(dir, name+"-archive")); got != want {
			t.Errorf("%s: the archive has %d revisit records, want %d", name, got, want)
		}
	}
	if on, off := sizeOf(t, filepath.Join(dir, "on-archive")), sizeOf(t, filepath.Join(dir, "off-archive")); on > off*7/10 {
		t.Errorf("the archive has %d bytes with revisits, and %d without", on, off)
	}
	verdicts := func(store string) string { t.Helper(); return judgedIn(t, dir, store) }
	anyHost := func(text string) string { // the first of both hosts whose page is judged leads
		lines := strings.Split(strings.NewReplacer(m.hosts[0].URL, "HOST", m.hosts[1].URL, "HOST").Replace(text), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	want := anyHost(verdicts("off"))
	for _, c := range []string{"on", "off", "killed"} {
		if got := anyHost(verdicts(c)); got != want {
			t.Errorf("%s: the verdicts of the crawl are %s, want %s", c, got, want)
		}
		run("export", "--store", c, "--format", "wacz", "--out", c+".wacz")
		for _, from := range []string{c + "-archive", c + ".wacz"} {
			again := "from-" + strings.NewReplacer("-", "", ".", "").Replace(from)
			run("crawl", "--store", again, "--from", from)
			if got, want := verdicts(again), verdicts(c); got != want {
				t.Errorf("--from %s: the verdicts are %s, want %s", from, got, want)
			}
		}
	}
	for _, c := range []string{"on", "off"} {
		run("dedup", "--unique", c+"-unique.warc", "--duplicates", c+"-duplicates.warc", c+"-archive")
	}
	for _, kept := range []string{"unique", "duplicates"} {
		for _, c := range []string{"on", "off"} {
			run("crawl", "--store", "read-"+c+"-"+kept, "--from", c+"-"+kept+".warc")
		}
		if got, want := anyHost(verdicts("read-on-"+kept)), anyHost(verdicts("read-off-"+kept)); got != want || got == "" {
			t.Errorf("the %s records of dedup have the pages %.300s, want %.300s", kept, got, want)
		}
	}

	run("crawl", "--store", "signals", "--warc", "signals-archive", "--delay", "0", "--allow-private", "127.0.0.1", m.hosts[0].URL+"/page/0")
	run("crawl", "--store", "signals", "--add", "--warc", "signals-archive", "--delay", "0", "--allow-private", "127.0.0.1", m.hosts[1].URL+"/page/0")
	run("export", "--store", "signals", "--format", "wacz", "--without", "ai-train=no", "--out", "signals.wacz")
	run("crawl", "--store", "from-signals", "--from", "signals.wacz")
	if got := verdicts("from-signals"); strings.Contains(got, m.hosts[0].URL) || strings.Count(got, m.hosts[1].URL) != mirroredPages {
		t.Errorf("without the pages of %s, the WACZ file has the pages %s", m.hosts[0].URL, got)
	}

	if err := os.RemoveAll(filepath.Join(dir, "on-archive")); err != nil {
		t.Fatal(err)
	}
	run(m.crawl("--delay", "0", "--store", "on", "--warc", "on-archive", "--recrawl", "0s")...)
	if got := revisitsIn(t, filepath.Join(dir, "on-archive")); got != copies {
		t.Errorf("after the archive was deleted, the next one has %d revisit records, want %d", got, copies)
	}
}

// judgedIn returns the URLs, verdicts, leaders and texts of the pages of a store, in the order of the URLs.
func judgedIn(t *testing.T, dir, store string) string {
	t.Helper()
	return strings.Join(eachJudged(t, dir, store), "\n")
}

// eachJudged returns the pages of judgedIn. More flags of the export may follow.
func eachJudged(t *testing.T, dir, store string, more ...string) (all []string) {
	t.Helper()
	for line := range bytes.Lines(runIn(t, dir, append([]string{"export", "--store", store, "--include", "all"}, more...)...)) {
		var d struct{ URL, Verdict, Duplicate_of, Text string }
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(d))
	}
	slices.Sort(all)
	return all
}

// TestReferToOtherFolder crawls a site whose responses are in an archive of another crawl. The new archive
// refers to them, also if its store has only read that archive, so that the server answers with status
// 304. A WACZ file of it contains everything.
func TestReferToOtherFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMirroredSite(t)
	const files, again = mirroredPages + 2, 3 // the style sheet, its picture and the script are requested once more after the pages
	crawl := func(store string, more ...string) {
		t.Helper()
		runIn(t, dir, append([]string{"crawl", "--sitemaps", "off", "--requisites", "--delay", "0", "--allow-private", "127.0.0.1", "--store", store, "--warc", store + "-archive"}, more...)...)
	}
	crawl("first", m.hosts[0].URL+"/page/0")
	crawl("copied", m.hosts[0].URL+"/page/0", "--warc-refers", "first-archive")
	runIn(t, dir, "crawl", "--store", "confirmed", "--from", "first-archive")
	crawl("confirmed", m.hosts[0].URL+"/page/0", "--add", "--recrawl", "0s", "--warc-refers", "first-archive")
	for name, confirmed := range map[string]int{"copied": 0, "confirmed": mirroredPages} {
		kinds := map[string]int{}
		for _, e := range entriesOf(t, filepath.Join(dir, name+"-archive")) {
			if e.MIME == "warc/revisit" {
				kinds["revisit"]++
			} else if strings.Contains(e.URL, "/page/") {
				kinds["page"]++
			}
		}
		if kinds["page"] > 0 || confirmed == 0 && kinds["revisit"] != files+again || kinds["revisit"] < confirmed {
			t.Errorf("%s: the archive has %v, want only revisit records", name, kinds)
		}
		runIn(t, dir, "export", "--store", name, "--format", "wacz", "--warc-refers", "first-archive", "--out", name+".wacz")
		runIn(t, dir, "crawl", "--store", "from-"+name, "--from", name+".wacz")
		if got, want := judgedIn(t, dir, "from-"+name), judgedIn(t, dir, "first"); got != want {
			t.Errorf("%s: the WACZ file has the pages %.300s, want %.300s", name, got, want)
		}
	}
	runIn(t, dir, "crawl", "--store", "both", "--from", "copied-archive", "--from", "first-archive")
	if got, want := judgedIn(t, dir, "both"), judgedIn(t, dir, "first"); got != want {
		t.Errorf("both archives have the pages %.300s, want %.300s", got, want)
	}
}

// TestReferToPublicOnly crawls the first host of a site with a token, and the second without one, so that
// each page is archived as a private response and as a public one. A WACZ file of a later crawl, whose
// records refer to both archives, has nothing of the private responses.
func TestReferToPublicOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMirroredSite(t)
	config := fmt.Sprintf("[host.%q]\nheaders = { \"X-Token\" = \"t\" }\n", strings.TrimPrefix(m.hosts[0].URL, "http://"))
	if err := os.WriteFile(filepath.Join(dir, "skink.toml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	crawl := func(store string, more ...string) {
		t.Helper()
		runIn(t, dir, append([]string{"crawl", "--sitemaps", "off", "--delay", "0", "--allow-private", "127.0.0.1", "--store", store, "--warc", store + "-archive"}, more...)...)
	}
	refers := []string{"--warc-refers", "members-archive", "--warc-refers", "first-archive"}
	crawl("members", "--config", "skink.toml", m.hosts[0].URL+"/page/0")
	if archived := contentOf(t, filepath.Join(dir, "members-archive"), "*-private.warc.gz"); !strings.Contains(archived, "X-Member: yes") {
		t.Fatal("the private file has no response for members")
	}
	time.Sleep(time.Second) // the names of archive files differ only by the second in which a crawl begins
	crawl("first", m.hosts[1].URL+"/page/0")
	runIn(t, dir, "crawl", "--store", "confirmed", "--from", "first-archive")
	runIn(t, dir, "crawl", "--store", "confirmed", "--sitemaps", "off", "--delay", "0", "--allow-private", "127.0.0.1", "--add", "--recrawl", "0s", m.hosts[1].URL+"/page/0") // links of archives have not been followed
	time.Sleep(time.Second)
	crawl("confirmed", append([]string{"--add", "--recrawl", "0s", m.hosts[1].URL + "/page/0"}, refers...)...)
	if n := strings.Count(contentOf(t, filepath.Join(dir, "confirmed-archive"), "*.warc.gz"), "server-not-modified"); n != mirroredPages {
		t.Errorf("the later archive has %d pages with status 304, want %d", n, mirroredPages)
	}
	runIn(t, dir, append([]string{"export", "--store", "confirmed", "--format", "wacz", "--out", "pages.wacz"}, refers...)...)
	packed, err := zip.OpenReader(filepath.Join(dir, "pages.wacz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	if err := os.CopyFS(filepath.Join(dir, "unpacked"), packed); err != nil {
		t.Fatal(err)
	}
	got := contentOf(t, filepath.Join(dir, "unpacked", "archive"), "*.warc.gz")
	if n := strings.Count(got, "<h1>Page "); n < mirroredPages {
		t.Errorf("the WACZ file has %d pages, want %d", n, mirroredPages)
	}
	if strings.Contains(got, "X-Member") {
		t.Error("the WACZ file has the head of a private response")
	}
}

// contentOf returns the unpacked content of the files in a folder.
func contentOf(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	var all strings.Builder
	for _, name := range files {
		var f *os.File
		if f, err = os.Open(name); err != nil {
			break
		}
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(f); err == nil {
			_, err = io.Copy(&all, unpacked)
		}
		f.Close()
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files %s in %s: %v", len(files), pattern, dir, err)
	}
	return all.String()
}

// entriesOf returns the entries of the indexes of an archive.
func entriesOf(t *testing.T, dir string) (all []warc.Entry) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.cdxj"))
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := warc.ReadIndex(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entries...)
	}
	return all
}

// revisitsIn counts the revisit records of an archive. Each must refer to a response that the archive
// has, with the same digest.
func revisitsIn(t *testing.T, dir string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	digests := map[string]string{} // by URL and date
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for r := warc.NewReader(bytes.NewReader(content)); ; {
			rec, err := r.Next()
			if err != nil {
				break
			}
			digest := rec.Header.Get("WARC-Payload-Digest")
			switch rec.Type() {
			case warc.Response:
				digests[rec.URI()+rec.Date().Format(time.RFC3339)] = digest
			case warc.Revisit:
				n++
				if to := rec.Header.Get("WARC-Refers-To-Target-URI") + rec.Header.Get("WARC-Refers-To-Date"); digest == "" || digests[to] != digest {
					t.Errorf("the revisit record of %s refers to %s, which has the digest %q", rec.URI(), to, digests[to])
				}
			}
		}
	}
	return n
}

func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// TestReplayOfEqualBytes opens a page in a player, whose files are all revisit records of another host.
func TestReplayOfEqualBytes(t *testing.T) {
	if long(t) != full {
		t.Skip("SKINK_LONG=full runs it")
	}
	t.Parallel()
	dir := t.TempDir()
	player := newPlayer(t, dir)
	m := newMirroredSite(t)
	page := m.hosts[1].URL + "/page/0"
	want := player.original(t, page)
	runIn(t, dir, m.crawl("--delay", "0", "--warc", "archive")...)
	runIn(t, dir, "export", "--format", "wacz", "--out", "site.wacz")
	for _, h := range m.hosts {
		h.Close()
	}
	for _, h := range m.hosts {
		page := strings.Replace(page, m.hosts[1].URL, h.URL, 1)
		if differs := difference(player.shows(t, "site.wacz", page, "", want, true), want); differs > 0 {
			t.Errorf("%s: %.3f%% of the picture differ", page, 100*differs)
		}
	}
}

// TestArchiveFolderWithBrackets moves an archive to a folder whose name is a pattern of file names. The
// next crawl must find its files there.
func TestArchiveFolderWithBrackets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMirroredSite(t)
	crawl := m.crawl("--delay", "0", "--max-pages", "2", "--recrawl", "0s", "--warc")
	runIn(t, dir, append(crawl, "old")...)
	if err := os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "[nights]")); err != nil {
		t.Fatal(err)
	}
	runIn(t, dir, append(crawl, "[nights]")...)
}

// TestDedupNamesShortLengths checks that dedup reads a record whose Content-Length is too small, and says
// so.
func TestDedupNamesShortLengths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>" + strings.Repeat("Many different words. ", 30)
	record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Target-URI: https://example.com/\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block)-5, block)
	if err := os.WriteFile(filepath.Join(dir, "short.warc"), []byte(record), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("skink", "dedup", "short.warc")
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "short.warc: at offset 0, in the record of https://example.com/: the Content-Length is too small") {
		t.Errorf("%v\n%s", err, said)
	}
}

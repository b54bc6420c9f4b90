package e2e

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/warc"
)

// TestFromForeignArchives reads archives of one site with crawl --from: one by wget, the next visit by
// wget with revisit records, a WACZ file with the records that browsertrix-crawler writes beside each page,
// and one by warcio.js, if it is there. Each must give the pages, texts and verdicts of a crawl of the site, and
// what is passed over must be counted.
func TestFromForeignArchives(t *testing.T) {
	long(t)
	t.Parallel()
	wget, err := exec.LookPath("wget")
	if err != nil {
		t.Skip("wget is not installed")
	}
	site := httptest.NewServer(http.FileServer(http.Dir("testdata/site")))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	fetch := func(more ...string) {
		t.Helper()
		cmd := exec.Command(wget, append([]string{"--quiet", "--recursive", "--level=inf", "--warc-cdx", "--directory-prefix=mirror", site.URL + "/index.html"}, more...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 8) { // 8: some URLs have status 404
			t.Fatalf("wget: %v\n%s", err, out)
		}
	}
	fetch("--warc-file=one")
	fetch("--warc-file=two", "--warc-dedup=one.cdx")
	likeBrowsertrix(t, filepath.Join(dir, "one.warc.gz"), filepath.Join(dir, "three.wacz"))

	runIn(t, dir, "crawl", "--store", "crawled", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", site.URL+"/index.html")
	judged := func(store string) []string { // compared completely, so that the order of the records does not count
		return eachJudged(t, dir, store, "--complete")
	}
	want := judged("crawled")
	type archive struct {
		store string
		from  []string
		notes []string // what the summary says of the records that were passed over
	}
	archives := []archive{
		{"one", []string{"--from", "one.warc.gz"}, []string{"record whose target URI is not http or https: "}},
		{"two", []string{"--from", "one.warc.gz", "--from", "two.warc.gz"}, []string{"revisit: "}},
		{"three", []string{"--from", "three.wacz"}, []string{"record whose target URI is not http or https: "}},
	}
	modules := os.Getenv("SKINK_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "warcio")); modules != "" && err == nil {
		script := []string{filepath.Join("internal", "e2e", "testdata", "warcwrite.mjs"), modules, filepath.Join(dir, "one.warc.gz"), filepath.Join(dir, "four.warc.gz")}
		if out, err := exec.Command("node", script...).CombinedOutput(); err != nil {
			t.Fatalf("warcio.js: %v\n%s", err, out)
		}
		archives = append(archives, archive{"four", []string{"--from", "four.warc.gz"}, nil})
	}
	for _, c := range archives {
		args := append([]string{"crawl", "--store", c.store}, c.from...)
		cmd := exec.Command("skink", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, note := range c.notes {
			if !bytes.Contains(out, []byte(note)) {
				t.Errorf("%s: the summary does not say %q:\n%s", c.store, note, out)
			}
		}
		// A crawl removes parameters that only count visitors. The archive's URLs stay as they are.
		got := slices.DeleteFunc(judged(c.store), func(line string) bool { return strings.Contains(line, "utm_") })
		if !slices.Equal(got, want) {
			t.Errorf("%s has %d pages, and the crawl %d; the first difference:\n%s", c.store, len(got), len(want), firstDifference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
}

// likeBrowsertrix packs an archive as browsertrix-crawler does: after each page come a list of what the
// page loaded, its pictures and its text, as resource records with URIs of their own kinds.
func likeBrowsertrix(t *testing.T, archive, wacz string) {
	t.Helper()
	in, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var records bytes.Buffer
	out, r := warc.NewWriter(&records, warc.Options{}), warc.NewReader(in)
	pages := []string{`{"format":"json-pages-1.0","id":"pages","title":"Seed Pages"}`}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		add := func(rec *warc.Record) {
			if err := out.Write(rec); err != nil {
				t.Fatal(err)
			}
		}
		add(rec)
		if rec.Type() != warc.Response || !strings.HasSuffix(rec.URI(), ".html") {
			continue
		}
		pages = append(pages, fmt.Sprintf(`{"id":"%d","url":%q,"title":"A page","loadState":4}`, len(pages), rec.URI()))
		for _, more := range [][3]string{{"urn:pageinfo:", "application/json", `{"urls":{}}`}, {"urn:view:", "image/png", "png"}, {"urn:thumbnail:", "image/jpeg", "jpeg"}, {"urn:text:", "text/plain", "A text that is not the page's."}} {
			add(warc.New(warc.Resource, more[0]+rec.URI(), rec.Date(), more[1], []byte(more[2])))
		}
	}
	f, err := os.Create(wacz)
	if err != nil {
		t.Fatal(err)
	}
	packed := zip.NewWriter(f)
	for _, file := range [][2]string{
		{"archive/rec-0.warc.gz", records.String()},
		{"pages/pages.jsonl", strings.Join(pages[:2], "\n") + "\n"},
		{"pages/extraPages.jsonl", pages[0] + "\n" + strings.Join(pages[2:], "\n") + "\n"},
		{"datapackage.json", `{"profile":"data-package","wacz_version":"1.1.1","resources":[]}`},
	} {
		w, err := packed.CreateHeader(&zip.FileHeader{Name: file[0], Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, file[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(packed.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

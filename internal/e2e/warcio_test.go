package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherReader reads archives with warcio.js: of a site with ETags, visited twice with --requisites, and of
// a site whose scripts send POST requests, visited twice with --screenshots. All records must have their
// digests, and warcio.js must make the entries of the index. It makes more, also of records that no player needs.
func TestOtherReader(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	modules := os.Getenv("SKINK_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "warcio")); err != nil || modules == "" {
		t.Skip("there is no other reader: SKINK_NODE_MODULES names no folder with the npm package warcio")
	}
	dressed, posted := newDressedSite(t, 2), newPostedSite(t)
	dressed.tagged.Store(true)
	close(posted.held)
	for name, args := range map[string][]string{
		"tagged": {"crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--requisites", "--recrawl", "0s", "--warc", "archive", dressed.site.URL + "/page/0"},
		"posted": append(posted.crawl(t, t.TempDir(), ""), "--screenshots"),
	} {
		dir := t.TempDir()
		posted.crawl(t, dir, "")
		runIn(t, dir, args...)
		runIn(t, dir, args...)
		files, err := filepath.Glob(filepath.Join(dir, "archive", "*.warc.gz"))
		if err != nil {
			t.Fatal(err)
		}
		script := append([]string{filepath.Join("internal", "e2e", "testdata", "warcio.mjs"), modules}, files...)
		out, err := exec.Command("node", script...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		all := entriesOf(t, filepath.Join(dir, "archive"))
		for _, e := range all {
			status := ""
			if e.Status != 0 && e.MIME != "warc/revisit" { // of status 304, the index has the status of the original
				status = fmt.Sprint(e.Status)
			}
			line := strings.Join([]string{e.File, fmt.Sprint(e.Offset), fmt.Sprint(e.Length), e.URL, e.MIME, status, e.Method, e.Posted}, " ")
			if !strings.Contains(string(out), "\n"+line+"\n") {
				t.Errorf("%s: warcio.js has no entry %s", name, line)
			}
		}
		records, _, _ := strings.Cut(string(out), "\n")
		t.Logf("%s: %s records, %d entries", name, records, len(all))
		if len(all) < 8 {
			t.Errorf("%s: the index has %d entries", name, len(all))
		}
	}
}

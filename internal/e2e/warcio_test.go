package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skink/warc"
)

// TestOtherReader reads archives with warcio.js: of a site with ETags, visited twice with --requisites, and a
// second crawl of it whose archive refers to the first; and of a site whose scripts send POST requests,
// visited twice with --screenshots.
func TestOtherReader(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	modules := otherReader(t)
	dressed, posted := newDressedSite(t, 2), newPostedSite(t)
	dressed.tagged.Store(true)
	close(posted.held)
	tagged := []string{"crawl", "--delay", "0", "--sitemaps", "off", "--allow-private", "127.0.0.1", "--requisites", "--recrawl", "0s", "--warc", "archive", dressed.site.URL + "/page/0"}
	second := slices.Concat(tagged, []string{"--store", "second", "--warc", "second-archive", "--warc-refers", "archive"})
	for name, crawls := range map[string][][]string{
		"tagged": {tagged, tagged, second},
		"posted": slices.Repeat([][]string{append(posted.crawl(t, t.TempDir(), ""), "--screenshots")}, 2),
	} {
		dir := t.TempDir()
		posted.crawl(t, dir, "")
		for _, args := range crawls {
			runIn(t, dir, args...)
		}
		dirs, err := filepath.Glob(filepath.Join(dir, "*archive"))
		if err != nil || len(dirs) != len(crawls)-1 {
			t.Fatalf("%s: the archives are %q (%v)", name, dirs, err)
		}
		readByOther(t, modules, dirs...)
	}
}

// otherReader returns the folder of the packages of Node.js. It skips the test if warcio.js is not
// among them.
func otherReader(t *testing.T) (modules string) {
	t.Helper()
	modules = os.Getenv("SKINK_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "warcio")); err != nil || modules == "" {
		t.Skip("there is no other reader: SKINK_NODE_MODULES names no folder with the npm package warcio")
	}
	return modules
}

// readByOther reads archives with warcio.js. All records must have their digests, all revisits must refer
// to a response in one of the archives, and warcio.js must make the entries of the index. It makes more,
// also of records that no player needs.
func readByOther(t *testing.T, modules string, dirs ...string) {
	t.Helper()
	args := []string{filepath.Join("internal", "e2e", "testdata", "warcio.mjs"), modules}
	var all []warc.Entry
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
		if err != nil {
			t.Fatal(err)
		}
		args, all = append(args, files...), append(all, entriesOf(t, dir)...)
	}
	out, err := exec.Command("node", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, e := range all {
		status := ""
		if e.Status != 0 && e.MIME != "warc/revisit" { // of status 304, the index has the status of the original
			status = fmt.Sprint(e.Status)
		}
		line := strings.Join([]string{e.File, fmt.Sprint(e.Offset), fmt.Sprint(e.Length), e.URL, e.MIME, status, e.Method, e.Posted}, " ")
		if !strings.Contains(string(out), "\n"+line+"\n") {
			t.Errorf("warcio.js has no entry %s", line)
		}
	}
	counts, _, _ := strings.Cut(string(out), "\n")
	t.Logf("%s, %d entries", counts, len(all))
	if len(all) < 8 {
		t.Errorf("the index has %d entries", len(all))
	}
}

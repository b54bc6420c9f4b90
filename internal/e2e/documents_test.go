package e2e

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// documentPairs lists texts that Debian packages contain in two formats. The two have a resemblance
// of 0.78 or more.
var documentPairs = []struct{ name, page, document string }{
	{"fhs", "debian-policy/fhs/fhs-3.0.html", "debian-policy/fhs/fhs-3.0.pdf.gz"},
	{"publican", "publican/Users_Guide/en-US/Publican/4.2/html-single/Users_Guide/index.html", "publican/Users_Guide/en-US/Publican/4.2/pdf/Users_Guide/*.pdf.gz"},
	{"publican-book", "publican/Users_Guide/en-US/Publican/4.2/html-single/Users_Guide/index.html", "publican/Users_Guide/en-US/Publican/4.2/epub/Users_Guide/*.epub"},
	{"policy", "debian-policy/policy.epub", "debian-policy/policy.pdf.gz"},
	{"bzip2", "bzip2/manual.html", "bzip2/manual.pdf.gz"},
	{"fontconfig", "fontconfig/fontconfig-user.html", "fontconfig/fontconfig-user.pdf.gz"},
}

// A crawl must find that PDF and EPUB files are copies of pages. The files are from Debian packages
// that were unpacked into the folder SKINK_DOCS.
func TestDocumentPairs(t *testing.T) {
	t.Parallel()
	root := os.Getenv("SKINK_DOCS")
	if root == "" {
		t.Skip("SKINK_DOCS does not name a folder with unpacked documentation packages")
	}
	dir := t.TempDir()
	site := filepath.Join(dir, "site")
	if err := os.Mkdir(site, 0o777); err != nil {
		t.Fatal(err)
	}
	const host = "http://site.localhost/"
	pairs := map[string][]string{} // the URLs of both files, by the name of the pair
	for _, p := range documentPairs {
		for i, pattern := range []string{p.page, p.document} {
			matches, err := filepath.Glob(filepath.Join(root, "usr/share/doc", pattern))
			if err != nil {
				t.Fatal(err)
			}
			if len(matches) == 0 {
				t.Logf("no %s in %s", pattern, root)
				break
			}
			name := p.name + []string{"-a", "-b"}[i] + filepath.Ext(strings.TrimSuffix(matches[0], ".gz"))
			unpackTo(t, matches[0], filepath.Join(site, name))
			pairs[p.name] = append(pairs[p.name], host+name)
		}
	}
	if len(pairs) < 2 {
		t.Fatalf("only %d pairs in SKINK_DOCS %s: unpack the packages that .ci/run names there with dpkg -x", len(pairs), root)
	}
	runIn(t, dir, "crawl", "--quiet", "--documents", "on", "--similarity", "0.75", "--store", "store", "site")
	leaders := map[string]string{}
	out := runIn(t, dir, "export", "--store", "store", "--include", "all")
	for from := json.NewDecoder(bytes.NewReader(out)); ; {
		var page struct {
			URL, Verdict string
			DuplicateOf  string `json:"duplicate_of"`
			Resemblance  float64
		}
		if err := from.Decode(&page); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %s %.3f", page.URL, page.Verdict, page.Resemblance)
		leaders[page.URL] = page.DuplicateOf
		if page.DuplicateOf == "" {
			leaders[page.URL] = page.URL
		}
	}
	for name, urls := range pairs {
		if len(urls) == 2 && (leaders[urls[0]] == "" || leaders[urls[0]] != leaders[urls[1]]) {
			t.Errorf("%s: the page is in the cluster of %q, the document in that of %q", name, leaders[urls[0]], leaders[urls[1]])
		}
	}
}

// unpackTo copies a file. It decompresses the file if its name ends in .gz.
func unpackTo(t *testing.T, from, to string) {
	t.Helper()
	body, err := os.ReadFile(from)
	if err == nil && filepath.Ext(from) == ".gz" {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(z)
		}
	}
	if err == nil {
		err = os.WriteFile(to, body, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMissingChapters reads an EPUB with one chapter of three. extract and dedup print what is missing.
func TestMissingChapters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", `<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`},
		{"book.opf", `<package><manifest><item id="a" href="ONE.html#top" media-type="application/xhtml+xml"/><item id="b" href="two.html" media-type="application/xhtml+xml"/><item id="c" href="three.xml" media-type="application/x-dtbook+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>`},
		{"one.html", "<p>The only chapter of this book that anybody can read"},
		{"three.xml", "<dtbook/>"},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: part[0], Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "book.epub"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"extract", "book.epub"}, {"dedup", "book.epub"}, {"dedup", "--unique", "kept.jsonl", "book.epub"}} {
		cmd := exec.Command("skink", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("skink: book.epub: 2 chapters are missing from the file, or cannot be read\n")) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
